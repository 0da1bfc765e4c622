import { toPrintableLines } from '../../basics/printable.ts';
import { plural } from '../../basics/text.ts';
import type { RequestEntry } from '../journal/request-entry.ts';
import type { Candidate, Expected, SentMail } from '../verdicts/candidate.ts';
import { describeRequest, type ObservedMailbox } from '../verdicts/candidates.ts';
import type { Comparison, Miss, Range } from '../verdicts/compare.ts';
import { readTraffic } from '../verdicts/evidence.ts';
import { tellTogether } from '../verdicts/story-lines.ts';
import type { MailboxMatchers } from './expectations.ts';
import type { MatcherContext, MatcherResult } from './matcher-context.ts';

/**
 * Creates the result of a matcher. The message of the result has the call of the matcher, and then these lines, in which
 * secrets are masked.
 */
export function createResult(
  { utils, isNot = false }: MatcherContext,
  mailbox: Pick<ObservedMailbox, 'mask'>,
  matcher: keyof MailboxMatchers,
  pass: boolean,
  lines: () => readonly string[],
): MatcherResult {
  const argument = matcher === 'toHaveResisted' ? 'sample' : 'expected';
  const hint = () => utils.matcherHint(matcher, 'mailbox', argument, { isNot });
  const write = () => [hint(), '', mailbox.mask(lines().join('\n'))].join('\n');
  return { pass, message: () => toPrintableLines(write(), { keepsColours: true }) };
}

/** What a matcher looked for. */
export interface Search {
  /** What the search counts, such as `request`. */
  readonly noun: string;
  readonly expected: Expected;
  /** How many matches are expected. */
  readonly times: Range;
  /** Whether nothing else may have been sent. */
  readonly only: boolean;
  /** Whether the object must still exist. */
  readonly exists: boolean;
  /** How many deliveries were not tried yet. */
  readonly untried: number;
}

/** Maximum number of candidates that a failure lists. */
const MAX_LISTED = 10;

/** Describes the result of a search: what was expected, what came, and how the nearest miss differs. */
export function describeSearch(context: MatcherContext, search: Search, comparison: Comparison): string[] {
  const { matching, misses } = comparison;
  const [nearest, ...others] = misses;
  const lines = [describeExpectation(context, search), describeCount(search, comparison)];
  lines.push(...listLines(matching.map(({ label }) => label)));
  if (search.only && misses.length > 0 && matching.length >= search.times.min) {
    return [
      ...lines,
      'Nothing else may be sent, and this was:',
      ...listLines(misses.map(({ candidate }) => candidate.label)),
    ];
  }
  if (context.isNot || matching.length >= search.times.min) return lines;
  if (nearest) lines.push(...describeMiss(context, nearest));
  if (others.length > 0) lines.push('The others:', ...listLines(others.map(({ candidate }) => candidate.label)));
  if (search.untried > 0 && nearest?.candidate.hint === undefined) {
    const pending = `There ${search.untried === 1 ? 'is' : 'are'} ${plural(search.untried, 'delivery')} still pending`;
    lines.push(`${pending}; await settled() before this assertion.`);
  }
  return lines;
}

/** Lists texts, one on each line. If there are many texts, lists only the first ten. */
export function listLines(labels: readonly string[]): string[] {
  const more = labels.length - MAX_LISTED;
  return [...labels.slice(0, MAX_LISTED), ...(more > 0 ? [`and ${more} more`] : [])].map((label) => `  ${label}`);
}

export function listRequests(requests: readonly RequestEntry[]): string[] {
  return listLines(requests.map((entry) => describeRequest(entry).label));
}

/** Says how many requests and commands of agents there were, and lists them. */
export function listJournal(mailbox: ObservedMailbox): string[] {
  if (mailbox.journalSize === 0) return ['The journal records no requests, because journalSize is 0.'];
  const requests = readTraffic(mailbox).map(({ data }) => data);
  if (requests.length === 0) return ['There was no request at all.'];
  return [`The journal has ${plural(requests.length, 'request')}:`, ...listRequests(requests)];
}

/** Tells what became of the mails that a failure is about or, if it is about none, of the latest mails that arrived. */
export function tellStories(mailbox: ObservedMailbox, about: readonly { readonly data: SentMail['data'] }[]): string[] {
  const mails = about.length > 0 ? about : mailbox.journal({ kinds: ['mail-received'] });
  return tellStoriesOf(
    mailbox,
    mails.map(({ data }) => data.mail.id),
  );
}

/** Tells what became of the latest of these mails. */
export function tellStoriesOf(mailbox: ObservedMailbox, ids: readonly string[]): string[] {
  return tellTogether(ids, (id) => mailbox.explain(id).lines);
}

function describeExpectation({ utils, isNot = false }: MatcherContext, search: Search): string {
  const { noun, expected, times, only, exists } = search;
  const fields = Object.entries(expected).map(([name, value]) => `  ${name}: ${indent(utils.printExpected(value))}`);
  const amount = describeAmount(times, noun, isNot) + (only ? ' and no other' : '') + (exists ? ', still there,' : '');
  return [`Expected ${amount}${fields.length > 0 ? ' with:' : '.'}`, ...fields].join('\n');
}

/** Says how many of something there must or, with `isNot`, must not be. */
function describeAmount({ min, max }: Range, noun: string, isNot: boolean): string {
  if (min === max) return `${isNot ? 'any number but' : 'exactly'} ${plural(min, noun)}`;
  if (isNot && min === 1 && max === Number.POSITIVE_INFINITY) return `no ${noun}`;
  if (isNot) {
    const fewer = min > 0 ? [`fewer than ${min}`] : [];
    const more = max < Number.POSITIVE_INFINITY ? [`more than ${max}`] : [];
    return `${[...fewer, ...more].join(' or ')} ${plural(2, noun).slice(2)}`;
  }
  if (max === Number.POSITIVE_INFINITY) return `at least ${plural(min, noun)}`;
  return min === 0 ? `at most ${plural(max, noun)}` : `${min} to ${plural(max, noun)}`;
}

/** Indents all lines of a value except the first. */
function indent(text: string): string {
  return text.replaceAll('\n', '\n    ');
}

function describeCount({ noun }: Search, { matching, misses }: Comparison): string {
  const total = matching.length + misses.length;
  if (total === 0) return `There was no ${noun} at all.`;
  if (matching.length === 0) return `Received ${plural(total, noun)}, of which none matches.`;
  const match = matching.length === 1 ? 'matches' : 'match';
  return `Received ${plural(total, noun)}, of which ${matching.length} ${match}${describeRefused(matching)}:`;
}

/** Says how many of several candidates were refused, and how: `, and 3 of these were refused (403, 403, 503)`. */
function describeRefused(candidates: readonly Candidate[]): string {
  const statuses = candidates.flatMap(({ refusedWith }) => refusedWith ?? []);
  // The line of a single candidate says it.
  if (candidates.length < 2 || statuses.length === 0) return '';
  const shown = statuses.slice(0, MAX_LISTED).join(', ') + (statuses.length > MAX_LISTED ? ', …' : '');
  const count = statuses.length === candidates.length ? 'all' : statuses.length;
  return `, and ${count} of these ${statuses.length === 1 ? 'was' : 'were'} refused (${shown})`;
}

/** Lists the mails that match and that were to be sent, but were refused, so that they are not among the sent mail. */
export function describeTried(tried: readonly Candidate[]): string[] {
  if (tried.length === 0) return [];
  return [
    `${plural(tried.length, 'attempt')} to send such a mail ${tried.length === 1 ? 'was' : 'were'} refused:`,
    ...listLines(tried.map(({ label }) => label)),
  ];
}

function describeMiss({ utils }: MatcherContext, { candidate: { label, hint }, differences }: Miss): string[] {
  const lines = differences.flatMap(({ path, expected, received }) => [
    `  ${path}`,
    `    expected: ${indent(utils.printExpected(expected))}`,
    `    received: ${indent(utils.printReceived(received))}`,
  ]);
  return [`The nearest is ${label}`, ...lines, ...(hint === undefined ? [] : [hint])];
}
