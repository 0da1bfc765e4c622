// Runs before each file with tests of a copy, and writes which mutants the file has reached.
import { appendFileSync } from 'node:fs';
import { afterAll, beforeAll, expect } from 'vitest';
import { onReach } from './switch.ts';

/** What a file with tests has reached; what a module does when it is loaded is done once for all files of a worker. */
export interface Reached {
  /** As an absolute path. */
  readonly file: string;
  readonly whileLoading: readonly number[];
  readonly inTests: readonly number[];
}

const { MUTATION_REACHED } = process.env;
if (MUTATION_REACHED !== undefined) {
  const whileLoading = new Set<number>();
  const inTests = new Set<number>();
  onReach((number) => whileLoading.add(number));
  beforeAll(() => onReach((number) => inTests.add(number)));
  afterAll(() => {
    const reached: Reached = {
      file: expect.getState().testPath ?? '',
      whileLoading: [...whileLoading],
      inTests: [...inTests],
    };
    appendFileSync(MUTATION_REACHED, `${JSON.stringify(reached)}\n`);
  });
}
