import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMailbox } from 'agent-mailbox-mock';
import { startServer } from 'agent-mailbox-mock/server';
import { expect, test } from 'vitest';
import { runHere } from '../support/command.ts';

const fileIn = async (content?: string) => {
  const file = join(await mkdtemp(join(tmpdir(), 'profile-')), 'profile.json');
  if (content !== undefined) await writeFile(file, content);
  return file;
};

const headers = { 'X-API-Key': 'tk_acme_tenant_key' };

test('a profile sets behaviours, and what is set explicitly wins', async () => {
  const profile = { behaviours: { 'errors.shape': 'error-only', 'requests.malformed-id': 'invalid' } } as const;
  const mailbox = createMailbox({ profile, behaviours: { 'requests.malformed-id': 'not-found' } });
  const reply = await mailbox.fetch('https://mailbox.test/v1/inboxes/x', { headers });
  expect(reply.status).toBe(404);
  expect(Object.keys(await reply.json())).toEqual(['error']);
  await using server = await startServer({ port: 0, profile });
  expect((await fetch(`${server.url}/v1/inboxes/x`, { headers })).status).toBe(400);
});

test('an unknown behaviour of a profile is an error that names the nearest', () => {
  const profile = { behaviours: { 'errors.shapes': 'error-only' } } as never;
  expect(() => createMailbox({ profile })).toThrow('There is no behaviour "errors.shapes"; did you mean errors.shape,');
});

test('profile init writes the defaults, which change nothing, and keeps a file that exists', async () => {
  const file = await fileIn();
  const written = await runHere(['profile', 'init', '--file', file]);
  expect(written.out.join('\n')).toContain(`--profile ${file}`);
  const { behaviours } = JSON.parse(await readFile(file, 'utf8'));
  expect(behaviours['errors.shape']).toBe('error-and-code');
  const started = await runHere(['start', '--port', '0', '--profile', file]);
  expect(started.err).toContain(`Profile ${file}: no default differs.`);
  const again = await runHere(['profile', 'init', '--file', file]);
  expect(again).toMatchObject({ code: 1, err: expect.stringContaining('cannot be written') });
  expect(await runHere(['profile', 'write'])).toMatchObject({ code: 2, err: expect.stringContaining('takes init') });
});

test('start says in one line which defaults differ from the profile', async () => {
  const file = await fileIn('{ "behaviours": { "errors.shape": "error-only" } }');
  const { code, err } = await runHere(['start', '--port', '0', '--profile', file]);
  expect(err).toContain(`Profile ${file}: 1 default differs: errors.shape=error-only.`);
  expect(code).toBe(0);
});

test.for<[string, RegExp]>([
  ['{', /cannot be read as JSON: /],
  ['[]', /must be an object with "behaviours"/],
  ['{ "behaviours": { "errors.shape": "none" } }', /"errors.shape" cannot be "none"; it can be: error-and-code/],
])('a profile that is not valid is told with its file: %s', async ([content, sentence]) => {
  const file = await fileIn(content);
  const { code, err } = await runHere(['start', '--port', '0', '--profile', file]);
  expect(code).toBe(1);
  expect(err).toMatch(sentence);
  expect(err).toContain(file);
});
