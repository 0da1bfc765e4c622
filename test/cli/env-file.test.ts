import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeEnvFile } from '../../src/cli/env-file.ts';
import { makeFolder } from '../support/folder.ts';

const VARIABLES = { MAILBOX_BASE_URL: 'http://127.0.0.1:4025', MAILBOX_TENANT_KEY: undefined };

test('the file has the variables that are set, and is removed at the end', async (context) => {
  const path = join(await makeFolder(context), 'mailbox.env');
  const file = await writeEnvFile(path, VARIABLES);
  const [comment, ...lines] = (await readFile(path, 'utf8')).split('\n');
  expect(comment).toMatch(/^# Written by agent-mailbox-mock/);
  expect(lines).toEqual(['MAILBOX_BASE_URL=http://127.0.0.1:4025', '']);
  await file[Symbol.asyncDispose]();
  await expect(readFile(path)).rejects.toThrow('ENOENT');
});

test('a file that another process has replaced stays', async (context) => {
  const path = join(await makeFolder(context), 'mailbox.env');
  const first = await writeEnvFile(path, VARIABLES);
  const second = await writeEnvFile(path, { ...VARIABLES, MAILBOX_BASE_URL: 'http://127.0.0.1:5000' });
  await first[Symbol.asyncDispose]();
  expect(await readFile(path, 'utf8')).toContain(':5000');
  await writeFile(path, 'OWN=1\n');
  await second[Symbol.asyncDispose]();
  expect(await readFile(path, 'utf8')).toBe('OWN=1\n');
});

test('a file of somebody else is not replaced, and an empty one is', async (context) => {
  const path = join(await makeFolder(context), 'mailbox.env');
  await writeFile(path, 'OWN=1\n');
  await expect(writeEnvFile(path, VARIABLES)).rejects.toThrow(
    `The file ${path} was not written by agent-mailbox-mock; choose another name for --env-file.`,
  );
  await writeFile(path, '');
  await using _ = await writeEnvFile(path, VARIABLES);
  expect(await readFile(path, 'utf8')).toContain('MAILBOX_BASE_URL');
});
