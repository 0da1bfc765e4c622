import type { Candidate } from './candidates.ts';
import type { Comparison, Expected, Miss } from './find-matches.ts';
import type { MatcherContext } from './matcher-context.ts';

/** What a matcher looked for. */
export interface Search {
  readonly matcher: string;
  /** What it counts, such as `request`. */
  readonly noun: string;
  readonly expected: Expected;
  readonly times: number | undefined;
  /** How many deliveries were not tried yet. */
  readonly untried: number;
}

/** Maximum number of candidates that a failure lists. */
const MAX_LISTED = 10;

/** Describes the result of a search: what was expected, what came, and how the nearest miss differs. */
export function describeResult(context: MatcherContext, search: Search, comparison: Comparison): string {
  const { matching, misses } = comparison;
  const [nearest, ...others] = misses;
  const tooFew = !context.isNot && matching.length < (search.times ?? 1);
  return [
    hint(context, search.matcher),
    '',
    describeExpectation(context, search),
    describeCount(search, comparison),
    ...listLines(matching.map(({ label }) => label)),
    ...(tooFew && nearest ? describeMiss(context, nearest) : []),
    ...(tooFew && others.length > 0
      ? ['The others:', ...listLines(others.map(({ candidate }) => candidate.label))]
      : []),
    ...(tooFew && search.untried > 0 && nearest?.candidate.hint === undefined
      ? [
          `There ${search.untried === 1 ? 'is' : 'are'} ${count(search.untried, 'delivery')} still pending; await ` +
            'settled() before this assertion.',
        ]
      : []),
  ].join('\n');
}

/** Formats the call of a matcher. */
export function hint({ utils, isNot = false }: MatcherContext, matcher: string): string {
  return utils.matcherHint(matcher, 'mailbox', 'expected', { isNot });
}

/** Lists texts, one on each line; of many, the first ones. */
export function listLines(labels: readonly string[]): string[] {
  const more = labels.length - MAX_LISTED;
  return [...labels.slice(0, MAX_LISTED), ...(more > 0 ? [`and ${more} more`] : [])].map((label) => `  ${label}`);
}

/** Formats a number of things, such as `2 requests`. */
export function count(number: number, noun: string): string {
  return `${number} ${number === 1 ? noun : noun.replace(/y$/, 'ie').replace(/$/, 's')}`;
}

function describeExpectation({ utils, isNot = false }: MatcherContext, { noun, expected, times }: Search): string {
  const amounts = isNot
    ? { any: `no ${noun}`, exact: `any number but ${count(times ?? 0, noun)}` }
    : { any: `at least 1 ${noun}`, exact: `exactly ${count(times ?? 0, noun)}` };
  const fields = Object.entries(expected).map(([name, value]) => `  ${name}: ${indent(utils.printExpected(value))}`);
  const amount = amounts[times === undefined ? 'any' : 'exact'];
  return [`Expected ${amount}${fields.length > 0 ? ' with:' : '.'}`, ...fields].join('\n');
}

/** Indents the further lines of a value. */
function indent(text: string): string {
  return text.replaceAll('\n', '\n    ');
}

function describeCount({ noun }: Search, { matching, misses }: Comparison): string {
  const total = matching.length + misses.length;
  if (total === 0) return `There was no ${noun} at all.`;
  if (matching.length === 0) return `Received ${count(total, noun)}, of which none matches.`;
  return `Received ${count(total, noun)}, of which ${matching.length} ${matching.length === 1 ? 'matches' : 'match'}:`;
}

function describeMiss({ utils }: MatcherContext, { candidate, differences }: Miss): string[] {
  const { label, hint: advice }: Candidate = candidate;
  return [
    `The nearest is ${label}`,
    ...differences.flatMap(({ path, expected, received }) => [
      `  ${path}`,
      `    expected: ${indent(utils.printExpected(expected))}`,
      `    received: ${indent(utils.printReceived(received))}`,
    ]),
    ...(advice === undefined ? [] : [advice]),
  ];
}
