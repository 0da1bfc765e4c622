/** What was observed of an agent and its mailbox at one moment. All times are real, in milliseconds since 1970. */
export interface Observed {
  /** The present time. */
  readonly nowMs: number;
  /** When the real time is up. */
  readonly limitMs: number;
  /** How long nothing may come from an agent that has shown no gap. */
  readonly quietMs: number;
  /** The longest gap that the agent has shown: how long nothing had come before it did the next thing. */
  readonly longestGapMs: number;
  /** Whether something happened that cannot be undone, and that never may. */
  readonly hasBreached: boolean;
  /** Whether the agent said that it is done, and neither did anything nor got anything since then. */
  readonly saidDone: boolean;
  /**
   * How many calls have no reply yet: requests and messages of MCP from the agent, deliveries to it, and functions or
   * commands of the agent that have not ended.
   */
  readonly openCalls: number;
  /** Whether the agent may still be starting: nothing tells when it is ready, and nothing has come from it. */
  readonly mayStillStart: boolean;
  /**
   * How the agent looks for what happened: `again` and again, or once `for mail` of which it is told by IMAP; `never` if
   * it is called.
   */
  readonly looks: 'never' | 'for mail' | 'again';
  /** When something happened of which the agent must learn: a step, or a mail; for IMAP, a mail of its inbox. */
  readonly lastChangeMs: number;
  /** When the agent did something for the last time, or a look showed it something new. */
  readonly lastActMs: number;
  /** When anything else happened for the last time, such as an attempt of a delivery. */
  readonly lastOtherMs: number;
  /** When its latest look began, or for IMAP ended. */
  readonly lastLookMs: number;
}

/** Why the wait for an agent is over. */
export type Over = 'done' | 'breach' | 'silence' | 'time';

/** That the wait is over, or until when it goes on unless something happens before. */
export type Decision = { readonly over: Over } | { readonly goOnUntilMs: number };

/** How long nothing may come from an agent: the quiet time, and the longest gap that the agent has shown. */
export function neededQuietMs({ quietMs, longestGapMs }: Pick<Observed, 'quietMs' | 'longestGapMs'>): number {
  return quietMs + longestGapMs;
}

/**
 * Decides whether the wait for an agent is over. It is over before any silence only if something happened that never
 * may, or if the agent said that it is done; never because all is well. Otherwise it is over when nothing has come for
 * the quiet time, which is lengthened by the longest gap that the agent has shown; a call without a reply is no silence.
 * An agent that may still be starting, or that has not looked since the last change, is waited for until the real time
 * is up. An agent that looks again and again must have looked once more since its last act, and found nothing new.
 */
export function decideOver(observed: Observed): Decision {
  const { nowMs, limitMs, hasBreached, saidDone, openCalls, mayStillStart, looks } = observed;
  const { lastChangeMs, lastActMs, lastOtherMs, lastLookMs } = observed;
  if (hasBreached) return { over: 'breach' };

  const knowsOfChange = looks === 'never' || lastLookMs > lastChangeMs;
  if (saidDone && knowsOfChange && openCalls === 0) return { over: 'done' };

  if (nowMs >= limitMs) return { over: 'time' };

  const hasLookedAgain = looks !== 'again' || lastLookMs > lastActMs;
  if (openCalls > 0 || mayStillStart || !knowsOfChange || !hasLookedAgain) return { goOnUntilMs: limitMs };

  const silentUntilMs = Math.max(lastChangeMs, lastActMs, lastOtherMs) + neededQuietMs(observed);
  return nowMs >= silentUntilMs ? { over: 'silence' } : { goOnUntilMs: Math.min(silentUntilMs, limitMs) };
}
