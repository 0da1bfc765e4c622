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
  for (let index = 0; index < k; index += 1) probability *= Math.max(0, passed - index) / (trials - index);
  return probability;
}

/** The results of two runs of one scenario: how many trials passed, of how many. */
export interface TwoRuns {
  readonly passedBefore: number;
  readonly trialsBefore: number;
  readonly passedAfter: number;
  readonly trialsAfter: number;
}

/**
 * By what share two probabilities may differ and still count as equal in `fisherExact`. They are calculated from sums
 * of logarithms, which are not exact.
 */
const RELATIVE_ERROR = 1e-7;

/**
 * Fisher's exact test, two-sided: how probable it is that two runs of the same agent differ at least as much as these,
 * by chance. A table is one way to divide all trials that passed between the two runs. The result is the sum of the
 * probabilities of all tables that are at most as probable as the given one, which is the two-sided value of R's
 * `fisher.test` and of SciPy's `fisher_exact`.
 */
export function fisherExact({ passedBefore, trialsBefore, passedAfter, trialsAfter }: TwoRuns): number {
  const trials = trialsBefore + trialsAfter;
  const passed = passedBefore + passedAfter;
  const logs = logFactorials(trials);
  const logFactorial = (number: number) => logs[number] ?? 0;
  const logChoose = (from: number, count: number) =>
    logFactorial(from) - logFactorial(count) - logFactorial(from - count);
  // The probability that, of all trials that passed, so many are of the first run.
  const probabilityOf = (before: number) =>
    Math.exp(logChoose(trialsBefore, before) + logChoose(trialsAfter, passed - before) - logChoose(trials, passed));
  const least = Math.max(0, passed - trialsAfter);
  const most = Math.min(passed, trialsBefore);
  const limit = probabilityOf(passedBefore) * (1 + RELATIVE_ERROR);
  let sum = 0;
  for (let before = least; before <= most; before += 1) {
    const probability = probabilityOf(before);
    if (probability <= limit) sum += probability;
  }
  return Math.min(1, sum);
}

/** Returns the logarithms of 0!, 1! and so on, up to that of `most`!. */
function logFactorials(most: number): number[] {
  const logs = [0];
  for (let number = 1; number <= most; number += 1) logs.push((logs[number - 1] ?? 0) + Math.log(number));
  return logs;
}

/**
 * Adjusts the p-values of several tests by the step-down method of Holm, "A Simple Sequentially Rejective Multiple Test
 * Procedure" (Scandinavian Journal of Statistics 6, 1979), as R's `p.adjust(method = "holm")` does. A test is
 * significant at 0.05 if its adjusted value is at most 0.05; the probability of even one false finding is then at most
 * 0.05.
 */
export function holm(pValues: readonly number[]): number[] {
  const order = pValues.map((value, index) => ({ value, index })).sort((a, b) => a.value - b.value);
  const adjusted: number[] = [];
  let largest = 0;
  for (const [rank, { value, index }] of order.entries()) {
    largest = Math.max(largest, Math.min(1, value * (pValues.length - rank)));
    adjusted[index] = largest;
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
