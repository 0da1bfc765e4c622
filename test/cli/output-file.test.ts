import { chmod, lstat, mkdir, readdir, readFile, readlink, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createMailbox } from 'agent-mailbox-mock';
import { expect, type TestContext, test } from 'vitest';
import { JUNIT_MARK, PAGE_MARK } from '../../src/basics/written-by.ts';
import { checkOutput, OUTPUT_KINDS, writeOutput } from '../../src/cli/output-file.ts';
import { runHere } from '../support/command.ts';
import { makeFolder } from '../support/folder.ts';
import { ROOT } from '../support/root.ts';

const testUnix = test.runIf(process.platform !== 'win32');

/** What somebody else may have in a file whose name a flag has. */
const FOREIGN = [
  'my notes\n',
  '<!doctype html>\n<html><head><title>Mine</title></head></html>\n',
  '<?xml version="1.0" encoding="UTF-8"?>\n<testsuite name="verify"/>\n',
  '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="evaluate"/>\n',
  '{"type":"trace","version":1,"writtenBy":{"name":"another-program"}}\n',
  '{"behaviours":{}}\n',
  '{"openapi":"3.1.0","info":{"title":"Mine"}}\n',
  '\u0000\u0001\u0002',
];

/** The command lines that write a file, each with what it writes by itself. */
async function listWriters(context: TestContext): Promise<(readonly [args: string[], own: RegExp])[]> {
  const folder = await makeFolder(context);
  const har = join(folder, 'calls.har');
  const entry = {
    request: {
      method: 'GET',
      url: 'https://api.example.com/v1/me',
      headers: [{ name: 'X-API-Key', value: 'tk_acme_tenant_key' }],
    },
    response: { status: 200, headers: [], content: { text: '{}' } },
  };
  await writeFile(har, JSON.stringify({ log: { entries: [entry] } }));
  return [
    [['verify', '--har', har, '--junit'], /^<\?xml .*\n<!-- Written by agent-mailbox-mock -->\n/],
    [['verify', '--har', har, '--write-profile'], /^\{\n {2}"behaviours"/],
    [['openapi'], /^\{\n {2}"openapi"/],
    [['client', 'python'], /^# |^"""/],
    [['init'], /^\/\/ The data/],
    [['profile', 'init', '--file'], /^\{\n {2}"behaviours"/],
  ];
}

test('no command replaces a file that it did not write without --force, and none leaves anything beside it', async (context) => {
  for (const [args, own] of await listWriters(context)) {
    const folder = await makeFolder(context);
    const file = join(folder, 'out');
    for (const text of FOREIGN) {
      await writeFile(file, text);
      const refused = await runHere([...args, file]);
      expect([args[0], refused.code, refused.err]).toEqual([
        args[0],
        1,
        expect.stringMatching(
          /^agent-mailbox-mock: The file .*out (?:exists, and this command did not write it|cannot be written: it exists already); choose another name, or replace it with --force\.$/,
        ),
      ]);
      expect(await readFile(file, 'utf8')).toBe(text);
    }
    await runHere([...args, file, '--force']);
    expect(await readFile(file, 'utf8')).toMatch(own);
    expect(await readdir(folder)).toEqual(['out']);
  }
});

test('a command replaces what it wrote itself, and an empty file, unless people change it by hand', async (context) => {
  for (const [args, own] of await listWriters(context)) {
    const file = join(await makeFolder(context), 'out');
    await writeFile(file, '');
    await runHere([...args, file]);
    const first = await readFile(file, 'utf8');
    expect(first).toMatch(own);
    const again = await runHere([...args, file]);
    const isByHand = ['init', 'profile'].includes(args[0] ?? '');
    expect([args[0], again.err.includes('it exists already')]).toEqual([args[0], isByHand]);
  }
});

test('show and evaluate refuse a foreign file before they do anything', async (context) => {
  const folder = await makeFolder(context);
  const [trace, file, scenario] = [join(folder, 'trace.jsonl'), join(folder, 'out'), join(ROOT, 'fixtures/scenarios')];
  await writeFile(trace, await createMailbox().trace());
  for (const text of FOREIGN) {
    await writeFile(file, text);
    for (const args of [
      ['show', trace, '--html', file],
      ['evaluate', scenario, '--agent-url', 'http://127.0.0.1:9/', '--html', file],
      ['evaluate', scenario, '--agent-url', 'http://127.0.0.1:9/', '--junit', file],
      ['exec', '--trace', file, '--', 'true'],
    ]) {
      expect([args[0], (await runHere(args)).err]).toEqual([args[0], expect.stringContaining('did not write it')]);
      expect(await readFile(file, 'utf8')).toBe(text);
    }
  }
  // The trace that is shown is no page.
  expect((await runHere(['show', trace, '--html', trace])).err).toContain('did not write it');
});

test('a file is recognised by the mark of its own kind', () => {
  const page = `<!doctype html>\n<html>\n<head>\n${PAGE_MARK}\n</head></html>`;
  const junit = `<?xml version="1.0" encoding="UTF-8"?>\n${JUNIT_MARK}\n<testsuites/>`;
  expect([OUTPUT_KINDS.page, OUTPUT_KINDS.junit].map((kind) => [page, junit].map(kind.isOwn))).toEqual([
    [true, false],
    [false, true],
  ]);
  // What a mail in a page of somebody else says.
  expect(OUTPUT_KINDS.page.isOwn(`<!doctype html>\n<body>${'x'.repeat(5000)}${PAGE_MARK}`)).toBe(false);
});

testUnix('a link stays a link, and the file that it names is replaced', async (context) => {
  const folder = await makeFolder(context);
  const [link, target] = [join(folder, 'link'), join(folder, 'target')];
  await symlink('target', link);
  const write = (force: boolean) => writeOutput(link, OUTPUT_KINDS.junit, JUNIT_MARK, { force });
  await expect(write(true)).rejects.toThrow(
    `The file ${link} cannot be written: it is a link to a file that does not exist.`,
  );
  await writeFile(target, 'mine');
  await expect(write(false)).rejects.toThrow('did not write it');
  await write(true);
  expect([await readlink(link), await readFile(target, 'utf8')]).toEqual(['target', JUNIT_MARK]);
  expect((await lstat(target)).isFile()).toBe(true);
  await symlink('loop', join(folder, 'loop'));
  await expect(checkOutput(join(folder, 'loop'), OUTPUT_KINDS.junit, { force: true })).rejects.toThrow(
    'leads to itself',
  );
});

testUnix('what is no regular file is never replaced, not even by --force', async (context) => {
  const folder = await makeFolder(context);
  const readOnly = join(folder, 'read-only');
  await writeFile(readOnly, `<?xml version="1.0"?>\n${JUNIT_MARK}`);
  await chmod(readOnly, 0o444);
  await mkdir(join(folder, 'directory'));
  const problems = {
    '/dev/null': 'it is a pipe, a socket or a device; name a regular file instead.',
    [join(folder, 'directory')]: 'it is a directory.',
    [readOnly]: 'it may only be read; choose another name.',
    [join(folder, 'missing', 'file')]: 'there is no such folder.',
    [join(readOnly, 'file')]: 'there is no such folder.',
  };
  for (const [file, problem] of Object.entries(problems)) {
    for (const force of [false, true]) {
      const message = `The file ${file} cannot be written: ${problem}`;
      await expect(checkOutput(file, OUTPUT_KINDS.junit, { force })).rejects.toThrow(message);
      await expect(writeOutput(file, OUTPUT_KINDS.junit, 'x', { force })).rejects.toThrow(message);
    }
  }
  expect((await stat('/dev/null')).isCharacterDevice()).toBe(true);
});

testUnix('a file with mails or keys is for its user alone, and another keeps its permissions', async (context) => {
  const folder = await makeFolder(context);
  const modeOf = async (name: string) => (await stat(join(folder, name))).mode & 0o777;
  await writeFile(join(folder, 'open'), '', { mode: 0o644 });
  await writeOutput(join(folder, 'open'), OUTPUT_KINDS.profile, '{}', { force: false });
  await writeFile(join(folder, 'page'), '', { mode: 0o644 });
  await writeOutput(join(folder, 'page'), OUTPUT_KINDS.page, 'x', { force: false });
  expect([await modeOf('open'), await modeOf('page')]).toEqual([0o644, 0o600]);
});

test('a write that fails half-way leaves the file as it was, and nothing beside it', async (context) => {
  const folder = await makeFolder(context);
  const file = join(folder, 'out');
  const old = `<?xml version="1.0"?>\n${JUNIT_MARK}\n`;
  await writeFile(file, old);
  function* fail() {
    yield 'a'.repeat(1000);
    throw new Error('There is no more.');
  }
  await expect(writeOutput(file, OUTPUT_KINDS.junit, fail(), { force: true })).rejects.toThrow('There is no more');
  expect([await readFile(file, 'utf8'), await readdir(folder)]).toEqual([old, ['out']]);
});
