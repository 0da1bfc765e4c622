import { startServer } from 'agent-mailbox-mock/server';
import { expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';

test('an agent says that it is done by POST /trial/done, of a sandbox or with a key', async () => {
  await using server = await startServer({ port: 0 });
  const { mailbox, url } = server;
  const sandbox = mailbox.createSandbox();
  const post = (query: string, headers: Record<string, string> = {}, method = 'POST') =>
    fetch(`${url}/trial/done${query}`, { method, headers });
  const key = mailbox.keys.acme.tenant;
  expect((await post(`?sandbox=${sandbox.id}`)).status).toBe(204);
  expect((await post('', { 'X-API-Key': sandbox.keys.inboxes.helpdesk })).status).toBe(204);
  expect((await post('', { Authorization: `Bearer ${key}` })).status).toBe(204);
  expect((await post('')).status).toBe(204);
  expect((await post('?sandbox=none')).status).toBe(404);
  expect((await post('', { 'X-API-Key': 'tk_unknown_key_000' })).status).toBe(401);
  const wrong = await post('', {}, 'GET');
  expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST']);
  const said = mailbox.journal({ kinds: ['agent-done'] }).map(({ data }) => data.tenantId);
  expect(said.sort()).toEqual([sandbox.id, sandbox.id, mailbox.ids.acme.tenant, null].sort());
  expect(sandbox.journal({ kinds: ['agent-done'] })).toHaveLength(2);
  const events = [];
  for await (const event of sandbox.feed({ lastEventId: '0', follow: false })) events.push(event);
  expect(events).toContainEqual(expect.objectContaining({ kind: 'agent-done', tenantId: sandbox.id }));
  // It is no request of the service.
  expect(sandbox.requests()).toEqual([]);
});

test('openCalls counts the requests without a reply, and those by MCP, of their tenant alone', async () => {
  await using server = await startServer({ port: 0 });
  const { mailbox, url } = server;
  const [sandbox, other] = [mailbox.createSandbox(), mailbox.createSandbox()];
  sandbox.addFault('slow', { latency: { ms: 3_000 }, times: 2 });
  const headers = { 'X-API-Key': sandbox.keys.inboxes.helpdesk, 'Content-Type': 'application/json' };
  const rest = fetch(`${url}/v1/inboxes/${sandbox.ids.inboxes.helpdesk}/messages`, { headers });
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'listMessages', arguments: {} } };
  const mcp = fetch(`${url}/mcp`, { method: 'POST', headers, body: JSON.stringify(call) });
  // A tool makes a request, so its message and the request count.
  await eventually(() => expect(sandbox.openCalls().requests).toBe(3));
  expect([mailbox.openCalls().requests, other.openCalls().requests]).toEqual([3, 0]);
  await Promise.all([rest, mcp]);
  await eventually(() => expect(sandbox.openCalls()).toEqual({ requests: 0, deliveries: 0 }));
});
