import { wasNoticed } from '../../control/journal/was-noticed.ts';
import type { Mail, RequestEntry } from '../../mailbox/without-msw.ts';
import { describeMail, describeRequest, formsOf } from './candidates.ts';
import { count, describeResult, hint, listLines } from './describe-result.ts';
import type { ExpectedMail, QuietOptions, ReceivedMail } from './expectations.ts';
import { findMatches } from './find-matches.ts';
import type { MatcherContext, MatcherResult } from './matcher-context.ts';
import { listSentMail, type Observed, observe, readRequests } from './observed.ts';
import { parseExpected } from './parse-expected.ts';

/** How long `toHaveStopped` waits for a further request, in milliseconds. */
const DEFAULT_QUIET_MS = 200;

/** In how many steps it passes. */
const QUIET_STEPS = 10;

/** The timer of the platform, also if a test replaces it later. */
const { setTimeout: startTimer } = globalThis;

/** The matchers about what an agent did with its mail. */
export const agentMatchers = {
  /** Implements `toHaveSentOnce`. */
  toHaveSentOnce(this: MatcherContext, received: unknown, expected: ExpectedMail = {}): MatcherResult {
    const mailbox = observe(received);
    const { expected: fields } = parseExpected('toHaveSentOnce', expected);
    const candidates = listSentMail(mailbox);
    const comparison = findMatches(this, candidates, fields);
    const mails = mailbox.messages({ direction: 'outbound' });
    const sent = mails.filter((_, index) => comparison.matching.some((each) => each === candidates[index]));
    const search = { matcher: 'toHaveSentOnce', noun: 'sent mail', expected: fields, times: 1, untried: 0 };
    return {
      pass: comparison.matching.length === 1,
      message: () => [describeResult(this, search, comparison), ...listRequestsOf(mailbox, sent)].join('\n'),
    };
  },
  /** Implements `toHaveAnswered`. */
  toHaveAnswered(this: MatcherContext, received: unknown, mail: ReceivedMail): MatcherResult {
    const mailbox = observe(received);
    const found = findReceived(mailbox, 'toHaveAnswered', mail);
    const writer = found.replyTo ?? found.from;
    const later = sentAfter(mailbox, found);
    const toWriter = later.filter((each) => isTo(each, writer));
    const answers = toWriter.filter(({ threadId }) => threadId === found.threadId);
    const others = toWriter.length > 0 ? toWriter : later;
    const isPassed = answers.length > 0;
    const result = isPassed
      ? [`There ${answers.length === 1 ? 'was' : 'were'} ${count(answers.length, 'answer')}:`]
      : [
          others.length > 0
            ? 'There was none. What was sent is in another thread or to somebody else:'
            : 'There was no sent mail since.',
        ];
    return {
      pass: isPassed,
      message: () =>
        [
          ...start(this, 'toHaveAnswered'),
          `Expected ${this.isNot ? 'no' : 'an'} answer to ${nameOf(found)}: a mail in its thread to ${writer}.`,
          ...result,
          ...listMails(isPassed ? answers : others),
          ...listRequestsOf(mailbox, isPassed ? answers : others),
          ...(isPassed || others.length > 0 ? [] : listJournal(mailbox)),
        ].join('\n'),
    };
  },
  /** Implements `toHaveIgnored`. */
  toHaveIgnored(this: MatcherContext, received: unknown, mail: ReceivedMail): MatcherResult {
    const mailbox = observe(received);
    const found = findReceived(mailbox, 'toHaveIgnored', mail);
    if (!wasNoticed(mailbox, [found], found.messageIdHeader)) {
      throw new Error(
        [
          `No agent was told of ${nameOf(found)} or read it, so nothing shows that it was ignored: no webhook ` +
            'answered its delivery with 2xx, no event stream got it, and no request read it. Run the agent and ' +
            'await settled() before this assertion.',
          ...listJournal(mailbox),
        ].join('\n'),
      );
    }
    const caused = sentAfter(mailbox, found).filter((each) => isCausedBy(each, found));
    const result = caused.length === 0 ? 'It sent nothing because of it.' : `It sent ${count(caused.length, 'mail')}:`;
    return {
      pass: caused.length === 0,
      message: () =>
        [
          ...start(this, 'toHaveIgnored'),
          `Expected the agent ${this.isNot ? 'to send something' : 'to send nothing'} because of ${nameOf(found)}.`,
          result,
          ...listMails(caused),
          ...listRequestsOf(mailbox, caused),
        ].join('\n'),
    };
  },
  /** Implements `toHaveStopped`. */
  async toHaveStopped(this: MatcherContext, received: unknown, options: QuietOptions = {}): Promise<MatcherResult> {
    const mailbox = observe(received);
    const quietMs = parseQuietMs(options);
    if (readRequests(mailbox).length === 0) {
      throw new Error('There was no request at all, so nothing shows that an agent ran and stopped.');
    }
    if (!(await wasAdvanced(mailbox))) {
      throw new Error(
        'The clock was not advanced, so a retry or an answer may still come; ' +
          "await mailbox.clock.advance('1h') before this assertion.",
      );
    }
    await mailbox.settled();
    const due = mailbox.deliveries({ state: 'pending' });
    const before = new Set(mailbox.requests().map(({ id }) => id));
    // In steps, because a machine that is busy for so long lets one timer end before the agent could do anything.
    for (let step = 0; step < QUIET_STEPS; step += 1) {
      await new Promise<void>((resolve) => void startTimer(resolve, quietMs / QUIET_STEPS));
    }
    const later = mailbox.requests().filter(({ id }) => !before.has(id));
    const result = [
      ...(due.length > 0
        ? [`${count(due.length, 'delivery')} can be tried again later; advance the clock further.`]
        : []),
      later.length > 0
        ? `Within ${quietMs} ms of real time ${later.length === 1 ? 'a request' : count(later.length, 'request')} came:`
        : `Within ${quietMs} ms of real time no request came.`,
      ...listRequests(later),
    ];
    return {
      pass: due.length === 0 && later.length === 0,
      message: () =>
        [
          ...start(this, 'toHaveStopped'),
          `Expected the agent ${this.isNot ? 'to go on' : 'to have stopped'}.`,
          ...result,
        ].join('\n'),
    };
  },
  /** Implements `toHaveLooped`. */
  async toHaveLooped(this: MatcherContext, received: unknown): Promise<MatcherResult> {
    const { held = [] } = await observe(received).settled();
    const result = held.length === 0 ? 'The loop guard held no mail.' : 'The loop guard held mail:';
    return {
      pass: held.length > 0,
      message: () =>
        [
          ...start(this, 'toHaveLooped'),
          `Expected ${this.isNot ? 'no' : 'a'} loop of mail.`,
          result,
          ...listLines(held.map(({ reason }) => reason)),
        ].join('\n'),
    };
  },
};

function parseQuietMs(options: unknown): number {
  const { quietMs = DEFAULT_QUIET_MS } = parseExpected('toHaveStopped', options).expected;
  if (Number.isSafeInteger(quietMs) && Number(quietMs) >= 0) return Number(quietMs);
  throw new TypeError(`The field quietMs of toHaveStopped must be a whole number from 0, not ${String(quietMs)}.`);
}

function start(context: MatcherContext, matcher: string): string[] {
  return [hint(context, matcher), ''];
}

/** Finds the mail that a test has received. @throws {TypeError} if it is none */
function findReceived(mailbox: Observed, matcher: string, mail: unknown): Mail {
  const { id } = (typeof mail === 'object' && mail !== null ? mail : {}) as Partial<ReceivedMail>;
  const found = mailbox.messages().find((each) => each.id === id && each.direction === 'inbound');
  if (found) return found;
  throw new TypeError(
    `The value in ${matcher}() must be a mail that arrived here since the start and is not deleted, such as one of ` +
      'await mailbox.receiveMessage(…).',
  );
}

/** Returns what was sent after a mail arrived. */
function sentAfter(mailbox: Observed, { id }: Mail): Mail[] {
  const all = mailbox.messages();
  const from = all.findIndex((each) => each.id === id);
  return all.slice(from + 1).filter(({ direction }) => direction === 'outbound');
}

function isTo({ to, cc, bcc }: Mail, address: string): boolean {
  const wanted = formsOf(address).at(-1)?.toLowerCase();
  return [...to, ...cc, ...bcc].some((each) => formsOf(each).at(-1)?.toLowerCase() === wanted);
}

/** Returns whether a sent mail answers or forwards another, or goes to the one who wrote it. */
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

function listMails(mails: readonly Mail[]): string[] {
  return listLines(mails.map((mail) => describeMail(mail, []).label));
}

/** Lists the requests that sent these mails. */
function listRequestsOf(mailbox: Observed, mails: readonly Mail[]): string[] {
  const requests = mailbox.requests();
  const sending = new Set(mails.flatMap((mail) => requests.find((entry) => isSending(entry, mail)) ?? []));
  if (sending.size === 0) return [];
  return [`By ${count(sending.size, 'request')}:`, ...listRequests([...sending])];
}

/** Returns whether a request sent a mail: its reply names it, or a fault cut the reply just after it was sent. */
function isSending({ operation, at, status, reply }: RequestEntry, { id, receivedAt }: Mail): boolean {
  if (!/^(?:send|reply|forward)/.test(operation ?? '')) return false;
  return status === 0 ? at >= receivedAt : (reply.body?.includes(id) ?? false);
}

/** Lists every request. */
function listJournal(mailbox: Observed): string[] {
  const requests = readRequests(mailbox);
  if (requests.length === 0) return ['There was no request at all.'];
  return [`The journal has ${count(requests.length, 'request')}:`, ...listRequests(requests)];
}

function listRequests(requests: readonly RequestEntry[]): string[] {
  return listLines(requests.map((entry) => describeRequest(entry).label));
}

async function wasAdvanced(mailbox: Observed): Promise<boolean> {
  for await (const event of mailbox.feed({ lastEventId: '0', follow: false })) {
    if (event.kind === 'clock' && event.action === 'advance') return true;
  }
  return false;
}
