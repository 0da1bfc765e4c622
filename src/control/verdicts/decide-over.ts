/** What was observed of an agent and its mailbox at one moment. All times are real, in milliseconds since 1970. */
export interface ObservedAgent {
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
  /** When the agent did something for the last time that is no look. */
  readonly lastActMs: number;
  /** When a look of the agent showed it something new for the last time. */
  readonly lastNewsMs: number;
  /** When anything else happened for the last time, such as an attempt of a delivery. */
  readonly lastOtherMs: number;
  /** When its latest look began, or for IMAP ended. */
  readonly lastLookMs: number;
  /** The longest time between two looks that showed nothing new; undefined if it has not looked twice. */
  readonly lookIntervalMs: number | undefined;
}

/** Why the wait for an agent is over. */
export type Over = 'done' | 'breach' | 'silence' | 'time';

/** That the wait is over, or until when it goes on unless something happens before. */
export type Decision = { readonly over: Over } | { readonly goOnUntilMs: number };

/** How long nothing may come from an agent: the quiet time, and the longest gap that the agent has shown. */
export function neededQuietMs({ quietMs, longestGapMs }: Pick<ObservedAgent, 'quietMs' | 'longestGapMs'>): number {
  return quietMs + longestGapMs;
}

/** An agent that has looked for mail, and has not for so many of its intervals, has stopped looking. */
const INTERVALS_UNTIL_STOPPED = 5;

/**
 * Decides whether the wait for an agent is over. It is over before any silence only if something happened that never
 * may, or if the agent said that it is done; never because all is well. Otherwise it is over when nothing has come for
 * the quiet time, which is lengthened by the longest gap that the agent has shown; a call without a reply is no silence.
 * An agent that may still be starting, or that has not looked since the last change, is waited for until the real time
 * is up or, if it looked at intervals, until it has not looked for five of them. An agent to which a look has shown
 * something new may be thinking, until it looks again or acts.
 */
export function decideOver(observed: ObservedAgent): Decision {
  const { nowMs, limitMs, hasBreached, saidDone, openCalls, mayStillStart, looks } = observed;
  const { lastChangeMs, lastActMs, lastNewsMs, lastOtherMs, lastLookMs, lookIntervalMs } = observed;
  if (hasBreached) return { over: 'breach' };

  const knowsOfChange = looks === 'never' || lastLookMs > lastChangeMs;
  if (saidDone && knowsOfChange && openCalls === 0) return { over: 'done' };

  if (nowMs >= limitMs) return { over: 'time' };

  const mayThink = looks === 'again' && lastLookMs <= lastNewsMs && lastActMs <= lastNewsMs;
  if (openCalls > 0 || mayStillStart || mayThink) return { goOnUntilMs: limitMs };

  const lastActivityMs = Math.max(lastChangeMs, lastActMs, lastNewsMs, lastOtherMs);
  const hasInterval = looks === 'again' && lookIntervalMs !== undefined;
  const untilLookMs = hasInterval ? INTERVALS_UNTIL_STOPPED * lookIntervalMs : Number.POSITIVE_INFINITY;
  const silentUntilMs = lastActivityMs + neededQuietMs(observed) + (knowsOfChange ? 0 : untilLookMs);
  return nowMs >= silentUntilMs ? { over: 'silence' } : { goOnUntilMs: Math.min(silentUntilMs, limitMs) };
}
