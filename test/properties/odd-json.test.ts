// JSON of somebody else may have an object where a text belongs, with fields that take the place of the functions with
// which JavaScript makes a text of it. Each place of a document gets such an object, and each error is a sentence.
import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createMailbox, defaultFixture } from 'agent-mailbox-mock';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { parseScenarios } from '../../src/evaluate/parse-scenarios.ts';
import { applyParameters } from '../../src/evaluate/scenario-parameters.ts';
import { runHere } from '../support/command.ts';
import { makeFolder } from '../support/folder.ts';
import { ROOT } from '../support/root.ts';

const ODD = ['{"toString":1}', '[{"toString":1}]', '{"valueOf":1,"toString":null}'];

/** What JavaScript says, and not this program. */
const OF_THE_ENGINE = /Cannot convert|is not a function|Cannot read|not iterable|a bug/;

type Path = readonly string[];

/** The paths of all parts of a value. */
function pathsIn(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  const below = Object.entries(value).flatMap(([name, part]) => pathsIn(part, [...path, name]));
  return path.length === 0 ? below : [path, ...below];
}

/** Returns a copy of a value with another part at a path. */
function withPart(value: unknown, path: Path, part: unknown): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return part;
  const copy = Array.isArray(value) ? [...value] : { ...(value as object) };
  Reflect.set(copy, name, withPart(Reflect.get(value as object, name), rest, part));
  return copy;
}

/** Every form of a value that has one odd part. */
function* oddForms(value: unknown): Generator<unknown> {
  for (const path of pathsIn(value)) for (const odd of ODD) yield withPart(value, path, JSON.parse(odd));
}

/** Returns the error of a call; `undefined` if there is none. */
function errorOf(call: () => unknown): Error | undefined {
  try {
    call();
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

describe('an object in the place of a text', () => {
  test('in a fixture is a FixtureError', () => {
    for (const fixtures of oddForms(defaultFixture)) {
      const error = errorOf(() => createMailbox({ fixtures: fixtures as never }));
      expect(error?.name ?? 'FixtureError', JSON.stringify(fixtures)).toBe('FixtureError');
      expect(error?.message ?? '').not.toMatch(OF_THE_ENGINE);
    }
  });

  test('in a scenario is a ScenarioError', () => {
    const folder = join(ROOT, 'fixtures/scenarios');
    for (const file of readdirSync(folder).filter((name) => name.endsWith('.yaml'))) {
      for (const value of oddForms(parse(readFileSync(join(folder, file), 'utf8')))) {
        const error = errorOf(() => parseScenarios(applyParameters([{ value, file }])));
        expect(error?.name ?? 'ScenarioError', file).toBe('ScenarioError');
        expect(error?.message ?? '').not.toMatch(OF_THE_ENGINE);
      }
    }
  });

  test('in an event that a test fires becomes a text, and no failure', () => {
    const mailbox = createMailbox();
    const event = {
      id: 'a',
      from: 'b',
      subject: 'c',
      plainBody: 'd',
      htmlBody: 'e',
      threadId: 'f',
      receivedAt: 'g',
      to: 'h',
    };
    for (const form of oddForms(event)) {
      const error = errorOf(() => mailbox.trigger('message.received', form as never));
      expect(error?.message ?? '').not.toMatch(OF_THE_ENGINE);
    }
  });

  test('in a trace or a report is a sentence, or shown', async (context) => {
    const folder = await makeFolder(context);
    const mailbox = createMailbox();
    await mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: 'dana@customer.test', subject: 'Hi' });
    await mailbox.fetch('https://mailbox.test/v1/webhooks/x', { headers: { 'X-API-Key': mailbox.keys.acme.tenant } });
    const lines = (await mailbox.trace()).trimEnd().split('\n');
    const file = join(folder, 'file');
    for (const [index, line] of lines.entries()) {
      for (const form of oddForms(JSON.parse(line))) {
        await writeFile(file, lines.with(index, JSON.stringify(form)).join('\n'));
        const { out, err } = await runHere(['show', file]);
        expect([...out, err].join('\n')).not.toMatch(OF_THE_ENGINE);
      }
    }
    const report = { type: 'evaluation', version: 1, scenarios: [{ name: 'One', passed: 1, failed: 0, trials: [] }] };
    for (const form of oddForms(report)) {
      await writeFile(file, JSON.stringify(form));
      const { out, err } = await runHere(['evaluate', 'compare', file, file]);
      expect([...out, err].join('\n')).not.toMatch(OF_THE_ENGINE);
    }
  });

  test('in a recording that verify compares is a sentence, or compared', async (context) => {
    const file = join(await makeFolder(context), 'calls.har');
    const response = {
      status: 200,
      headers: [{ name: 'Content-Type', value: 'application/json' }],
      content: { text: '{}' },
    };
    const headers = [{ name: 'X-API-Key', value: 'tk_acme_tenant_key' }];
    const request = { method: 'GET', url: 'https://api.example.com/v1/workspaces', headers };
    for (const form of oddForms({ log: { entries: [{ request, response }] } })) {
      await writeFile(file, JSON.stringify(form));
      const { out, err } = await runHere(['verify', '--har', file]);
      expect([...out, err].join('\n')).not.toMatch(OF_THE_ENGINE);
    }
  });
});
