import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { test } from 'vitest';
import { makeFolder } from '../../support/folder.ts';
import { ROOT } from '../../support/root.ts';

test('a failed test has a trace, and its message says what happened', async (test) => {
  const { expect } = test;
  const file = join(await makeFolder(test), 'artifacts.json');
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/testing/vitest/specs/vitest.config.ts'];
  const { VITEST: _, ...env } = process.env;
  const options = { cwd: ROOT, env: { ...env, ARTIFACTS_FILE: file } };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, options).catch((error) => error);
  expect(`${stdout}${stderr}`).toMatch(
    /What happened:\n.* "Hello" from dana@customer\.test arrived at helpdesk@acme\.test\./,
  );
  const [failed, passed] = JSON.parse(await readFile(file, 'utf8'));
  expect(failed).toMatchObject(['fails', 'failed', [{ type: 'agent-mailbox-mock:trace' }]]);
  expect(passed).toEqual(['passes', 'passed', []]);
  const [, , [{ attachments }]] = failed;
  const lines = String(attachments[0].body).trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line).type)).toEqual([
    ...['trace', 'tenant', 'tenant', 'webhook', 'webhook', 'webhook', 'entry', 'mail', 'story'],
  ]);
});
