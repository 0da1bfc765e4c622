import { defaultFixture } from 'agent-mailbox-mock';
import { isBytes, toBase64 } from '../../src/basics/base64.ts';
import { parseFixture } from '../../src/fixture/parse-fixture.ts';
import { createEnvironment } from '../../src/world/environment.ts';
import { insertFixture } from '../../src/world/store/seed/seed.ts';
import { Worlds } from '../../src/world/store/worlds.ts';

/** Computes the files that a start reads in place of checking the default fixture, by their paths. */
export function computeDefaultFiles(): Readonly<Record<string, string>> {
  const fixture = parseFixture(defaultFixture);
  const worlds = new Worlds(createEnvironment());
  insertFixture(worlds, fixture);
  return {
    'src/fixture/checked-default-fixture.json': write(fixture),
    'src/world/store/seed/default-rows.json': write(worlds.snapshot()),
  };
}

function write(value: unknown): string {
  return `${JSON.stringify(value, (_, part) => (isBytes(part) ? toBase64(part) : part), 1)}\n`;
}
