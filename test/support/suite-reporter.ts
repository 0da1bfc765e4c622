import type { Reporter, TestCase, TestModule, TestRunEndReason, Vitest } from 'vitest/node';
import { OPERATION_IDS } from '../../src/contract/operations.ts';
import type { Checked } from './contract-checker.ts';
import { LENIENCIES } from './leniencies.ts';

/** The rules for the whole suite, checked after every test has run and passed. */
export interface SuiteOptions {
  /** The runtimes that the suite ran in, as the titles of `everywhere` name them. */
  readonly runtimes: readonly string[];
  /** The tests that make up the suite, where it is not all of them. */
  readonly pattern?: RegExp;
  /** Whether the tests went through the independent checker. */
  readonly isContractChecked: boolean;
}

/** Fails the run if an operation succeeded in no test of a runtime, and prints what was unsteady and what was checked. */
export function createSuiteReporter({ runtimes, pattern, isContractChecked }: SuiteOptions): Reporter {
  let vitest: Vitest | undefined;
  return {
    onInit(instance) {
      vitest = instance;
    },
    async onTestRunEnd(modules: readonly TestModule[], _errors: unknown, reason: TestRunEndReason) {
      const tests = modules.flatMap((module) => [...module.children.allTests()]);
      for (const { fullName, module } of tests.filter((test) => test.diagnostic()?.flaky))
        process.stdout.write(`Passed only at its second try: ${module.relativeModuleId} > ${fullName}\n`);
      if (isContractChecked) process.stdout.write(`${countChecks(tests)}\n`);
      if (reason !== 'passed' || !vitest || !(await isWhole(vitest, modules, pattern))) return;
      const problems = [...findMissing(tests, runtimes), ...(isContractChecked ? findStale(tests) : [])];
      for (const problem of problems) process.stderr.write(`${problem}\n`);
      if (problems.length > 0) process.exitCode = 1;
    },
  };
}

/** A run of one file, or of tests by name, does not report the operations that the other tests call. */
async function isWhole(vitest: Vitest, modules: readonly TestModule[], pattern: RegExp | undefined): Promise<boolean> {
  if (String(vitest.config.testNamePattern) !== String(pattern)) return false;
  const ran = new Set(modules.map(({ moduleId }) => moduleId));
  return (await vitest.globTestSpecifications()).every(({ moduleId }) => ran.has(moduleId));
}

/** The part of a test that is used here. */
export type RanTest = Pick<TestCase, 'name' | 'meta'>;

/** Returns the operations that succeeded in no test, for each of these runtimes. */
export function findMissing(tests: readonly RanTest[], runtimes: readonly string[]): string[] {
  return runtimes.flatMap((runtime) => {
    const inRuntime = tests.filter(({ name }) => name.endsWith(` (${runtime})`));
    const succeeded = new Set(inRuntime.flatMap((test) => test.meta().succeeded ?? []));
    const missing = OPERATION_IDS.filter((id) => !succeeded.has(id));
    return missing.map((id) => `No test calls ${id} with success (${runtime}).`);
  });
}

/** Returns the leniencies that no request needed. */
export function findStale(tests: readonly RanTest[]): string[] {
  const needed = new Set(tests.flatMap((test) => test.meta().checked?.leniencies ?? []));
  return LENIENCIES.filter(({ reason }) => !needed.has(reason)).map(({ reason }) => `No test needs: ${reason}`);
}

function countChecks(tests: readonly TestCase[]): string {
  const checked = tests.flatMap((test) => test.meta().checked ?? []);
  const sum = (count: (each: Checked) => number) => checked.reduce((total, each) => total + count(each), 0);
  const taken = sum(({ leniencies }) => leniencies.length);
  return [
    `Prism checked ${sum(({ replies }) => replies)} replies and refused ${sum(({ refusals }) => refusals)} requests,`,
    `of which the emulator took ${taken}, as test/support/leniencies.ts says, and refused the rest too.`,
  ].join(' ');
}
