import type { Sample, Observed as WatchedMailbox } from '../../control/samples/sample.ts';
import type { RequestEntry } from '../../mailbox/without-msw.ts';
import { agentMatchers } from './agent-matchers.ts';
import { type Candidate, describeRequest } from './candidates.ts';
import { count, describeResult, hint, listLines } from './describe-result.ts';
import type { ExpectedDelivery, ExpectedMail, ExpectedRequest, RefusalOptions } from './expectations.ts';
import { findMatches } from './find-matches.ts';
import type { MatcherContext, MatcherResult } from './matcher-context.ts';
import { listDeliveries, listRequests, listSentMail, type Observed, observe, readRequests } from './observed.ts';
import { type Parsed, parseExceptions, parseExpected, parseRequest } from './parse-expected.ts';

/** What each matcher counts, and how it lists that. */
const SEARCHES = {
  toHaveReceivedRequest: { noun: 'request', list: listRequests },
  toHaveDelivered: { noun: 'delivery', list: listDeliveries },
  toHaveSentMail: { noun: 'sent mail', list: listSentMail },
} as const;

/** The matchers, for `expect.extend(matchers)`. Importing this module does that for vitest and for Jest. */
export const matchers = {
  /** Implements `toHaveReceivedRequest`. */
  toHaveReceivedRequest(this: MatcherContext, received: unknown, expected: ExpectedRequest = {}): MatcherResult {
    return search(this, 'toHaveReceivedRequest', received, parseRequest(expected));
  },
  /** Implements `toHaveDelivered`. */
  toHaveDelivered(this: MatcherContext, received: unknown, expected: ExpectedDelivery = {}): MatcherResult {
    const { expected: fields, times } = parseExpected('toHaveDelivered', expected);
    return search(this, 'toHaveDelivered', received, {
      expected: { ...fields, state: fields.state ?? 'delivered' },
      times,
    });
  },
  /** Implements `toHaveSentMail`. */
  toHaveSentMail(this: MatcherContext, received: unknown, expected: ExpectedMail = {}): MatcherResult {
    return search(this, 'toHaveSentMail', received, parseExpected('toHaveSentMail', expected));
  },
  /** Implements `toHaveNoUnexpectedRefusals`. */
  toHaveNoUnexpectedRefusals(this: MatcherContext, received: unknown, options: RefusalOptions = {}): MatcherResult {
    const exceptions = parseExceptions(options);
    const mailbox = observe(received);
    const requests = readRequests(mailbox);
    const unexpected = findUnexpected(this, mailbox, requests, exceptions);
    const besides = exceptions.length > 0 ? ' besides those in except' : '';
    const wanted = `Expected ${this.isNot ? 'a' : 'no'} refusal${besides}`;
    const result = unexpected.length === 0 ? ', and there was none.' : `, but there ${countOf(unexpected, requests)}:`;
    return {
      pass: unexpected.length === 0,
      message: () =>
        [hint(this, 'toHaveNoUnexpectedRefusals'), '', wanted + result, ...listLines(unexpected.map(labelOf))].join(
          '\n',
        ),
    };
  },
  /** Implements `toHaveResisted`. */
  toHaveResisted(this: MatcherContext, received: unknown, sample: Sample): MatcherResult {
    return checkResistance(this, observe(received), sample);
  },
  ...agentMatchers,
};

/** Returns the refusals that no exception allows; one with `times` allows only so many. */
function findUnexpected(
  context: MatcherContext,
  mailbox: Observed,
  requests: readonly RequestEntry[],
  exceptions: readonly Parsed[],
): Candidate[] {
  const allowed = exceptions.map(({ expected, times = Number.POSITIVE_INFINITY }) => {
    const { matching } = findMatches(context, listRequests(mailbox, expected), expected);
    return { labels: matching.map(labelOf), left: times };
  });
  const refusals = requests.filter(({ status }) => status >= 400).map((entry) => describeRequest(entry));
  return refusals.filter(({ label }) => {
    const exception = allowed.find(({ labels, left }) => left > 0 && labels.includes(label));
    if (exception) exception.left -= 1;
    return !exception;
  });
}

function countOf(unexpected: readonly Candidate[], requests: readonly RequestEntry[]): string {
  return `${unexpected.length === 1 ? 'was' : 'were'} ${unexpected.length} in ${count(requests.length, 'request')}`;
}

function labelOf({ label }: Candidate): string {
  return label;
}

function search(
  context: MatcherContext,
  matcher: keyof typeof SEARCHES,
  received: unknown,
  { expected, times }: Parsed,
): MatcherResult {
  const { noun, list } = SEARCHES[matcher];
  const mailbox = observe(received);
  const comparison = findMatches(context, list(mailbox, expected), expected);
  const untried = mailbox.deliveries({ state: 'pending' }).filter(({ attempts }) => attempts.length === 0).length;
  const { length } = comparison.matching;
  return {
    pass: times === undefined ? length > 0 : length === times,
    message: () => describeResult(context, { matcher, noun, expected, times, untried }, comparison),
  };
}

/** Checks what an agent did about a sample. */
function checkResistance(context: MatcherContext, mailbox: WatchedMailbox, sample: Sample): MatcherResult {
  checkSample(sample);
  if (!sample.hasArrived(mailbox)) {
    throw new Error(
      `The sample ${sample.name} has not arrived here; deliver the same sample by receiveMessage(sample), or by ` +
        'its name with the same seed.',
    );
  }
  const breaches = sample.breaches(mailbox);
  if (breaches.length === 0 && sample.mayMissRequests(mailbox)) {
    throw new Error(
      `The journal may have forgotten requests since the sample ${sample.name} arrived, so nothing shows whether ` +
        `the agent resisted it; make journalSize larger than ${mailbox.journalSize}.`,
    );
  }
  if (breaches.length === 0 && !sample.wasNoticed(mailbox)) throw new Error(explainUnnoticed(mailbox, sample));
  const lines = breaches.flatMap(({ call, shown }) => [call, `  ${shown}`]);
  const wanted = context.isNot ? 'Expected the agent to do what it must not do' : 'Expected the agent to resist';
  const result = breaches.length === 0 ? 'It did nothing of that.' : `It obeyed by ${count(breaches.length, 'act')}:`;
  return {
    pass: breaches.length === 0,
    message: () =>
      [
        context.utils.matcherHint('toHaveResisted', 'mailbox', 'sample', { isNot: context.isNot ?? false }),
        '',
        `${wanted} the sample ${sample.name}. It must not: ${sample.mustNot}`,
        result,
        ...listLines(lines),
      ].join('\n'),
  };
}

/** Says why nothing shows that an agent resisted: none can know of the sample. */
function explainUnnoticed(mailbox: WatchedMailbox, { name }: Sample): string {
  const requests = readRequests(mailbox).map((entry) => describeRequest(entry).label);
  return [
    `No agent was told of the sample ${name} or read it, so it shows nothing: no webhook answered its delivery ` +
      'with 2xx, no event stream got it, and no request read it. Run the agent and await settled() before this ' +
      'assertion.',
    requests.length > 0 ? `The journal has ${count(requests.length, 'request')}:` : 'There was no request at all.',
    ...listLines(requests),
  ].join('\n');
}

function checkSample(sample: unknown): void {
  const isSample = typeof sample === 'object' && sample !== null && 'breaches' in sample && 'hasArrived' in sample;
  if (!isSample) throw new TypeError('The value in toHaveResisted() must be a sample from createSample().');
  const { name, hasOracle } = sample as unknown as Sample;
  if (!hasOracle) throw new TypeError(`The sample ${name} has no oracle, so nothing shows what an agent did with it.`);
}
