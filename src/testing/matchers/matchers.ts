import type { RequestEntry } from '../../mailbox/without-msw.ts';
import { agentMatchers, listRequestsOf } from './agent-matchers.ts';
import type { Observed } from './candidates.ts';
import { describeRequest, listRequestCandidates, parseMailbox, readRequests, SEARCHES } from './candidates.ts';
import { createResult, describeSearch, listLines, plural } from './describe-result.ts';
import type { ExpectedDelivery, ExpectedMail, ExpectedRequest, RefusalOptions } from './expectations.ts';
import { findMatches } from './find-matches.ts';
import type { MatcherContext, MatcherResult } from './matcher-context.ts';
import { type Expectation, parseDelivery, parseExceptions, parseExpected, parseRequest } from './parse-expected.ts';

/**
 * The matchers. An import of `agent-mailbox-mock/matchers` adds them to the `expect` of vitest, Jest and Bun. For
 * another `expect`, call `expect.extend(matchers)`.
 */
export const matchers = {
  /** Implements `toHaveReceivedRequest`. */
  toHaveReceivedRequest(this: MatcherContext, received: unknown, expected: ExpectedRequest = {}): MatcherResult {
    return search(this, 'toHaveReceivedRequest', received, parseRequest(expected));
  },
  /** Implements `toHaveDelivered`. */
  toHaveDelivered(this: MatcherContext, received: unknown, expected: ExpectedDelivery = {}): MatcherResult {
    return search(this, 'toHaveDelivered', received, parseDelivery(expected));
  },
  /** Implements `toHaveSentMail`. */
  toHaveSentMail(this: MatcherContext, received: unknown, expected: ExpectedMail = {}): MatcherResult {
    return search(this, 'toHaveSentMail', received, parseExpected('toHaveSentMail', expected));
  },
  /** Implements `toHaveSentOnce`. */
  toHaveSentOnce(this: MatcherContext, received: unknown, expected: ExpectedMail = {}): MatcherResult {
    return search(this, 'toHaveSentOnce', received, { ...parseExpected('toHaveSentOnce', expected), times: 1 });
  },
  /** Implements `toHaveNoUnexpectedRefusals`. */
  toHaveNoUnexpectedRefusals(this: MatcherContext, received: unknown, options: RefusalOptions = {}): MatcherResult {
    const exceptions = parseExceptions(options);
    const mailbox = parseMailbox(received);
    const requests = readRequests(mailbox);
    const unexpected = findRefusals(this, mailbox, requests, exceptions);
    const besides = exceptions.length > 0 ? ' besides those in except' : '';
    const wanted = `Expected ${this.isNot ? 'a' : 'no'} refusal${besides}`;
    const { length } = unexpected;
    const were = `there ${length === 1 ? 'was' : 'were'} ${length} in ${plural(requests.length, 'request')}`;
    const result = length === 0 ? ', and there was none.' : `, but ${were}:`;
    return createResult(this, 'toHaveNoUnexpectedRefusals', length === 0, () => [
      wanted + result,
      ...listLines(unexpected.map(({ label }) => label)),
    ]);
  },
  ...agentMatchers,
};

/** Returns the refusals that no exception allows. An exception with `times` allows only this number of refusals. */
function findRefusals(context: MatcherContext, mailbox: Observed, requests: RequestEntry[], exceptions: Expectation[]) {
  const allowed = exceptions.map(({ expected, times = Number.POSITIVE_INFINITY }) => {
    const { matching } = findMatches(context, listRequestCandidates(mailbox, expected), expected);
    return { labels: matching.map(({ label }) => label), remaining: times };
  });
  const refusals = requests.filter(({ status }) => status >= 400).map((entry) => describeRequest(entry));
  return refusals.filter(({ label }) => {
    const exception = allowed.find(({ labels, remaining }) => remaining > 0 && labels.includes(label));
    if (exception) exception.remaining -= 1;
    return !exception;
  });
}

function search(
  context: MatcherContext,
  matcher: keyof typeof SEARCHES,
  received: unknown,
  { expected, times }: Expectation,
): MatcherResult {
  const { noun, list } = SEARCHES[matcher];
  const mailbox = parseMailbox(received);
  const comparison = findMatches(context, list(mailbox, expected), expected);
  const isOnce = matcher === 'toHaveSentOnce';
  const pending = isOnce ? [] : mailbox.deliveries({ state: 'pending' });
  const untried = pending.filter(({ attempts }) => attempts.length === 0).length;
  const { length } = comparison.matching;
  const sent = comparison.matching.flatMap(({ mail }) => mail ?? []);
  const pass = times === undefined ? length > 0 : length === times;
  return createResult(context, matcher, pass, () => [
    ...describeSearch(context, { noun, expected, times, untried }, comparison),
    ...(isOnce ? listRequestsOf(mailbox, sent) : []),
  ]);
}
