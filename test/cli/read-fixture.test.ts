import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createMailbox } from 'agent-mailbox-mock';
import { test, vi } from 'vitest';
import { linesOf, runHere } from '../support/command.ts';
import { makeFolder, writeFixture } from '../support/folder.ts';
import { COMMAND, run, runCommand } from '../support/processes.ts';
import { ROOT } from '../support/root.ts';

// Each process takes its time to start while other tests keep this machine busy.
vi.setConfig({ testTimeout: 60_000 });

const { acme, operator } = createMailbox().keys;

test.for<[title: string, content: string, said: RegExp]>([
  ['is empty', '', /cannot be read as JSON: value expected at line 1, column 1\.$/],
  ['is not JSON', '{\n  "operator":\n}\n', /cannot be read as JSON: value expected at line 3, column 1\.$/],
  ['has words after it', '{}\r\n  {}', /cannot be read as JSON: end of file expected at line 2, column 3\.$/],
  ['has a comment without end', '{}\n/* ', /cannot be read as JSON: unexpected end of comment at line 2, column 1\.$/],
  [
    'names something twice',
    '{\n  "tenants": {},\n  "tenants": {}\n}',
    /cannot be read as JSON: duplicate key "tenants" at line 3, column 3\.$/,
  ],
  [
    'is nested far too deep',
    `{"tenants":{"acme":${'['.repeat(100_000)}`,
    /cannot be read as JSON: \$\.tenants\.acme(\[0\]){10} is nested more than 64 levels deep, at line 1, column 82\.$/,
  ],
  [
    'hides a handle from JavaScript',
    '{"tenants":{"__proto__":{}}}',
    /:\n {2}\$\.tenants\.__proto__ must not be a handle$/,
  ],
  ['is null', 'null', /\n {2}\$ must be an object with tenants, such as \{"tenants":\{\}\}$/],
  ['is a list', '[]', /\n {2}\$ must be an object with tenants, such as \{"tenants":\{\}\}$/],
  ['holds nothing', '{}', /:\n {2}\$\.tenants is required$/],
  ['has a tenant that is null', '{"tenants":{"acme":null}}', /\n {2}\$\.tenants\.acme must be an object$/],
  ['has a name that breaks lines', '{"tenants":{"a\\n\\u001b":{}}}', /\n {2}\$\.tenants\["a\\n\\u001b"\] as a handle/],
])('cannot run on a fixture file that %s', async ([, content, said], test) => {
  const file = await writeFixture(test, content);
  const { code, out, err } = await runHere(['-p', '0', '-f', file]);
  test.expect(err).toMatch(said);
  test.expect(err).toContain(file);
  test.expect({ code, out }).toEqual({ code: 1, out: [] });
});

test.for<[title: string, path: string, said: RegExp]>([
  [
    'is not there',
    join(ROOT, 'fixtures/none.json'),
    /^agent-mailbox-mock: .+none\.json cannot be read: there is no such file\.$/,
  ],
  ['is a folder', join(ROOT, 'fixtures'), /^agent-mailbox-mock: .+fixtures cannot be read: it is a directory\.$/],
])('cannot run on a fixture file that %s, nor check it', async ([, path, said], { expect }) => {
  for (const args of [
    ['-p', '0', '-f', path],
    ['validate', path],
  ]) {
    const { code, out, err } = await runHere(args);
    expect(err).toMatch(said);
    expect({ code, out }).toEqual({ code: 1, out: [] });
  }
});

test('prints every problem of a fixture with its JSON path, without a stack', async (test) => {
  const fixture = JSON.parse(await readFile(join(ROOT, 'fixtures/default.json'), 'utf8'));
  fixture.tenants.acme.key.key = 'secret';
  fixture.tenants.acme.workspaces.support.inboxes.helpdesk.messages[0].to = [];
  fixture.tenants.acme.webhooks.stray = {
    ...Object.values<object>(fixture.tenants.acme.webhooks)[0],
    workspace: 'none',
  };
  fixture.tenants.globex.name = '';
  const file = await writeFixture(test, JSON.stringify(fixture));

  const running = runCommand(test, ['--port', '0', '--fixtures', file]);

  test.expect(await running.ended).toEqual({ code: 1, signal: null });
  test.expect(running.stdout).toBe('');
  const [head, ...problems] = linesOf(running.stderr);
  test.expect(head).toBe(`agent-mailbox-mock: ${file}: The fixture is not valid:`);
  test
    .expect(problems.map((line) => line.trim().split(' ')[0]).sort())
    .toEqual([
      '$.tenants.acme.key.key',
      '$.tenants.acme.webhooks.stray.id',
      '$.tenants.acme.webhooks.stray.workspace',
      '$.tenants.acme.workspaces.support.inboxes.helpdesk.messages[0].to',
      '$.tenants.globex.name',
    ]);
});

test('starts with the fixture that init writes, which validate accepts', async (test) => {
  const file = join(await makeFolder(test), 'mailbox.jsonc');

  const written = await runHere(['init', file]);
  test.expect(written).toEqual({
    code: 0,
    out: [`Wrote ${file}. Change it, then run: npx agent-mailbox-mock --fixtures ${file}`],
    err: '',
  });
  test.expect(await readFile(file, 'utf8')).toMatch(/^\/\/ .+\n/);

  test.expect(await runHere(['validate', file])).toEqual({
    code: 0,
    out: [
      `${file} is a valid fixture: 1 tenant, 1 workspace, 1 inbox, 2 messages, 1 attachment, 1 draft, 1 list, 2 domains, 1 webhook.`,
    ],
    err: '',
  });

  const started = await runHere(['-p', '0', '-f', file, '--json']);
  test.expect(started.code).toBe(0);
  test.expect(JSON.parse(started.out.join()).keys).toEqual({
    operator,
    tenant: acme.tenant,
    workspace: acme.workspaces.support,
    inbox: acme.inboxes.helpdesk,
  });
});

test('writes a fixture with init whose comments are all true', async (test) => {
  const file = join(await makeFolder(test), 'mailbox.jsonc');
  await runHere(['init', file]);
  const told = (await readFile(file, 'utf8')).match(/\b[tw]k_\w+|\bak_\w+|\w+@acme\.test/g);
  test.expect(told).toEqual([acme.tenant, acme.workspaces.support, 'helpdesk@acme.test', acme.inboxes.helpdesk]);
});

test('writes mailbox.jsonc if init is given no file, and never over a file', async (test) => {
  const folder = await makeFolder(test);
  const init = async () => {
    const running = run(test, [...COMMAND, 'init'], { cwd: folder });
    return { ...(await running.ended), out: running.stdout, err: running.stderr };
  };
  const file = join(folder, 'mailbox.jsonc');

  test.expect(await init()).toMatchObject({ code: 0, err: '' });
  await writeFile(file, 'mine');
  test.expect(await init()).toEqual({
    code: 1,
    signal: null,
    out: '',
    err: 'agent-mailbox-mock: The file mailbox.jsonc cannot be written: it exists already; choose another name, or replace it with --force.\n',
  });
  test.expect(await readFile(file, 'utf8')).toBe('mine');
});

test('uses the mailbox.jsonc that init has written to the folder, and says so', async (test) => {
  const cwd = await makeFolder(test);
  const start = (...args: string[]) => run(test, [...COMMAND, '--port', '0', ...args], { cwd });
  const written = run(test, [...COMMAND, 'init'], { cwd });
  await written.ended;
  test.expect(written.stdout).toBe('Wrote mailbox.jsonc. Change it, then run: npx agent-mailbox-mock\n');

  const banner = await start().untilStdout(/Ready\.\n/);
  test.expect(banner).toMatch(/^ {2}Fixture +mailbox\.jsonc$/m);
  const ready = JSON.parse(await start('--json').untilStdout(/\n/));
  test.expect(ready.fixtures).toBe('mailbox.jsonc');
  test.expect(Object.keys(ready.ids.acme.webhooks)).toEqual(['audit']);

  await writeFile(join(cwd, 'other.json'), '{ "tenants": {} }');
  const other = JSON.parse(await start('--json', '-f', 'other.json').untilStdout(/\n/));
  test.expect([other.fixtures, other.ids]).toEqual(['other.json', {}]);

  await writeFile(join(cwd, 'mailbox.jsonc'), '{}');
  const broken = start();
  test.expect(await broken.ended).toEqual({ code: 1, signal: null });
  test.expect(broken.stderr).toMatch(/^agent-mailbox-mock: mailbox\.jsonc: The fixture is not valid:\n/);
});

test('suggests a request that succeeds with the fixture, even an empty one', async (test) => {
  const linesFor = async (fixture: object) => {
    const file = await writeFixture(test, JSON.stringify(fixture));
    return linesOf((await runHere(['-p', '0', '-f', file])).out.join('\n')).map((line) =>
      line.replace(/:\d{2,}/, ':N'),
    );
  };
  test
    .expect(await linesFor({ tenants: {} }))
    .toContain(`  curl http://127.0.0.1:N/v1/tenants -H 'X-API-Key: ${operator}' -d '{"name":"Acme"}'`);
  const named = await linesFor({ tenants: { acme: { name: `\u001b[31m${'Acme '.repeat(20)}` } } });
  test.expect(named).toContain(`  tenant    [31m${'Acme '.repeat(5)}Ac…  ${acme.tenant}`);
  test.expect(named).toContain(`  curl http://127.0.0.1:N/v1/messages -H 'X-API-Key: ${acme.tenant}'`);
});

test('cannot write a fixture into a folder that does not exist', async (test) => {
  const { code, out, err } = await runHere(['init', join(await makeFolder(test), 'none/mailbox.jsonc')]);
  test.expect(err).toMatch(/cannot be written: there is no such folder\.$/);
  test.expect({ code, out }).toEqual({ code: 1, out: [] });
});

test.for<[file: string, counts: string]>([
  [
    'fixtures/default.json',
    '2 tenants, 3 workspaces, 4 inboxes, 6 messages, 2 attachments, 1 draft, 1 list, 3 domains, 3 webhooks',
  ],
  ['fixtures/empty.json', '0 tenants'],
])('finds %s valid', async ([name, counts], { expect }) => {
  const file = join(ROOT, String(name));
  const out = [`${file} is a valid fixture: ${counts}.`];
  expect(await runHere(['validate', file])).toEqual({ code: 0, out, err: '' });
});

test('names every problem of the fixture that it checks', async (test) => {
  const file = await writeFixture(
    test,
    '{ "operator": { "key": "mine" }, // a comment\n "tenants": { "a b": {}, "c": { "webhooks": { "d": {}, } } } }',
  );
  test.expect(await runHere(['validate', file])).toEqual({
    code: 1,
    out: [],
    err: [
      `agent-mailbox-mock: ${file}: The fixture is not valid:`,
      '  $.operator.key must be sa_ followed by at least ten letters, digits, _ or -',
      '  $.tenants["a b"] as a handle must start with a lower-case letter, then letters, digits or -',
      '  $.tenants.c.webhooks.d.url is required',
    ].join('\n'),
  });
});

test('says why a large fixture takes a while', async (test) => {
  const small = await runHere(['validate', await writeFixture(test, '{"tenants":{}}')]);
  test.expect(small).toMatchObject({ code: 0, err: '' });
  const file = await writeFixture(test, `{"tenants":{}}${' '.repeat(20 * 1024 * 1024)}`);
  const { code, err } = await runHere(['validate', file]);
  test
    .expect(err.trim())
    .toBe(`Loading ${file} takes a while: it has 20 MiB, and every part of it is checked and sorted.`);
  test.expect(code).toBe(0);
});

test('starts with a fixture file that has a byte order mark', async (test) => {
  const file = await writeFixture(test, `\uFEFF${await readFile(join(ROOT, 'fixtures/empty.json'), 'utf8')}`);
  const { code, out } = await runHere(['-p', '0', '-f', file, '--json']);
  test.expect(code).toBe(0);
  test.expect(JSON.parse(out.join()).keys).toEqual({ operator });
});
