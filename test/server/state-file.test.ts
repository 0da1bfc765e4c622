import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, readlink, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createMailbox } from 'agent-mailbox-mock';
import { startServer } from 'agent-mailbox-mock/server';
import ts from 'typescript';
import { test, vi } from 'vitest';
import type { FixtureInput } from '../../src/fixture/parse-fixture.ts';
import { replaceFile } from '../../src/server/replace-file.ts';
import { readLines, writeLines } from '../../src/server/state-lines.ts';
import { runHere } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { makeFolder } from '../support/folder.ts';
import { startCommand } from '../support/processes.ts';
import { send, senderTo } from '../support/send.ts';

vi.setConfig({ testTimeout: 120_000 });

/** Reads the fixture in a state file. */
async function readFixture(file: string) {
  const { kept: _, ...fixture } = readLines(await readFile(file));
  return fixture;
}

/** Writes a fixture as a state file. */
const writeState = (file: string, fixture: FixtureInput) => writeFile(file, [...writeLines(fixture)].join(''));

test('a state file keeps the data from one server to the next, and a reset restores the fixture', async (context) => {
  const { expect } = context;
  const state = join(await makeFolder(context), 'state.json');
  const first = await startServer({ port: 0, state });
  const start = first.mailbox.snapshot();
  await first.mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: 'a@b.test', subject: 'Kept' });
  const { key } = (
    await send(`${first.url}/v1/inboxes/${first.mailbox.ids.acme.inboxes.billing}/keys`, 'POST', {
      key: first.mailbox.keys.acme.tenant,
    })
  ).json;
  const kept = first.mailbox.snapshot();
  await first.close();

  await using second = await startServer({ port: 0, state });
  expect(second.mailbox.snapshot()).toEqual(kept);
  expect((await send(`${second.url}/v1/me`, 'GET', { key })).status).toBe(200);
  second.mailbox.reset();
  expect(second.mailbox.snapshot()).toEqual(start);
});

test('the keys and ids of a server are those of its state file until a reset', async (context) => {
  const { expect } = context;
  const state = join(await makeFolder(context), 'state.json');
  const former = createMailbox();
  const { helpdesk } = former.ids.acme.inboxes;
  const rotated = await senderTo(former)('POST', `/v1/inboxes/${helpdesk}/keys`, { key: former.keys.acme.tenant });
  await writeState(state, former.export());

  await using server = await startServer({ port: 0, state });
  const { keys } = server.mailbox;
  expect(keys.acme).toEqual({
    ...former.keys.acme,
    inboxes: { ...former.keys.acme.inboxes, helpdesk: rotated.json.key },
  });
  expect(server.mailbox.exposure(rotated.json.key).handle).toBe('acme.inboxes.helpdesk');
  server.mailbox.reset();
  expect(keys).toEqual(former.keys);
});

test('a command announces the keys and ids of its state file, and none that it does not have', async (context) => {
  const { expect } = context;
  const file = join(await makeFolder(context), 'state.json');
  const other = createMailbox({
    fixtures: { tenants: { initech: { workspaces: { main: { inboxes: { tps: {} } } } } } },
  });
  await writeState(file, other.export());
  const args = ['--port', '0', '--quiet', '--state', file];
  const { out } = await runHere([...args, '--json']);
  expect(JSON.parse(String(out))).toMatchObject({
    keys: { tenant: other.keys.initech.tenant, inbox: other.keys.initech.inboxes.tps },
    ids: other.ids,
  });
  const banner = String((await runHere(args)).out);
  expect(banner).toContain(other.keys.initech.inboxes.tps);
  expect(banner).not.toMatch(/undefined|acme/);

  await writeState(file, { tenants: {} });
  const { keys, ids } = JSON.parse(String((await runHere([...args, '--json'])).out));
  expect([Object.keys(keys), ids]).toEqual([['operator'], {}]);
});

test('a state file is written after each change, while the server runs', async (context) => {
  const { expect } = context;
  const state = join(await makeFolder(context), 'state.json');
  await using server = await startServer({ port: 0, state });
  await server.mailbox.receiveMessage({ to: 'info@globex.test', from: 'a@b.test', subject: 'Now' });
  await eventually(async () => {
    expect(createMailbox({ fixtures: await readFixture(state) }).snapshot()).toEqual(server.mailbox.snapshot());
  });
  server.mailbox.reset();
  await eventually(async () => {
    expect(createMailbox({ fixtures: await readFixture(state) }).snapshot()).toEqual(createMailbox().snapshot());
  });
});

const FIRST = '{"type":"state of agent-mailbox-mock","rows":1,"state":{"tenants":{}}}';

test.for<[content: string, problem: RegExp]>([
  ['', /^agent-mailbox-mock: The state file .+ cannot be loaded: it is empty\.$/],
  ['{"operator":', /cannot be loaded: line 1 is not JSON \(.+\)\.$/],
  ['{"tenants":{}}', /cannot be loaded: its first line must have the type "state of agent-mailbox-mock"; a fixture is/],
  [`${FIRST}\n`, /cannot be loaded: it has 0 rows instead of 1\.$/],
  [`${FIRST}\n{"at":["tenants"],"row":{}}\n`, /cannot be loaded: line 2 has no place in the state\.$/],
  [`${FIRST}\n{"at":["tenants","a"`, /cannot be loaded: line 2 is not JSON \(.+\)\.$/],
  [`${FIRST}\n{"at":["constructor","prototype"],"row":{}}\n`, /cannot be loaded: line 2 has no place in the state\.$/],
  [`${FIRST}\nnull`, /cannot be loaded: line 2 has no place in the state\.$/],
  [
    FIRST.replace('"rows":1', '"rows":0').replace('{}', '7'),
    /^agent-mailbox-mock: The state file .+: The fixture is not valid:\n {2}\$\.tenants must be an object$/,
  ],
])('a state file with %s is not loaded and stays as it is', async ([content, problem], context) => {
  const state = join(await makeFolder(context), 'state.json');
  await writeFile(state, content);
  const { code, err } = await runHere(['--port', '0', '--state', state]);
  context.expect([code, err]).toEqual([1, context.expect.stringMatching(problem)]);
  context.expect(await readFile(state, 'utf8')).toBe(content);
});

test('a state file that is a folder, or in no folder, is refused with one sentence', async (context) => {
  const folder = await makeFolder(context);
  const unreadable = await runHere(['--port', '0', '--state', folder]);
  context.expect(unreadable.code).toBe(1);
  context
    .expect(unreadable.err)
    .toBe(`agent-mailbox-mock: The state file ${folder} cannot be read: it is a directory.`);
  const nowhere = join(folder, 'none', 'state.json');
  const unwritable = await runHere(['--port', '0', '--state', nowhere]);
  context.expect(unwritable.code).toBe(1);
  context
    .expect(unwritable.err)
    .toBe(`agent-mailbox-mock: The state file ${nowhere} cannot be written: there is no such folder.`);
});

test('a state file that is a link stays one, and its target is written, also a new one', async (context) => {
  const { expect } = context;
  const folder = await makeFolder(context);
  await mkdir(join(folder, 'data'));
  await symlink(join('data', 'second'), join(folder, 'first'));
  await symlink(join('..', 'state.json'), join(folder, 'data', 'second'));
  for (const isNew of [true, false]) {
    await using server = await startServer({ port: 0, state: join(folder, 'first') });
    expect(Object.hasOwn(server.mailbox.keys, 'initech')).toBe(!isNew);
    server.mailbox.load({ tenants: { initech: {} } });
  }
  expect(await readlink(join(folder, 'data', 'second'))).toBe(join('..', 'state.json'));
  expect(Object.keys((await readFixture(join(folder, 'state.json'))).tenants)).toEqual(['initech']);
  expect([await readdir(folder), await readdir(join(folder, 'data'))]).toEqual([
    ['data', 'first', 'state.json'],
    ['second'],
  ]);

  await symlink('loop', join(folder, 'loop'));
  const looped = startServer({ port: 0, state: join(folder, 'loop') });
  await expect(looped).rejects.toThrow(/^The state file .+loop cannot be read: it is a link that leads to itself\.$/);
});

test('what an ended process has left beside a state file is removed', async (context) => {
  const folder = await makeFolder(context);
  await writeFile(join(folder, 'state.json.4194305.part'), '{');
  await writeFile(join(folder, 'other.json.4194305.part'), '{');
  // A folder cannot be removed so, and does no harm.
  await mkdir(join(folder, 'state.json.7.part'));
  await using _ = await startServer({ port: 0, state: join(folder, 'state.json') });
  context
    .expect((await readdir(folder)).sort())
    .toEqual(['other.json.4194305.part', 'state.json', 'state.json.7.part', 'state.json.lock']);
});

test('a kill at any moment of a write leaves the old file or the new one', async (context) => {
  const folder = await makeFolder(context);
  const program = await writeKilledProgram(folder);
  const files = Array.from({ length: 4 }, (_, number) => join(folder, `${number}.json`));
  for (const file of files) await writeFile(file, '0::0');
  const endings: string[] = [];
  for (let kill = 0; kill < 50; kill += 1) endings.push(...(await writeUntilKilled(program, files, kill * 7)));
  const torn = endings.filter((text) => !/^(\d+):(x*):\1$/.test(text));
  context.expect(endings).toHaveLength(200);
  context.expect(torn.map((text) => text.slice(0, 40))).toEqual([]);
});

/** Writes a program that replaces files at the same time; without TypeScript, because a process of it starts fast. */
async function writeKilledProgram(folder: string): Promise<string> {
  const source = await readFile(new URL('../../src/server/replace-file.ts', import.meta.url), 'utf8');
  const options = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 };
  await writeFile(
    join(folder, 'replace-file.mjs'),
    ts.transpileModule(source, { compilerOptions: options }).outputText,
  );
  const program = join(folder, 'program.mjs');
  await writeFile(
    program,
    `import { replaceFile } from './replace-file.mjs';
     const replaceAgain = async (file) => {
       for (let number = 0; ; number += 1) {
         await replaceFile(file, number + ':' + 'x'.repeat(300_000 + number) + ':' + number);
         process.stdout.write('.');
       }
     };
     for (const file of process.argv.slice(2)) replaceAgain(file);`,
  );
  return program;
}

/** Starts the program, kills it after a number of turns of the event loop, and returns what is in the files. */
async function writeUntilKilled(program: string, files: readonly string[], turns: number): Promise<string[]> {
  const child = spawn(process.execPath, [program, ...files], { stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = once(child, 'close');
  await once(child.stdout, 'data');
  for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate);
  child.kill('SIGKILL');
  await closed;
  return Promise.all(files.map((file) => readFile(file, 'utf8')));
}

test('a server that is killed while it writes starts again with its last data or those before', async (context) => {
  const { expect } = context;
  const state = join(await makeFolder(context), 'state.json');
  for (let round = 0; round < 3; round += 1) {
    const { running, ready } = await startCommand(context, ['--state', state]);
    const json = { name: `Round ${round}` };
    for (let count = 0; count < 20; count += 1) {
      expect((await send(`${ready.url}/v1/workspaces`, 'POST', { key: ready.keys.tenant, json })).status).toBeLessThan(
        500,
      );
      json.name = `Round ${round} ${count}`;
    }
    running.child.kill('SIGKILL');
    await running.ended;
    expect(createMailbox({ fixtures: await readFixture(state) }).snapshot().tenants).toHaveLength(2);
  }
});

test('a file that cannot be replaced is left as it is', async (context) => {
  const folder = await makeFolder(context);
  await mkdir(join(folder, 'state.json'));
  await context.expect(replaceFile(join(folder, 'state.json'), 'new')).rejects.toThrow();
  context.expect(await readdir(folder)).toEqual(['state.json']);
});

test('--watch loads a changed fixture again, and keeps the state if it is invalid', async (context) => {
  const { expect } = context;
  const folder = await makeFolder(context);
  const file = join(folder, 'fixture.json');
  const change = async (fixture: object) => {
    await writeFile(`${file}.new`, JSON.stringify(fixture));
    await rename(`${file}.new`, file);
  };
  await change({ tenants: { one: {} } });
  const { running, ready } = await startCommand(context, ['--fixtures', file, '--watch']);
  const tenants = async () => Object.keys((await send(`${ready.control}/export`, 'GET', {})).json.tenants);
  expect(await tenants()).toEqual(['one']);
  await change({ tenants: { two: {}, three: {} } });
  await running.untilStderr(/Loaded .+ again\./);
  expect(await tenants()).toEqual(['two', 'three']);
  await change({ tenants: { four: { id: '7' } } });
  await running.untilStderr(/The changed fixture was not loaded.+\n {2}\$\.tenants\.four\.id must be a UUID/);
  expect(await tenants()).toEqual(['two', 'three']);
});

test('--watch without a fixture file is refused', async ({ expect }) => {
  const { code, err } = await runHere(['--port', '0', '--watch']);
  expect([code, err]).toEqual([
    2,
    expect.stringContaining('The flag --watch needs a fixture file; name one with --fixtures <file>.'),
  ]);
});

test('what was acknowledged, and is in the state file, is there after kill -9', async (context) => {
  const { expect } = context;
  const state = join(await makeFolder(context), 'state.jsonl');
  const first = await startCommand(context, ['--state', state]);
  const json = { name: 'Survives' };
  const reply = await send(`${first.ready.url}/v1/workspaces`, 'POST', { key: first.ready.keys.tenant, json });
  expect(reply.status).toBe(201);
  await eventually(async () => expect(await readFile(state, 'utf8')).toContain('Survives'));
  first.running.child.kill('SIGKILL');
  await first.running.ended;
  const second = await startCommand(context, ['--state', state]);
  const { json: list } = await send(`${second.ready.url}/v1/workspaces`, 'GET', { key: second.ready.keys.tenant });
  expect(list.workspaces).toContainEqual(expect.objectContaining({ name: 'Survives' }));
});
