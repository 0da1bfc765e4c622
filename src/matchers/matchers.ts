import type { Delivery } from '../delivery/delivery.ts';
import type { RequestEntry } from '../journal/request-entry.ts';
import type { Mail } from '../mail/show-mail.ts';
import type { Sample } from '../samples/sample.ts';
import type { MailboxState } from '../store/state.ts';
import { type Candidate, describeDelivery, describeMail, describeRequest } from './candidates.ts';
import { count, describeResult, hint, listLines } from './describe-result.ts';
import type { ExpectedDelivery, ExpectedMail, ExpectedRequest, RefusalOptions } from './expectations.ts';
import { type Expected, findMatches } from './find-matches.ts';
import type { MatcherContext, MatcherResult } from './matcher-context.ts';
import { checkResistance } from './resistance.ts';

/** The part of a mailbox or a sandbox that the matchers read. */
interface Observed {
  requests(): RequestEntry[];
  deliveries(): Delivery[];
  messages(filter: { readonly direction: 'outbound' }): Mail[];
  snapshot(): MailboxState;
}

/** The fields that each matcher knows. */
const FIELDS = {
  toHaveReceivedRequest: ['operation', 'method', 'path', 'status', 'code', 'key', 'query', 'headers', 'body'],
  toHaveDelivered: ['event', 'to', 'state', 'payload'],
  toHaveSentMail: ['to', 'subject', 'from', 'plainBody', 'htmlBody', 'headers', 'attachments'],
} as const;

type Matcher = keyof typeof FIELDS;

/** What each matcher counts. */
const NOUNS = { toHaveReceivedRequest: 'request', toHaveDelivered: 'delivery', toHaveSentMail: 'sent mail' } as const;

/** The matchers, for `expect.extend(matchers)`. Importing this module does that for vitest and for Jest. */
export const matchers = {
  /** Implements `toHaveReceivedRequest`. */
  toHaveReceivedRequest(this: MatcherContext, received: unknown, expected: ExpectedRequest = {}): MatcherResult {
    return search(this, 'toHaveReceivedRequest', expected, () => observe(received).requests().map(describeRequest));
  },
  /** Implements `toHaveDelivered`. */
  toHaveDelivered(this: MatcherContext, received: unknown, expected: ExpectedDelivery = {}): MatcherResult {
    const list = () => observe(received).deliveries().map(describeDelivery);
    return search(this, 'toHaveDelivered', { ...expected, state: expected.state ?? 'delivered' }, list);
  },
  /** Implements `toHaveSentMail`. */
  toHaveSentMail(this: MatcherContext, received: unknown, expected: ExpectedMail = {}): MatcherResult {
    const list = () => observe(received).messages({ direction: 'outbound' }).map(describeMail);
    return search(this, 'toHaveSentMail', expected, list);
  },
  /** Implements `toHaveNoUnexpectedRefusals`. */
  toHaveNoUnexpectedRefusals(
    this: MatcherContext,
    received: unknown,
    { except = [] }: RefusalOptions = {},
  ): MatcherResult {
    const requests = observe(received).requests();
    const refusals = requests.filter(({ status }) => status >= 400).map(describeRequest);
    const unexpected = findUnexpected(this, refusals, except);
    const wanted = `Expected ${this.isNot ? 'a' : 'no'} refusal${except.length > 0 ? ' besides those in except' : ''}`;
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
};

/** Returns the refusals that no exception allows; one with `times` allows only so many. */
function findUnexpected(
  context: MatcherContext,
  refusals: readonly Candidate[],
  except: readonly ExpectedRequest[],
): Candidate[] {
  const allowed = except.map((each) => ({ ...parse('toHaveReceivedRequest', each), used: 0 }));
  return refusals.filter((refusal) => {
    const exception = allowed.find(
      ({ expected, times = Number.POSITIVE_INFINITY, used }) =>
        used < times && findMatches(context, [refusal], expected).matching.length > 0,
    );
    if (exception) exception.used += 1;
    return !exception;
  });
}

function countOf(unexpected: readonly Candidate[], requests: readonly RequestEntry[]): string {
  return `${unexpected.length === 1 ? 'was' : 'were'} ${unexpected.length} in ${count(requests.length, 'request')}`;
}

function labelOf({ label }: Candidate): string {
  return label;
}

function search(context: MatcherContext, matcher: Matcher, given: object, list: () => Candidate[]): MatcherResult {
  const { expected, times } = parse(matcher, given);
  const comparison = findMatches(context, list(), expected);
  const { length } = comparison.matching;
  return {
    pass: times === undefined ? length > 0 : length === times,
    message: () => describeResult(context, { matcher, noun: NOUNS[matcher], expected, times }, comparison),
  };
}

/** Splits what is expected into its fields and how often. @throws {TypeError} if it cannot be meant. */
function parse(matcher: Matcher, given: object): { readonly expected: Expected; readonly times: number | undefined } {
  const { times, ...fields }: { readonly times?: unknown } & Expected = { ...given };
  const known: readonly string[] = FIELDS[matcher];
  const unknown = Object.keys(fields).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new TypeError(
      `The matcher ${matcher} has no field ${unknown}; its fields are ${known.join(', ')} and times.`,
    );
  }
  if (times !== undefined && !(Number.isSafeInteger(times) && Number(times) >= 0)) {
    throw new TypeError(`The field times of ${matcher} must be a whole number from 0, not ${String(times)}.`);
  }
  const wanted = known.filter((name) => fields[name] !== undefined).map((name) => [name, fields[name]]);
  return { expected: Object.fromEntries(wanted), times: times as number | undefined };
}

/** Checks what `expect()` was called with. */
function observe(received: unknown): Observed {
  const methods = ['requests', 'deliveries', 'messages', 'snapshot'] as const;
  const isObserved =
    typeof received === 'object' &&
    received !== null &&
    methods.every((name) => typeof (received as Partial<Observed>)[name] === 'function');
  if (isObserved) return received as Observed;
  throw new TypeError('The value in expect() must be a mailbox or a sandbox, such as server.mailbox.');
}
