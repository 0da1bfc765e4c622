import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'vitest';
import { DIST } from '../support/dist.ts';
import { IDS } from '../support/ids.ts';

const require = createRequire(import.meta.url);

/** What a test runner does that resets modules: what is loaded later is a second copy. */
function forgetModules(): void {
  for (const file of Object.keys(require.cache)) if (file.startsWith(DIST)) delete require.cache[file];
}

const UNKNOWN = '00000000-0000-4000-8000-000000000000';

test.for([
  ['POST', '/events', { event: 'message.received', inboxId: UNKNOWN }, 404],
  ['POST', '/faults', { on: 'request' }, 400],
  ['POST', '/sandboxes', { fixture: { tenants: { acme: { slogan: 'x' } } } }, 400],
  ['POST', '/messages', { to: 'nobody@acme.test', from: 'dana@customer.test' }, 404],
  ['POST', '/correspondents', { kind: 'person', address: 'helpdesk@acme.test', replies: ['Hi'] }, 409],
  ['GET', `/messages/search?tenant=${UNKNOWN}`, undefined, 404],
  ['GET', `/requests?tenant=${IDS.acme.tenant}`, undefined, 200],
] as const)('%s %s with %j is answered as before after the modules were reset', async (row, { expect }) => {
  const [method, path, body, status] = row;
  const { startServer } = require(join(DIST, 'server.cjs')) as typeof import('agent-mailbox-mock/server');
  await using server = await startServer({ port: 0 });
  forgetModules();
  const headers = { 'Content-Type': 'application/json' };
  const reply = await fetch(server.control + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  expect([reply.status, await reply.json()]).toEqual([status, expect.anything()]);
});

test('a fixture error of a second copy is one of the first copy too', ({ expect }) => {
  const { createMailbox, FixtureError } = require(
    join(DIST, 'index.require.cjs'),
  ) as typeof import('agent-mailbox-mock');
  forgetModules();
  expect(() => createMailbox({ fixtures: JSON.parse('{"tenants":{"acme":{"slogan":1}}}') })).toThrow(FixtureError);
});
