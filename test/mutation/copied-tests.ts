import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { z } from 'zod';
import type { Reached } from './record-reached.ts';

/** What the report of the test runner says of a file. */
const reportSchema = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      startTime: z.number(),
      endTime: z.number(),
      assertionResults: z.array(z.object({ fullName: z.string(), status: z.string() })),
    }),
  ),
});

/** A file with tests that has run in the copy. */
export interface RanFile {
  /** As `test/…`. */
  readonly file: string;
  readonly durationMs: number;
  readonly failed: readonly string[];
}

/** How a run of tests ended: `late` if it was ended after its limit. */
export interface TestRun {
  readonly ending: 'passed' | 'failed' | 'late';
  readonly files: readonly RanFile[];
}

/** The tests of a copy of the project, which `createMutantCopy` has written. */
export class CopiedTests {
  readonly #folder: string;
  #stop: () => void = () => {};

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Runs every test that can reach one of these files of the source, and says which mutants each file with tests reached. */
  async findReached(sources: readonly string[]): Promise<{ run: TestRun; reached: ReadonlyMap<string, Reached> }> {
    const record = join(this.#folder, 'reached.jsonl');
    const run = await this.#run(['related', '--run', ...sources], { MUTATION_REACHED: record });
    const lines = existsSync(record) ? readFileSync(record, 'utf8').trim().split('\n') : [];
    const all = lines.map((line): Reached => JSON.parse(line));
    return { run, reached: new Map(all.map((each) => [this.#nameOf(each.file), each])) };
  }

  /** Runs these files with one mutant on, until the first test fails or this many milliseconds have passed. */
  runWith(mutant: number, files: readonly string[], limitMs: number): Promise<TestRun> {
    return this.#run(['run', '--bail', '1', ...files], { MUTANT: String(mutant) }, limitMs);
  }

  /** Ends the tests that run. */
  stop(): void {
    this.#stop();
  }

  async #run(args: readonly string[], env: NodeJS.ProcessEnv, limitMs?: number): Promise<TestRun> {
    const report = join(this.#folder, 'report.json');
    rmSync(report, { force: true });
    const vitest = 'node_modules/vitest/vitest.mjs';
    const child = spawn(process.execPath, [vitest, ...args, '--config', 'test/mutation/vitest.config.ts'], {
      cwd: this.#folder,
      env: { ...process.env, ...env, SUITE_REPORT: report, MUTATION_CACHE: join(this.#folder, 'cache') },
      stdio: 'ignore',
      // A group of its own, so that its workers end with it.
      detached: true,
    });
    this.#stop = () => {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
    };
    let isLate = false;
    const limit =
      limitMs === undefined
        ? undefined
        : setTimeout(() => {
            isLate = true;
            this.#stop();
          }, limitMs);
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject).once('close', resolve);
    });
    clearTimeout(limit);
    return { ending: isLate ? 'late' : code === 0 ? 'passed' : 'failed', files: this.#read(report) };
  }

  #read(report: string): RanFile[] {
    if (!existsSync(report)) return [];
    return reportSchema.parse(JSON.parse(readFileSync(report, 'utf8'))).testResults.map((result) => {
      const failed = result.assertionResults
        .filter(({ status }) => status === 'failed')
        .map(({ fullName }) => fullName);
      const isBroken = result.status === 'failed' && failed.length === 0;
      return {
        file: this.#nameOf(result.name),
        durationMs: result.endTime - result.startTime,
        failed: isBroken ? ['the file cannot be loaded'] : failed,
      };
    });
  }

  #nameOf(path: string): string {
    return relative(this.#folder, path).split(sep).join('/');
  }
}
