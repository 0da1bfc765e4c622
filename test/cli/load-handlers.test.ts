import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test, vi } from 'vitest';
import { runHere } from '../support/command.ts';
import { makeFolder } from '../support/folder.ts';
import { runCommand, startCommand } from '../support/processes.ts';
import { ROOT } from '../support/root.ts';

// Each process takes its time to start while other tests keep this machine busy.
vi.setConfig({ testTimeout: 60_000 });

/** Writes a file from which msw can be imported. */
async function writeWithMsw({ onTestFinished }: TestContext, name: string, code: string): Promise<string> {
  const cache = join(ROOT, 'node_modules/.cache');
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'handlers-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, name), code);
  return join(folder, name);
}

const IMPORT = "import { http, HttpResponse } from 'msw';";
const REQUIRE = "const { http, HttpResponse } = require('msw');";

test.for<[what: string, name: string, code: string]>([
  ['a list', 'list.mjs', `${IMPORT} export default [http.get('/key', () => HttpResponse.json('tk_acme_tenant_key'))];`],
  [
    'a function of the mailbox',
    'function.mjs',
    `${IMPORT} export default ({ keys }) => [http.get('/key', () => HttpResponse.json(keys.acme.tenant))];`,
  ],
  [
    'an export named handlers',
    'named.mjs',
    `${IMPORT} export const handlers = [http.get('/key', () => HttpResponse.json('tk_acme_tenant_key'))];`,
  ],
  [
    'a CommonJS module',
    'list.cjs',
    `${REQUIRE} module.exports = { handlers: [http.get('/key', () => HttpResponse.json('tk_acme_tenant_key'))] };`,
  ],
])('serves the handlers of %s', async ([, name, code], test) => {
  const { ready } = await startCommand(test, ['--handlers', await writeWithMsw(test, name, code)]);
  test.expect(await (await fetch(`${ready.url}/key`)).json()).toBe(ready.keys.tenant);
  const reply = await fetch(`${ready.url}/v1/webhooks`, { headers: { 'X-API-Key': ready.keys.tenant } });
  test.expect(reply.status).toBe(200);
});

test.for<[what: string, code: string, said: RegExp]>([
  ['without handlers', 'export const other = [];', /must export, by default or as handlers, a list of msw handlers/],
  ['that throws', 'throw new Error("I am broken.\\nBadly.");', /cannot be loaded: I am broken\.$/],
  ['that is not JavaScript', 'export default [;', /cannot be loaded: \S.*\.$/],
  ['whose function throws', 'export default () => { throw new Error("no keys"); };', /cannot be loaded: no keys\.$/],
  ['with another kind of handler', 'export default [{}];', /handlers\[0\] is neither\.$/],
  ['whose function returns no list', 'export default () => ({});', /must be a list, or a function that returns a list/],
  ['with an import that is missing', 'import "./missing.mjs";', /cannot be loaded: Cannot find module '.*missing\.mjs/],
])('says in one sentence what is wrong with a file %s', async ([, code, said], test) => {
  const file = join(await makeFolder(test), 'handlers.mjs');
  await writeFile(file, code);
  const { code: exitCode, err } = await runHere(['--port', '0', '--handlers', file]);
  test.expect([exitCode, err.split('\n').length]).toEqual([1, 1]);
  test.expect(err).toMatch(said);
});

test('says that a file is missing', async ({ expect }) => {
  const { code, err } = await runHere(['--port', '0', '--handlers', 'nowhere.mjs']);
  const said = 'agent-mailbox-mock: The handlers file nowhere.mjs cannot be read: there is no such file.';
  expect([code, err]).toEqual([1, said]);
});

test.for<[name: string, code: string]>([
  ['handlers.mjs', IMPORT],
  ['handlers.cjs', REQUIRE],
])('says how to install msw if %s cannot import it', async ([name, code], test) => {
  const file = join(await makeFolder(test), name);
  await writeFile(file, code);
  const running = runCommand(test, ['--port', '0', '--handlers', file]);
  test.expect((await running.ended).code).toBe(1);
  test
    .expect(running.stderr)
    .toBe(
      'agent-mailbox-mock: Your handlers need msw, which is not installed; install it with npm install --save-dev msw.\n',
    );
});
