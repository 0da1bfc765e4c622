import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startServer } from 'agent-mailbox-mock/server';
import { test } from 'vitest';
import { runHere } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { COMMAND, run } from '../../support/processes.ts';

test('writes the client that an emulator serves, as client.py if no name is given', async (context) => {
  const { expect } = context;
  const cwd = await makeFolder(context);
  const running = run(context, [...COMMAND, 'client', 'python'], { cwd });
  expect(await running.ended).toEqual({ code: 0, signal: null });
  expect(running).toMatchObject({ stdout: 'Wrote client.py, the client for Python.\n', stderr: '' });
  await using server = await startServer({ port: 0 });
  const served = await (await fetch(`${server.control}/client.py`)).text();
  expect(await readFile(join(cwd, 'client.py'), 'utf8')).toBe(served);
});

test('replaces an earlier client, and no other file', async (context) => {
  const { expect } = context;
  const file = join(await makeFolder(context), 'mailbox_client.py');
  const write = () => runHere(['client', 'python', file]);
  expect(await write()).toEqual({ code: 0, out: [`Wrote ${file}, the client for Python.`], err: '' });
  const text = await readFile(file, 'utf8');
  // An earlier version had other methods.
  await writeFile(file, text.slice(0, 1_000));
  expect(await write()).toMatchObject({ code: 0 });
  expect(await readFile(file, 'utf8')).toBe(text);
  await writeFile(file, 'print("mine")\n');
  expect(await write()).toMatchObject({ code: 1, err: expect.stringContaining('this command did not write it') });
  expect(await readFile(file, 'utf8')).toBe('print("mine")\n');
});
