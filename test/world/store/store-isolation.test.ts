import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { DIST } from '../../support/dist.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { ROOT } from '../../support/root.ts';

const run = promisify(execFile);

// jsdom and a browser give @mswjs/data what it needs to mirror its writes to other tabs: a `window` and BroadcastChannel.
const LIKE_A_BROWSER = 'globalThis.window = globalThis; globalThis.addEventListener = () => {};';

const COUNT_CHANNELS = `
  let opened = 0;
  globalThis.BroadcastChannel = class extends BroadcastChannel {
    constructor(name) { super(name); opened += 1; }
  };`;

const USE_A_MAILBOX = `
  import { createMailbox } from '${pathToFileURL(join(DIST, 'index.js'))}';
  const before = Object.getOwnPropertyDescriptor(globalThis, 'BroadcastChannel');
  const mailbox = createMailbox();
  const headers = { 'X-API-Key': mailbox.keys.operator };
  const request = new Request('https://mailbox.test/v1/tenants', { method: 'POST', headers, body: '{"name":"Initech"}' });
  const { status } = await mailbox.fetch(request);
  mailbox.reset();
  const after = Object.getOwnPropertyDescriptor(globalThis, 'BroadcastChannel');`;

describe('in a realm with a window and a BroadcastChannel', () => {
  test('a mailbox does not keep the process alive', async () => {
    const said = await runScript(`${LIKE_A_BROWSER} ${USE_A_MAILBOX} console.log(status);`);
    expect(said).toBe('201');
  });

  test('a mailbox opens no channel, also for a tenant created later', async () => {
    const said = await runScript(`${LIKE_A_BROWSER} ${COUNT_CHANNELS} ${USE_A_MAILBOX} console.log(status, opened);`);
    expect(said).toBe('201 0');
  });

  test('a mailbox leaves the global BroadcastChannel as it was', async () => {
    const same = 'Object.keys(before).every((name) => before[name] === after[name])';
    const said = await runScript(`${LIKE_A_BROWSER} ${USE_A_MAILBOX} console.log(typeof before.value, ${same});`);
    expect(said).toBe('function true');
  });
});

/** Runs a module in a separate process and returns its output; rejects unless it exits by itself with 0. */
async function runScript(source: string): Promise<string> {
  const args = ['--input-type=module', '--eval', source];
  const { stdout } = await run(process.execPath, args, { cwd: ROOT, timeout: PATIENCE_MS });
  return stdout.trim();
}
