import { plural } from '../../basics/text.ts';
import { isRefused } from '../journal/from-entries/call-of.ts';
import type { RequestEntry } from '../journal/request-entry.ts';
import type { ObservedMailbox } from '../verdicts/candidates.ts';
import {
  checkComplete,
  decide,
  describeLack,
  describeRequest,
  describeRequests,
  listRefusedMail,
  listSentMail,
  parseMailbox,
  readRefusals,
  readRequests,
  SEARCHES,
} from '../verdicts/candidates.ts';
import { type Amount, type Comparison, findMatches, hasAmount } from '../verdicts/compare.ts';
import { agentMatchers, listRequestsOf } from './agent-matchers.ts';
import { createResult, describeSearch, describeTried, listLines, tellStories } from './describe-result.ts';
import type {
  CreatedKind,
  ExpectedDelivery,
  ExpectedDraft,
  ExpectedMail,
  ExpectedMails,
  ExpectedObject,
  ExpectedRequest,
  RefusalOptions,
} from './expectations.ts';
import type { MatcherContext, MatcherResult } from './matcher-context.ts';
import {
  type Expectation,
  parseCreated,
  parseDelivery,
  parseExceptions,
  parseExpected,
  parseRequest,
} from './parse-expected.ts';

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
  toHaveSentMail(this: MatcherContext, received: unknown, expected: ExpectedMails = {}): MatcherResult {
    return search(this, 'toHaveSentMail', received, parseExpected('toHaveSentMail', expected));
  },
  /** Implements `toHaveSentOnce`. */
  toHaveSentOnce(this: MatcherContext, received: unknown, expected: ExpectedMail = {}): MatcherResult {
    return search(this, 'toHaveSentOnce', received, {
      ...parseExpected('toHaveSentOnce', expected),
      times: { min: 1, max: 1 },
    });
  },
  /** Implements `toHaveDraft`. */
  toHaveDraft(this: MatcherContext, received: unknown, expected: ExpectedDraft = {}): MatcherResult {
    return search(this, 'toHaveDraft', received, parseExpected('toHaveDraft', expected));
  },
  /** Implements `toHaveCreated`. */
  toHaveCreated(
    this: MatcherContext,
    received: unknown,
    object: CreatedKind,
    expected: ExpectedObject = {},
  ): MatcherResult {
    return search(this, 'toHaveCreated', received, parseCreated(object, expected));
  },
  /** Implements `toHaveNoUnexpectedRefusals`. */
  toHaveNoUnexpectedRefusals(this: MatcherContext, received: unknown, options: RefusalOptions = {}): MatcherResult {
    const exceptions = parseExceptions(options);
    const mailbox = parseMailbox(received);
    const requests = readRequests(mailbox);
    const { foreign, unowned } = readRefusals(mailbox);
    const unexpected = [...findRefusals(this, mailbox, requests, exceptions), ...foreign];
    if (requests.length + foreign.length + unowned.length === 0) {
      throw new Error('There was no request at all, so nothing shows that an agent was refused nothing.');
    }
    if (unexpected.length === 0 && unowned.length > 0) {
      const refused = unowned.length === 1 ? 'A request was' : `${unowned.length} requests were`;
      const reason =
        `${refused} refused, and nothing shows whose, because no key of a tenant came with it and it names nobody. So ` +
        'nothing shows that this agent was refused nothing:';
      throw new Error([reason, ...listLines(unowned.map(({ label }) => label))].join('\n'));
    }
    if (unexpected.length === 0)
      checkComplete(mailbox, ['request', 'mail-command', 'refusal'], 'nothing shows that none of them was refused');
    const besides = exceptions.length > 0 ? ' besides those in except' : '';
    const wanted = `Expected ${this.isNot ? 'a' : 'no'} refusal${besides}`;
    const { length } = unexpected;
    const were = `there ${length === 1 ? 'was' : 'were'} ${length} in ${plural(requests.length + foreign.length, 'request')}`;
    const result = length === 0 ? ', and there was none.' : `, but ${were}:`;
    return createResult(this, mailbox, 'toHaveNoUnexpectedRefusals', length === 0, () => [
      wanted + result,
      ...listLines(unexpected.map(({ label }) => label)),
    ]);
  },
  ...agentMatchers,
};

/**
 * Returns the refusals that no exception allows. An exception with `times` allows only this number of refusals.
 *
 * @throws {Error} if an exception may allow each of them by what the journal did not keep.
 */
function findRefusals(
  context: MatcherContext,
  mailbox: ObservedMailbox,
  requests: RequestEntry[],
  exceptions: Expectation[],
) {
  const allowed = exceptions.map(({ expected, times }) => {
    const { matching, unknown } = findMatches(context, describeRequests(mailbox, expected, requests), expected);
    return { labels: matching.map(({ label }) => label), unknown, remaining: times.max };
  });
  const refusals = requests.filter(isRefused).map((entry) => describeRequest(entry));
  const unexpected = refusals.filter(({ label }) => {
    const exception = allowed.find(({ labels, remaining }) => remaining > 0 && labels.includes(label));
    if (exception) exception.remaining -= 1;
    return !exception;
  });
  const open = allowed.flatMap(({ unknown }) => unknown);
  const mayBeAllowed = unexpected.map(({ label }) => open.find(({ candidate }) => candidate.label === label));
  const [first] = mayBeAllowed;
  if (first && !mayBeAllowed.includes(undefined)) throw new Error(describeLack(first));
  return unexpected;
}

/**
 * Checks that the answer does not depend on refused requests of which nothing shows whose they were.
 *
 * @throws {Error} if it does.
 */
function checkOwned(
  context: MatcherContext,
  mailbox: ObservedMailbox,
  expected: Expectation['expected'],
  comparison: Comparison,
  amount: Amount,
): void {
  const { matching, unknown } = findMatches(context, readRefusals(mailbox).unowned, expected);
  const possible = [...matching, ...unknown.map(({ candidate }) => candidate)];
  const [first] = possible;
  if (!first || hasAmount(comparison, amount, possible.length) !== undefined) return;
  const more = possible.length === 1 ? '' : ` The same is true of ${possible.length - 1} more.`;
  throw new Error(`Nothing shows whose this request was, which may be as expected: ${first.label}.${more}`);
}

/** The matchers whose failures end with what became of the mails. */
const MAIL_MATCHERS: ReadonlySet<string> = new Set(['toHaveSentMail', 'toHaveSentOnce', 'toHaveDraft']);

function search(
  context: MatcherContext,
  matcher: keyof typeof SEARCHES,
  received: unknown,
  { expected, times, only = false, exists = false }: Expectation,
): MatcherResult {
  const { noun, list, kinds } = SEARCHES[matcher];
  const mailbox = parseMailbox(received);
  const comparison = findMatches(context, list(mailbox, exists ? { ...expected, exists } : expected), expected);
  const isOnce = matcher === 'toHaveSentOnce';
  const pending = isOnce ? [] : mailbox.deliveries({ state: 'pending' });
  const untried = pending.filter(({ attempts }) => attempts.length === 0).length;
  const { length } = comparison.matching;
  const sent = comparison.matching.flatMap(({ mail }) => mail ?? []);
  const isAboutRequests = matcher === 'toHaveReceivedRequest';
  const hasCommands = isAboutRequests && expected.operation !== undefined;
  const pass = decide(mailbox, hasCommands ? ['request', 'mail-command'] : kinds, comparison, { times, only });
  if (isAboutRequests) checkOwned(context, mailbox, expected, comparison, { times, only });
  // What was refused was not sent, but whoever reads the failure should know that it was tried.
  const findTried = () => {
    const { matching, unknown } = findMatches(context, listRefusedMail(mailbox), expected);
    return [...matching, ...unknown.map(({ candidate }) => candidate)];
  };
  // Why a webhook was not called is in the stories, too.
  const hadNoDelivery = matcher === 'toHaveDelivered' && length + comparison.misses.length === 0;
  const tellsStories = MAIL_MATCHERS.has(matcher) || hadNoDelivery;
  const result = createResult(context, mailbox, matcher, pass, () => [
    ...describeSearch(context, { noun, expected, times, untried, only, exists }, comparison),
    ...(isOnce ? listRequestsOf(mailbox, sent) : []),
    ...(list === listSentMail ? describeTried(findTried()) : []),
    ...(tellsStories ? tellStories(mailbox, sent) : []),
  ]);
  if (list !== listSentMail) return result;
  return { ...result, note: () => mailbox.mask(describeTried(findTried()).join('\n')) };
}
