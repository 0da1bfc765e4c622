import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type BehaviourOptions, createMailbox } from 'agent-mailbox-mock';
import { test } from 'vitest';
import { runHere } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';

/** What a mailbox returns as its document, as JSON has it. */
const documentOf = (behaviours: BehaviourOptions = {}) =>
  JSON.parse(JSON.stringify(createMailbox({ behaviours }).openApi()));

test('prints the document of the service', async ({ expect }) => {
  const { code, out, err } = await runHere(['openapi']);
  expect([code, err]).toEqual([0, '']);
  expect(JSON.parse(out.join('\n'))).toEqual(documentOf());
});

test('describes the service under the behaviours of a profile and of flags', async (context) => {
  const { expect } = context;
  const profile = join(await makeFolder(context), 'profile.json');
  await writeFile(profile, '{ "behaviours": { "errors.shape": "error-only" } }');
  const given = ['--behaviour', 'webhooks.list.secret=omitted'];
  const { out, err } = await runHere(['openapi', '--profile', profile, ...given]);
  expect(err).toContain('1 default differs: errors.shape=error-only');
  const behaviours = { 'errors.shape': 'error-only', 'webhooks.list.secret': 'omitted' } as const;
  expect(JSON.parse(out.join('\n'))).toEqual(documentOf(behaviours));
});

test('writes the document to a file, over an earlier document and nothing else', async (context) => {
  const { expect } = context;
  const file = join(await makeFolder(context), 'openapi.json');
  const write = () => runHere(['openapi', file]);
  expect(await write()).toEqual({ code: 0, out: [`Wrote ${file}, the OpenAPI document of the service.`], err: '' });
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(documentOf());
  await writeFile(file, JSON.stringify(documentOf({ 'errors.shape': 'error-only' })));
  expect(await write()).toMatchObject({ code: 0 });
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(documentOf());
  const mine = '{ "openapi": "3.1.0", "info": { "title": "Mine" } }';
  await writeFile(file, mine);
  expect(await write()).toEqual({
    code: 1,
    out: [],
    err: `agent-mailbox-mock: The file ${file} exists, and this command did not write it; choose another name, or replace it with --force.`,
  });
  expect(await readFile(file, 'utf8')).toBe(mine);
});

test('says why a document cannot be written', async (context) => {
  const { expect } = context;
  const folder = await makeFolder(context);
  const write = async (file: string) => (await runHere(['openapi', file])).err;
  expect(await write(folder)).toBe(`agent-mailbox-mock: The file ${folder} cannot be written: it is a directory.`);
  expect(await write(join(folder, 'none/a.json'))).toContain('cannot be written: there is no such folder.');
});
