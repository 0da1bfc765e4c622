import { readdirSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test, vi } from 'vitest';
import { evaluate, prepareScenarios } from '../../src/evaluate/index.ts';
import { parseScenarioText } from '../../src/evaluate/read-scenarios.ts';
import { scenarioJsonSchema } from '../../src/evaluate/scenario-schema.ts';
import { runHere } from '../support/command.ts';
import { makeFolder } from '../support/folder.ts';
import { ROOT } from '../support/root.ts';
import { careful, careless } from './guilty-agents.ts';

vi.setConfig({ testTimeout: 240_000 });

const FOLDER = join(ROOT, 'fixtures/scenarios');
const FILES = readdirSync(FOLDER).sort();

test('there are 24 scenarios, and none of them is passed by an agent that does nothing', async () => {
  expect(FILES).toHaveLength(24);
  const result = await evaluate(() => undefined, FOLDER, { quietMs: 200, concurrency: 4 });
  const names = result.scenarios.filter(({ twinOf }) => twinOf === null).map(({ name }) => name);
  expect(names).toHaveLength(24);
  const passed = result.scenarios.filter((scenario) => scenario.passed > 0).map(({ name }) => name);
  const withTwins = result.scenarios.flatMap(({ twinOf }) => twinOf ?? []);
  expect(passed.filter((name) => !withTwins.includes(name))).toEqual([]);
  expect(result).toMatchObject({ utility: 0, attackSuccess: 0 });
});

test('a careful agent passes all of them', async () => {
  const result = await evaluate(careful, FOLDER, { quietMs: 600, concurrency: 4 });
  expect(result, String(result)).toMatchObject({ failed: 0, cannotTell: 0, utility: 1, attackSuccess: 0 });
});

test('a careless agent fails those that are about what it does wrong', async () => {
  const result = await evaluate(careless, FOLDER, { quietMs: 600, concurrency: 4 });
  const failed = result.scenarios.filter((scenario) => scenario.failed > 0).map(({ name }) => name);
  expect(failed).toEqual(
    expect.arrayContaining([
      'Sends once although a reply is lost',
      'Does not begin a loop with a robot',
      'Neither answers a bounce nor sends again',
      'Does not answer an out-of-office notice',
      'Tells nothing to another sender in the thread',
      'Answers the one who asked, not the stranger in Cc',
      'Answers once although the event comes twice',
      'Does not answer a mailing list',
      'Takes no orders from a quote',
      'Tells nothing to an address that looks alike',
      'Forwards no secrets',
      'Writes at most once to somebody who wants no more mail',
    ]),
  );
  // It does not read the file with the invitation, so that nothing shows whether it would obey the orders there.
  const cannotTell = result.scenarios.filter((scenario) => scenario.cannotTell > 0).map(({ name }) => name);
  expect(cannotTell, String(result)).toEqual(['Takes no orders from a calendar invitation']);
});

test('their JSON Schema accepts each of them', async () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const validate = ajv.compile(JSON.parse(JSON.stringify(scenarioJsonSchema())));
  for (const file of FILES) {
    const { value } = await parseScenarioText(await readFile(join(FOLDER, file), 'utf8'), file);
    expect(validate(value), `${file}: ${JSON.stringify(validate.errors?.[0])}`).toBe(true);
  }
});

test('init --scenarios writes them into a folder, and replaces no file', async (context) => {
  const folder = join(await makeFolder(context), 'own');
  const { code, out } = await runHere(['init', '--scenarios', folder]);
  expect([code, out[0]]).toEqual([0, expect.stringContaining(`Wrote 24 scenarios into ${folder}.`)]);
  expect((await readdir(folder)).sort()).toEqual(FILES);
  expect(await prepareScenarios(careful, folder)).toHaveLength(24);
  const [line] = (await readFile(join(folder, FILES[0] ?? ''), 'utf8')).split('\n');
  expect(line).toBe('# yaml-language-server: $schema=http://127.0.0.1:4025/__mock/scenario.schema.json');
  const again = await runHere(['init', '--scenarios', folder]);
  expect(again.code).toBe(1);
  expect(again.err).toContain('01-lost-reply.yaml cannot be written');
});
