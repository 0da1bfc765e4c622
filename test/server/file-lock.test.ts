import { once } from 'node:events';
import { mkdir, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { startServer } from 'agent-mailbox-mock/server';
import { test, vi } from 'vitest';
import { runHere } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { makeFolder } from '../support/folder.ts';
import { runCommand, startCommand } from '../support/processes.ts';

vi.setConfig({ testTimeout: 120_000 });

/** The lock of a server that cannot be looked up from here. */
const FOREIGN = { token: 'foreign', host: 'build-7', pid: 1, machine: 'another', start: '1' };

function inUse(file: string, pid: number | undefined, host = hostname()): string {
  return `The state file ${file} is in use by another server, process ${pid} on the host ${host}; end that server, or name another file.`;
}

test('a second server in this process is refused a state file until the first one is closed', async (context) => {
  const { expect } = context;
  const folder = await makeFolder(context);
  const state = join(folder, 'state.json');
  const first = await startServer({ port: 0, state });
  await expect(startServer({ port: 0, state })).rejects.toThrow(inUse(state, process.pid));
  await first.close();
  expect(await readdir(folder)).toEqual(['state.json']);
  await using _ = await startServer({ port: 0, state });
});

test('a second process is refused a state file, and one that was killed does not stop the next', async (context) => {
  const { expect } = context;
  const folder = await makeFolder(context);
  const state = join(folder, 'state.json');
  for (const round of [1, 2]) {
    const { running } = await startCommand(context, ['--state', state]);
    const refused = await runHere(['--port', '0', '--state', state]);
    expect([round, refused]).toEqual([
      round,
      { code: 1, out: [], err: `agent-mailbox-mock: ${inUse(state, running.child.pid)}` },
    ]);
    running.child.kill('SIGKILL');
    await running.ended;
  }
  const { running } = await startCommand(context, ['--state', state]);
  running.child.kill('SIGTERM');
  expect(await running.ended).toEqual({ code: 0, signal: null });
  expect(await readdir(folder)).toEqual(['state.json']);
});

test('a lock belongs to the file that a link leads to', async (context) => {
  const folder = await makeFolder(context);
  await mkdir(join(folder, 'data'));
  await symlink('data', join(folder, 'same'));
  await symlink(join('data', 'state.json'), join(folder, 'link'));
  await using _ = await startServer({ port: 0, state: join(folder, 'link') });
  for (const name of ['data/state.json', 'same/state.json', 'link']) {
    const second = startServer({ port: 0, state: join(folder, name) });
    await context.expect(second).rejects.toThrow(/ is in use by another server, process \d+ on the host /);
  }
});

test('of many processes that start at once, exactly one gets the file of a killed one', async (context) => {
  const { expect } = context;
  const state = join(await makeFolder(context), 'state.json');
  const { running } = await startCommand(context, ['--state', state]);
  running.child.kill('SIGKILL');
  await running.ended;
  const started = Array.from({ length: 10 }, () => runCommand(context, ['--port', '0', '--json', '--state', state]));
  const outcomes = await Promise.all(
    started.map(({ untilStdout, ended }) =>
      Promise.race([untilStdout(/\n/).then(() => 'ready'), ended.then(() => 'ended')]).catch(() => 'ended'),
    ),
  );
  expect(outcomes.filter((outcome) => outcome === 'ready')).toHaveLength(1);
  const winner = started[outcomes.indexOf('ready')];
  const refusals = started.filter((each) => each !== winner).map(({ stderr }) => stderr);
  for (const refusal of refusals) expect(refusal).toMatch(/ is in use by another server, process \d+ on the host /);
});

test('of many servers that start at once in this process, exactly one gets the file', async (context) => {
  const state = join(await makeFolder(context), 'state.json');
  const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => startServer({ port: 0, state })));
  const started = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  await Promise.all(started.map((server) => server.close()));
  context.expect(started).toHaveLength(1);
});

test('the lock of another machine counts while it is touched, and is taken over after that', async (context) => {
  const { expect } = context;
  const folder = await makeFolder(context);
  const state = join(folder, 'state.json');
  const lock = `${state}.lock`;
  await writeFile(lock, JSON.stringify(FOREIGN));
  const touch = async (time: number) => utimes(lock, time, time);
  const beat = setInterval(() => void touch(performance.now()), 200);
  await expect(startServer({ port: 0, state })).rejects.toThrow(inUse(state, 1, 'build-7'));
  clearInterval(beat);
  await using _ = await startServer({ port: 0, state });
  expect(JSON.parse(await readFile(lock, 'utf8'))).toMatchObject({ pid: process.pid, host: hostname() });
  expect((await readdir(folder)).sort()).toEqual(['state.json', 'state.json.lock']);
});

test('a lock that its holder could not finish, or that somebody removed, stops nobody', async (context) => {
  const state = join(await makeFolder(context), 'state.json');
  await writeFile(`${state}.lock`, '');
  const server = await startServer({ port: 0, state });
  await rm(`${state}.lock`);
  await eventually(() => readFile(`${state}.lock`));
  await context.expect(startServer({ port: 0, state })).rejects.toThrow(inUse(state, process.pid));
  await server.close();
});

test('a server whose file was taken over does not write it any more, and says what is lost', async (context) => {
  const { expect } = context;
  const state = join(await makeFolder(context), 'state.json');
  const server = await startServer({ port: 0, state });
  const before = await readFile(state, 'utf8');
  await writeFile(`${state}.lock`, JSON.stringify(FOREIGN));
  server.mailbox.load({ tenants: {} });
  const lost = /^The state file .+ is in use by .+ on the host build-7;.+ All changes since \d{4}-.+Z are lost\.$/;
  await expect(server.close()).rejects.toThrow(lost);
  expect(await readFile(state, 'utf8')).toBe(before);
  expect(JSON.parse(await readFile(`${state}.lock`, 'utf8'))).toEqual(FOREIGN);
});

test('a server that cannot listen leaves its state file to others', async (context) => {
  const folder = await makeFolder(context);
  const state = join(folder, 'state.json');
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  context.onTestFinished(() => void other.close());
  const { port } = other.address() as { port: number };
  await context.expect(startServer({ port, state })).rejects.toThrow('EADDRINUSE');
  await writeFile(state, '{');
  await context.expect(startServer({ port: 0, state })).rejects.toThrow('cannot be loaded');
  context.expect(await readdir(folder)).toEqual(['state.json']);
});
