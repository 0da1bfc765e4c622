import { expect, test } from 'vitest';
import { defaultFixture } from '../../../src/fixture/default-fixture.ts';
import { parseFixture } from '../../../src/fixture/parse-fixture.ts';
import { createEnvironment } from '../../../src/world/environment.ts';
import type { Part } from '../../../src/world/store/parts.ts';
import { saveOwners } from '../../../src/world/store/reachable-worlds.ts';
import { seed } from '../../../src/world/store/seed/seed.ts';
import { Worlds } from '../../../src/world/store/worlds.ts';
import { IDS } from '../../support/ids.ts';

/** A number that is kept by a checkpoint. */
class Count implements Part {
  value = 0;
  readonly staysOnReset: boolean;
  readonly #ended: string[];

  constructor(ended: string[], staysOnReset: boolean) {
    this.#ended = ended;
    this.staysOnReset = staysOnReset;
  }

  end(reason: string): void {
    this.#ended.push(reason);
  }

  save(): number {
    return this.value;
  }

  restore(value: number): void {
    this.value = value;
  }
}

/** The worlds of the default fixture with one part. */
function createWorlds(staysOnReset = false) {
  const worlds = new Worlds(createEnvironment());
  seed(worlds, parseFixture(defaultFixture));
  const ended: string[] = [];
  const countOf = worlds.addPart('count', () => new Count(ended, staysOnReset));
  const acme = worlds.get(IDS.acme.tenant);
  if (!acme) throw new Error('The fixture has no such tenant.');
  return { worlds, acme, countOf, ended };
}

test('a part is created at its first use, for each world and for the mailbox', () => {
  const { worlds, acme, countOf } = createWorlds();
  expect(countOf.in(worlds.owners())).toEqual([]);
  const count = countOf(acme);
  expect(countOf(acme)).toBe(count);
  expect(countOf.in(worlds.owners())).toEqual([count]);
  expect(countOf(worlds)).not.toBe(count);
  expect(countOf.in(worlds.owners())).toHaveLength(2);
});

test('a restore ends a part, and the next one has what was saved', () => {
  const { worlds, acme, countOf, ended } = createWorlds();
  countOf(acme).value = 1;
  const [rows, saved] = [worlds.snapshot(), saveOwners(worlds, 'checkpoint')];
  const before = Object.assign(countOf(acme), { value: 2 });
  countOf(worlds).value = 3;
  worlds.restore(rows, saved);
  expect(ended).toEqual(['The mailbox was reset', 'The mailbox was reset']);
  expect(countOf(acme)).not.toBe(before);
  expect(countOf(acme).value).toBe(1);
  expect(countOf(worlds).value).toBe(0);
});

test('a part that stays is the same after a restore, and ends with its tenant', () => {
  const { worlds, acme, countOf, ended } = createWorlds(true);
  const count = countOf(acme);
  worlds.restore(worlds.snapshot());
  expect(countOf(acme)).toBe(count);
  expect(ended).toEqual([]);
  worlds.remove(acme.id);
  expect(ended).toEqual(['The tenant was deleted']);
});
