import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { run } from '../../../src/cli/run.ts';
import { NEVER } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';

/** Starts the command in this process, with somebody at its terminal. */
function startAtTerminal(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  interrupted: Promise<undefined> = NEVER,
) {
  const out: string[] = [];
  let type = (_line: string) => {};
  let isStopped = false;
  const ended = run({
    args: ['--port', '0', ...args],
    env,
    colour: false,
    out: (line) => out.push(line),
    err: (line) => out.push(line),
    input: async () => '',
    interrupted,
    readTypedLines(receive) {
      type = receive;
      return () => {
        isStopped = true;
      };
    },
  });
  return { out, ended, type: (line: string) => type(line), isStopped: () => isStopped };
}

const READY = /Inspector {2}(\S+)/;

describe('the command at a terminal', () => {
  test('resets, shows its keys and ends by what is typed', async ({ expect }) => {
    const terminal = startAtTerminal([]);
    await expect.poll(() => terminal.out.at(-1)).toBe('Type h and Enter for help.');
    terminal.type('h');
    expect(terminal.out.at(-1)).toBe(
      'o + Enter: open the inspector\nr + Enter: reset all data\nq + Enter: end\nh + Enter: show this help',
    );
    terminal.type(' r ');
    expect(terminal.out.at(-1)).toBe('All data were reset.');
    terminal.type('constructor');
    expect(terminal.out.at(-1)).toMatch(/^o \+ Enter/);
    terminal.type('q');
    expect(await terminal.ended).toBe(0);
    expect(terminal.isStopped()).toBe(true);
  });

  test('opens the inspector with --open, and by what is typed', async (context) => {
    const { expect } = context;
    const folder = await makeFolder(context);
    const browser = join(folder, 'browser.sh');
    await writeFile(browser, `#!/bin/sh\necho "$1" >> ${folder}/opened\n`);
    await chmod(browser, 0o755);
    const opened = async () => (await readFile(join(folder, 'opened'), 'utf8').catch(() => '')).trim().split('\n');
    const terminal = startAtTerminal(['--open'], { BROWSER: browser });
    await expect.poll(opened).toHaveLength(1);
    await expect.poll(opened).not.toEqual(['']);
    await expect.poll(() => terminal.out).toContain('Type h and Enter for help.');
    terminal.type('o');
    await expect.poll(opened).toHaveLength(2);
    const [, url = ''] = READY.exec(terminal.out.join('\n')) ?? [];
    expect(await opened()).toEqual([url, url]);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/__mock\/$/);
    terminal.type('q');
    await terminal.ended;
  });

  test('says so if there is no browser', async ({ expect }) => {
    const terminal = startAtTerminal(['--open'], { BROWSER: '/nowhere/browser' });
    await expect.poll(() => terminal.out.join('\n')).toMatch(/No browser could be started; open http:\S+ yourself\./);
    await expect.poll(() => terminal.out).toContain('Type h and Enter for help.');
    terminal.type('q');
    await terminal.ended;
  });

  test('says so if the browser fails', async ({ expect }) => {
    const terminal = startAtTerminal(['--open'], { BROWSER: '/bin/false' });
    await expect
      .poll(() => terminal.out.join('\n'))
      .toMatch(/\/bin\/false ended with the exit code 1; open http:\S+ yourself\./);
    await expect.poll(() => terminal.out).toContain('Type h and Enter for help.');
    terminal.type('q');
    await terminal.ended;
  });

  test('reads nothing with --json', async ({ expect }) => {
    let interrupt = () => {};
    const interrupted = new Promise<undefined>((resolve) => {
      interrupt = () => resolve(undefined);
    });
    const terminal = startAtTerminal(['--json'], {}, interrupted);
    await expect.poll(() => terminal.out.length).toBe(1);
    expect(JSON.parse(String(terminal.out[0]))).toHaveProperty('control');
    interrupt();
    expect(await terminal.ended).toBe(0);
    expect(terminal.isStopped()).toBe(false);
  });
});
