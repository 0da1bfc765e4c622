import { setTimeout } from '../../basics/real-timers.ts';
import { wasNoticed } from '../../control/journal/was-noticed.ts';
import type { Sample } from '../../control/samples/sample.ts';
import type { Mail, RequestEntry } from '../../mailbox/without-msw.ts';
import { formsOf, labelOfMail, type Observed, parseMailbox, readRequests, recipientsOf } from './candidates.ts';
import { createResult, listJournal, listLines, listRequests, plural } from './describe-result.ts';
import type { QuietOptions, ReceivedMail } from './expectations.ts';
import type { MatcherContext, MatcherResult } from './matcher-context.ts';
import { parseExpected } from './parse-expected.ts';

/** How long `toHaveStopped` waits for a further request, in milliseconds. */
const DEFAULT_QUIET_MS = 200;

/** In how many steps `toHaveStopped` waits. */
const QUIET_STEPS = 10;

/** The matchers about what an agent did with its mail. */
export const agentMatchers = {
  /** Implements `toHaveResisted`. */
  toHaveResisted(this: MatcherContext, received: unknown, sample: Sample): MatcherResult {
    const mailbox = parseMailbox(received);
    const breaches = findBreaches(mailbox, sample);
    const result =
      breaches.length === 0
        ? 'The agent did nothing of that.'
        : `The agent obeyed by ${plural(breaches.length, 'act')}:`;
    const wanted = `Expected the agent to ${this.isNot ? 'obey' : 'resist'}`;
    return createResult(this, 'toHaveResisted', breaches.length === 0, () => [
      `${wanted} the sample ${sample.name}. The agent must not: ${sample.mustNot}`,
      result,
      ...listLines(breaches.flatMap(({ call, shown }) => [call, `  ${shown}`])),
    ]);
  },
  /** Implements `toHaveAnswered`. */
  toHaveAnswered(this: MatcherContext, received: unknown, mail: ReceivedMail): MatcherResult {
    const mailbox = parseMailbox(received);
    const found = findReceived(mailbox, 'toHaveAnswered', mail);
    const writer = found.replyTo ?? found.from;
    const later = sentAfter(mailbox, found);
    const toWriter = later.filter((each) => isTo(each, writer));
    const answers = toWriter.filter(({ threadId }) => threadId === found.threadId);
    const similarMails = toWriter.length > 0 ? toWriter : later;
    const describe = () => {
      if (answers.length > 0) {
        const result = `There ${answers.length === 1 ? 'was' : 'were'} ${plural(answers.length, 'answer')}:`;
        return [result, ...listMails(mailbox, answers)];
      }
      if (similarMails.length === 0) return ['No mail was sent since then.', ...listJournal(mailbox)];
      const result = 'There was no answer. These mails are in another thread or to somebody else:';
      return [result, ...listMails(mailbox, similarMails)];
    };
    return createResult(this, 'toHaveAnswered', answers.length > 0, () => [
      `Expected ${this.isNot ? 'no' : 'an'} answer to ${nameOf(found)}: a mail in its thread to ${writer}.`,
      ...describe(),
    ]);
  },
  /** Implements `toHaveIgnored`. */
  toHaveIgnored(this: MatcherContext, received: unknown, mail: ReceivedMail): MatcherResult {
    const mailbox = parseMailbox(received);
    const found = findReceived(mailbox, 'toHaveIgnored', mail);
    const isNoticed = wasNoticed(mailbox, [found], found.messageIdHeader);
    checkNoticed(mailbox, isNoticed, nameOf(found), 'nothing shows that it was ignored');
    const caused = sentAfter(mailbox, found).filter((each) => isCausedBy(each, found));
    return createResult(this, 'toHaveIgnored', caused.length === 0, () => [
      `Expected the agent ${this.isNot ? 'to send something' : 'to send nothing'} because of ${nameOf(found)}.`,
      caused.length === 0 ? 'It sent nothing because of this mail.' : `It sent ${plural(caused.length, 'mail')}:`,
      ...listMails(mailbox, caused),
    ]);
  },
  /** Implements `toHaveStopped`. */
  async toHaveStopped(this: MatcherContext, received: unknown, options: QuietOptions = {}): Promise<MatcherResult> {
    const mailbox = parseMailbox(received);
    const quietMs = parseQuietMs(options);
    await checkRun(mailbox);
    await mailbox.settled();
    const due = mailbox.deliveries({ state: 'pending' }).length;
    const idsBefore = new Set(mailbox.requests().map(({ id }) => id));
    // The wait has several steps, because on a busy machine a single timer could end before the agent could do
    // anything.
    for (let step = 0; step < QUIET_STEPS; step += 1) {
      await new Promise<void>((resolve) => void setTimeout(resolve, quietMs / QUIET_STEPS));
    }
    const later = mailbox.requests().filter(({ id }) => !idsBefore.has(id));
    const came = later.length === 1 ? 'a request came:' : `${plural(later.length, 'request')} came:`;
    return createResult(this, 'toHaveStopped', due === 0 && later.length === 0, () => [
      `Expected the agent ${this.isNot ? 'to go on' : 'to have stopped'}.`,
      ...(due > 0 ? [`${plural(due, 'delivery')} can be tried again later; advance the clock further.`] : []),
      `Within ${quietMs} ms of real time ${later.length > 0 ? came : 'no request came.'}`,
      ...listRequests(later),
    ]);
  },
  /** Implements `toHaveLooped`. */
  async toHaveLooped(this: MatcherContext, received: unknown): Promise<MatcherResult> {
    const { held = [] } = await parseMailbox(received).settled();
    return createResult(this, 'toHaveLooped', held.length > 0, () => [
      `Expected ${this.isNot ? 'no' : 'a'} loop of mail.`,
      held.length === 0 ? 'The loop guard held no mail.' : 'The loop guard held mail:',
      ...listLines(held.map(({ reason }) => reason)),
    ]);
  },
};

/** Finds what an agent did although the sample forbids it. @throws {Error} if nothing shows what the agent did. */
function findBreaches(mailbox: Observed, sample: Sample): ReturnType<Sample['breaches']> {
  const isSample = typeof sample === 'object' && sample !== null && 'breaches' in sample && 'hasArrived' in sample;
  if (!isSample) throw new TypeError('The value in toHaveResisted() must be a sample from createSample().');
  const { name, hasOracle } = sample;
  if (!hasOracle) throw new TypeError(`The sample ${name} has no oracle, so nothing shows what an agent did with it.`);
  if (!sample.hasArrived(mailbox)) {
    throw new Error(
      `The sample ${name} has not arrived here; deliver the same sample by receiveMessage(sample), or by its name ` +
        'with the same seed.',
    );
  }
  const breaches = sample.breaches(mailbox);
  if (breaches.length === 0 && sample.mayMissRequests(mailbox)) {
    throw new Error(
      `The journal may lack requests since the sample ${name} arrived, so nothing shows whether the agent resisted ` +
        `it; make journalSize larger than ${mailbox.journalSize}.`,
    );
  }
  const isNoticed = breaches.length > 0 || sample.wasNoticed(mailbox);
  checkNoticed(mailbox, isNoticed, `the sample ${name}`, 'nothing shows that the agent resisted it');
  return breaches;
}

/** @throws {Error} if no agent got an event of a mail or read it. */
function checkNoticed(mailbox: Observed, isNoticed: boolean, what: string, consequence: string): void {
  if (isNoticed) return;
  const reason =
    `No agent got an event of ${what} or read it, so ${consequence}: no webhook answered its delivery with 2xx, no ` +
    'event stream got it, and no request read it. Run the agent and await settled() before this assertion.';
  throw new Error([reason, ...listJournal(mailbox)].join('\n'));
}

function parseQuietMs(options: unknown): number {
  const { quietMs = DEFAULT_QUIET_MS } = parseExpected('toHaveStopped', options).expected;
  if (Number.isSafeInteger(quietMs) && Number(quietMs) >= 0) return Number(quietMs);
  throw new TypeError(`The field quietMs of toHaveStopped must be a whole number from 0, not ${String(quietMs)}.`);
}

/** @throws {Error} if no agent ran, or if the clock was not advanced. */
async function checkRun(mailbox: Observed): Promise<void> {
  if (readRequests(mailbox).length === 0) {
    throw new Error('There was no request at all, so nothing shows that an agent ran and stopped.');
  }
  for await (const event of mailbox.feed({ lastEventId: '0', follow: false })) {
    if (event.kind === 'clock' && event.action === 'advance') return;
  }
  throw new Error(
    'The clock was not advanced, so a retry or an answer may still come; ' +
      "await mailbox.clock.advance('1h') before this assertion.",
  );
}

/** Finds the received mail that a test names. @throws {TypeError} if there is none. */
function findReceived(mailbox: Observed, matcher: string, mail: unknown): Mail {
  const { id } = (typeof mail === 'object' && mail !== null ? mail : {}) as Partial<ReceivedMail>;
  const found = mailbox.messages().find((each) => each.id === id && each.direction === 'inbound');
  if (found) return found;
  throw new TypeError(
    `The value in ${matcher}() must be a mail that arrived here since the start and is not deleted, such as one of ` +
      'await mailbox.receiveMessage(…).',
  );
}

/** Returns the mails that were sent after a mail arrived. */
function sentAfter(mailbox: Observed, { id }: Mail): Mail[] {
  const all = mailbox.messages();
  const arrivedAt = all.findIndex((each) => each.id === id);
  return all.slice(arrivedAt + 1).filter(({ direction }) => direction === 'outbound');
}

function isTo(mail: Mail, address: string): boolean {
  const wanted = formsOf(address).at(-1)?.toLowerCase();
  return recipientsOf(mail).some((each) => formsOf(each).at(-1)?.toLowerCase() === wanted);
}

/** Returns whether a sent mail answers or forwards a received mail, or goes to the writer of the received mail. */
function isCausedBy(sent: Mail, { threadId, messageIdHeader, replyTo, from }: Mail): boolean {
  return (
    sent.threadId === threadId ||
    sent.inReplyTo === messageIdHeader ||
    (sent.headers.references ?? '').includes(messageIdHeader) ||
    isTo(sent, replyTo ?? from) ||
    isTo(sent, from)
  );
}

function nameOf({ subject, from }: Mail): string {
  return `${JSON.stringify(subject)} from ${from}`;
}

/** Lists mails, and the requests that sent them. */
function listMails(mailbox: Observed, mails: readonly Mail[]): string[] {
  return [...listLines(mails.map(labelOfMail)), ...listRequestsOf(mailbox, mails)];
}

/** Lists the requests that sent these mails. */
export function listRequestsOf(mailbox: Observed, mails: readonly Mail[]): string[] {
  const requests = mailbox.requests();
  const sendingRequests = new Set(mails.flatMap((mail) => requests.find((entry) => isSending(entry, mail)) ?? []));
  if (sendingRequests.size === 0) return [];
  return [`By ${plural(sendingRequests.size, 'request')}:`, ...listRequests([...sendingRequests])];
}

/**
 * Returns whether a request sent a mail: the reply contains the id of the mail or, if a fault prevented the reply, the
 * mail was sent before the request ended.
 */
function isSending({ operation, at, status, reply }: RequestEntry, { id, receivedAt }: Mail): boolean {
  if (!/^(?:send|reply|forward)/.test(operation ?? '')) return false;
  return status === 0 ? at >= receivedAt : (reply.body?.includes(id) ?? false);
}
