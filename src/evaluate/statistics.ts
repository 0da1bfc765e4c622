/**
 * Estimates the probability that k trials in a row all pass, from `passed` of `trials` independent trials:
 * C(passed, k) / C(trials, k). The estimate is unbiased. It is the pass^k ("pass hat k") of Yao, Shinn, Razavi and
 * Narasimhan, "τ-bench: A Benchmark for Tool-Agent-User Interaction in Real-World Domains" (arXiv:2406.12045, 2024),
 * section 2, which has the form of pass@k in Chen et al., "Evaluating Large Language Models Trained on Code"
 * (arXiv:2107.03374, 2021).
 *
 * @returns a number from 0 to 1; null if there are fewer than k trials.
 */
export function passHatK(passed: number, trials: number, k: number): number | null {
  if (k < 1 || k > trials) return null;
  let probability = 1;
  for (let index = 0; index < k; index += 1) probability = nextPassHatK(probability, passed, trials, index);
  return probability;
}

/** Returns pass^k for each k from 1 to the number of trials. */
export function listPassHatK(passed: number, trials: number): number[] {
  let probability = 1;
  return Array.from({ length: trials }, (_, index) => {
    probability = nextPassHatK(probability, passed, trials, index);
    return probability;
  });
}

/** Returns pass^(k + 1), given pass^k. It is 0 only if fewer trials passed, never by rounding. */
function nextPassHatK(probability: number, passed: number, trials: number, k: number): number {
  return passed <= k ? 0 : Math.max(Number.MIN_VALUE, (probability * (passed - k)) / (trials - k));
}

/**
 * Returns whether pass^k, as `passHatK` estimates it, is at least a share from 0 to 1. What the rounding of k
 * multiplications has taken away does not count.
 */
export function reachesPassHatK(estimate: number, k: number, required: number): boolean {
  const roundingError = k === 1 ? 0 : 2 * k * Number.EPSILON;
  return estimate >= required * (1 - roundingError);
}

/** The limits of an interval of shares, from 0 to 1. */
export interface Interval {
  /** The lower limit. */
  readonly low: number;
  /** The upper limit. */
  readonly high: number;
}

/** The 97.5 % quantile of the standard normal distribution. */
const NORMAL_QUANTILE = 1.959963984540054;

/**
 * The score interval of Wilson, "Probable Inference, the Law of Succession, and Statistical Inference" (Journal of the
 * American Statistical Association 22, 1927), without correction for continuity: the probabilities at which so many
 * of the trials could be expected to pass, at a level of confidence of 95 %.
 *
 * @returns null without trials.
 */
export function wilsonInterval(passed: number, trials: number): Interval | null {
  if (trials === 0) return null;
  const share = passed / trials;
  const squared = NORMAL_QUANTILE ** 2 / trials;
  const middle = (share + squared / 2) / (1 + squared);
  const half = (NORMAL_QUANTILE * Math.sqrt((share * (1 - share) + squared / 4) / trials)) / (1 + squared);
  // The limits of none and of all are exact; rounding must not move them.
  return { low: passed === 0 ? 0 : middle - half, high: passed === trials ? 1 : middle + half };
}

/** The results of two runs of one scenario: how many trials passed, of how many. */
export interface TwoRuns {
  readonly passedBefore: number;
  readonly trialsBefore: number;
  readonly passedAfter: number;
  readonly trialsAfter: number;
  /** How the pairs differ, if the trials of the two runs are compared in pairs; otherwise undefined. */
  readonly pairs?: DifferentPairs | undefined;
}

/** How many pairs of trials have different results. Those that are alike show no difference. */
export interface DifferentPairs {
  /** In how many only the trial of the run before passed. */
  readonly lost: number;
  /** In how many only the trial of the run after passed. */
  readonly gained: number;
}

/**
 * By what share two probabilities may differ and still count as equal, because calculation rounds them. R's `fisher.test`
 * and `mantelhaen.test` allow the same.
 */
const RELATIVE_ERROR = 1e-7;

/** What is less probable than this, compared with the most probable result, is left out: it changes no decision. */
const NEGLIGIBLE = 1e-30;

/** What could have come of two runs of the same agent, by chance alone. */
interface Chances {
  /** The number of the first result. */
  readonly least: number;
  /** How probable each result is, from that of `least` on. */
  readonly probabilities: readonly number[];
  /** The number of the result that was observed. */
  readonly observed: number;
  /** The number of the result that was to be expected. */
  readonly expected: number;
}

/**
 * Returns how probable each result of two runs of the same agent is. The work grows with the root of the number of trials.
 *
 * - Of runs that are not compared in pairs, the result is the number of trials of the second run that passed. If nothing has
 *   changed, these are a random choice from all that passed, which is the hypergeometric distribution.
 * - Of pairs, it is the number of those that were gained. If nothing has changed, a pair with different results is as
 *   probably gained as lost, which is the binomial distribution of 1/2.
 */
function chancesOf({ passedBefore, trialsBefore, passedAfter, trialsAfter, pairs }: TwoRuns): Chances {
  if (pairs) {
    const different = pairs.lost + pairs.gained;
    const ratioAfter = (gained: number) => (different - gained) / (gained + 1);
    const range = { least: 0, most: different, middle: Math.floor(different / 2) };
    return { ...spread(range, ratioAfter), observed: pairs.gained, expected: different / 2 };
  }
  const passed = passedBefore + passedAfter;
  const least = Math.max(0, passed - trialsBefore);
  const most = Math.min(passed, trialsAfter);
  const mode = Math.floor(((passed + 1) * (trialsAfter + 1)) / (trialsBefore + trialsAfter + 2));
  const middle = Math.min(most, Math.max(least, mode));
  const ratioAfter = (after: number) =>
    ((passed - after) * (trialsAfter - after)) / ((after + 1) * (trialsBefore - passed + after + 1));
  const expected = (passed * trialsAfter) / (trialsBefore + trialsAfter);
  return { ...spread({ least, most, middle }, ratioAfter), observed: passedAfter, expected };
}

/**
 * Returns the probabilities of numbers from `least` to `most`, from the most probable one, `middle`, and the ratio of the
 * probability of a number + 1 to that of the number.
 */
function spread(
  { least, most, middle }: { readonly least: number; readonly most: number; readonly middle: number },
  ratioAfter: (number: number) => number,
): Pick<Chances, 'least' | 'probabilities'> {
  const below: number[] = [];
  for (let [after, weight] = [middle - 1, 1]; after >= least; after -= 1) {
    weight /= ratioAfter(after);
    if (weight < NEGLIGIBLE) break;
    below.push(weight);
  }
  const above: number[] = [];
  for (let [after, weight] = [middle, 1]; after < most; after += 1) {
    weight *= ratioAfter(after);
    if (weight < NEGLIGIBLE) break;
    above.push(weight);
  }
  const weights = [...below.reverse(), 1, ...above];
  const sum = weights.reduce((a, b) => a + b, 0);
  return { least: middle - below.length, probabilities: weights.map((weight) => weight / sum) };
}

/** Returns the sum of the probabilities that are at most as large as the given one. */
function sumOfAtMost(probabilities: Iterable<number>, given: number): number {
  const limit = given * (1 + RELATIVE_ERROR);
  let sum = 0;
  for (const probability of probabilities) if (probability <= limit) sum += probability;
  return Math.min(1, sum);
}

/**
 * Fisher's exact test, two-sided: how probable it is that two runs of the same agent differ at least as much as these,
 * by chance. The result is the sum of the probabilities of all ways to divide the trials that passed between the two runs
 * that are at most as probable as the given one, which is the two-sided value of R's `fisher.test` and of SciPy's
 * `fisher_exact`.
 */
export function fisherExact({ pairs: _, ...runs }: TwoRuns): number {
  return testExactly(runs);
}

/**
 * The exact test of McNemar, "Note on the Sampling Error of the Difference Between Correlated Proportions or Percentages"
 * (Psychometrika 12, 1947), two-sided: how probable it is that two runs of the same agent differ in so many pairs, and at
 * least so much in one direction, by chance. It is the binomial test of `gained` of all pairs that differ, as R's
 * `binom.test(gained, lost + gained)` has it. What makes a trial hard for both agents does not disturb it.
 */
export function mcNemarExact(pairs: DifferentPairs): number {
  const { lost, gained } = pairs;
  return testExactly({
    passedBefore: lost,
    trialsBefore: lost + gained,
    passedAfter: gained,
    trialsAfter: lost + gained,
    pairs,
  });
}

/** Tests two runs by `mcNemarExact` if they are compared in pairs, and by `fisherExact` otherwise. */
export function testExactly(runs: TwoRuns): number {
  const { least, probabilities, observed } = chancesOf(runs);
  return sumOfAtMost(probabilities, probabilities[observed - least] ?? 0);
}

/**
 * Returns the smallest value that `testExactly` could have for so many trials, of which so many passed in both runs
 * together, or for so many pairs that differ: that of the greatest difference.
 */
export function leastExactly(runs: TwoRuns): number {
  const { probabilities } = chancesOf(runs);
  return sumOfAtMost(probabilities, Math.min(probabilities[0] ?? 1, probabilities.at(-1) ?? 1));
}

/** How probable differences in several scenarios together are, if nothing has changed in any of them. */
export interface JointTests {
  /** A difference on the whole that is at least as large, in one of the directions. */
  readonly onTheWhole: number;
  /** Losses that are at least as large in the scenarios in which fewer trials passed, whatever others have gained. */
  readonly losses: number;
  /** Gains that are at least as large in the scenarios in which more trials passed, whatever others have lost. */
  readonly gains: number;
}

/** The parts of a trial in which losses and gains are counted. */
const PARTS = 8;

/**
 * Tests several scenarios together. `onTheWhole` is the exact conditional test of Cochran, Mantel and Haenszel for 2×2
 * tables, two-sided, as R's `mantelhaen.test(exact = TRUE)` has it; with one scenario it is Fisher's. It does not see
 * losses and gains that cancel out. `losses` and `gains` are tests of the same kind, one-sided, for the sum of the
 * distances from what was to be expected in those scenarios that are below, or above it. Of pairs, `onTheWhole` is the
 * exact test of McNemar for all pairs together.
 */
export function testJointly(scenarios: readonly TwoRuns[]): JointTests {
  const strata = scenarios.map((runs) => {
    const { least, probabilities, observed, expected } = chancesOf(runs);
    return {
      observed: Math.min(probabilities.length - 1, Math.max(0, observed - least)),
      probabilities,
      expected: expected - least,
    };
  });
  const sumOf = (score: (index: number, expected: number) => number) =>
    sumScores(
      strata.map(({ observed, probabilities, expected }) => ({
        observed,
        probabilities,
        scores: probabilities.map((_, index) => score(index, expected)),
      })),
    );
  const whole = sumOf((index) => index);
  const tailOf = ({ probabilities, observed }: ScoreSum) =>
    observed <= 0
      ? 1
      : Math.min(
          1,
          probabilities.slice(observed).reduce((sum, each) => sum + each, 0),
        );
  return {
    onTheWhole: sumOfAtMost(whole.probabilities, whole.probabilities[whole.observed] ?? 0),
    losses: tailOf(sumOf((index, expected) => PARTS * Math.max(0, expected - index))),
    gains: tailOf(sumOf((index, expected) => PARTS * Math.max(0, index - expected))),
  };
}

/** A scenario: the score of each result that it could have had, how probable each is, and which one it had. */
interface Scored {
  readonly scores: readonly number[];
  readonly probabilities: readonly number[];
  readonly observed: number;
}

/** How probable each sum of scores is, from some sum on, and which one was observed; it may lie outside. */
interface ScoreSum {
  readonly probabilities: Float64Array;
  readonly observed: number;
}

/**
 * How many sums are told apart, so that the work grows with the number of scenarios and little more. In large reports,
 * scores are counted in larger units. A test remains exact then: it is that of the sum in these units.
 */
const MAX_SUMS = 2_048;

/** How many standard deviations the sums that matter lie apart. */
const WIDTH = 16;

/** Returns the exact distribution of the sum of the scores of scenarios, which are independent of each other. */
function sumScores(scenarios: readonly Scored[]): ScoreSum {
  const deviation = Math.sqrt(scenarios.reduce((sum, scenario) => sum + varianceOf(scenario), 0));
  const unit = Math.max(1, (WIDTH * deviation) / MAX_SUMS);
  let sums = Float64Array.of(1);
  let first = 0;
  let observedSum = 0;
  for (const { scores, probabilities, observed } of scenarios) {
    const own: number[] = [];
    for (const [index, score] of scores.entries()) {
      const value = Math.round(score / unit);
      own[value] = (own[value] ?? 0) + (probabilities[index] ?? 0);
      if (index === observed) observedSum += value;
    }
    const next = new Float64Array(sums.length + own.length - 1);
    own.forEach((probability, value) => {
      for (let sum = 0; sum < sums.length; sum += 1)
        next[sum + value] = (next[sum + value] ?? 0) + (sums[sum] ?? 0) * probability;
    });
    const start = next.findIndex((probability) => probability > NEGLIGIBLE);
    sums = next.subarray(start, next.findLastIndex((probability) => probability > NEGLIGIBLE) + 1);
    first += start;
  }
  return { probabilities: sums, observed: observedSum - first };
}

function varianceOf({ scores, probabilities }: Scored): number {
  const meanOf = (value: (score: number) => number) =>
    scores.reduce((sum, score, index) => sum + value(score) * (probabilities[index] ?? 0), 0);
  const mean = meanOf((score) => score);
  return meanOf((score) => (score - mean) ** 2);
}

/**
 * Adjusts the p-values of several tests by the step-up method of Benjamini and Hochberg, "Controlling the False Discovery
 * Rate" (Journal of the Royal Statistical Society B 57, 1995), as R's `p.adjust(method = "BH")` does. If all tests
 * whose adjusted value is at most 0.05 are called significant, at most one in twenty of them is so by chance, on average;
 * if nothing has changed anywhere, the probability of even one is at most 0.05. A test counts more if others are
 * significant too, so what has changed in many scenarios is not hidden by their number.
 */
export function benjaminiHochberg(pValues: readonly number[]): number[] {
  const order = pValues.map((value, index) => ({ value, index })).sort((a, b) => b.value - a.value);
  const adjusted: number[] = [];
  let smallest = 1;
  for (const [rank, { value, index }] of order.entries()) {
    smallest = Math.min(smallest, (value * pValues.length) / (pValues.length - rank));
    adjusted[index] = smallest;
  }
  return adjusted;
}

/** Returns the median; null if there are no numbers. */
export function median(numbers: readonly number[]): number | null {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const [upper, lower] = [sorted[Math.floor(middle)], sorted[Math.ceil(middle) - 1]];
  return upper === undefined || lower === undefined ? null : (upper + lower) / 2;
}
