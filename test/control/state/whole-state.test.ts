import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startServer } from 'agent-mailbox-mock/server';
import { test, vi } from 'vitest';
import { makeFolder } from '../../support/folder.ts';
import { serve } from '../../support/serve.ts';

test('a server that comes back has its sandboxes, with keys, mail, clocks and faults', async (context) => {
  const { expect } = context;
  const state = join(await makeFolder(context), 'state.json');
  const before = await startServer({ port: 0, state });
  before.mailbox.clock.freeze('2027-01-01T00:00:00Z');
  const sandbox = before.mailbox.createSandbox({ name: 'worker 1' });
  const other = before.mailbox.createSandbox({ seed: 7 });
  await sandbox.receiveMessage({ to: `helpdesk@${sandbox.domain}`, from: 'dana@customer.test', subject: 'Canary' });
  sandbox.clock.freeze('2026-03-01T09:00:00Z');
  const fault = sandbox.addFault({ on: 'request', operation: 'sendMessage', status: 503, times: 2 });
  const expected = [sandbox.snapshot(), other.snapshot()];
  await before.close();

  await using after = await startServer({ port: 0, state });
  const [first, second] = after.mailbox.sandboxes();
  expect([first?.snapshot(), second?.snapshot()].sort(byId)).toEqual(expected.sort(byId));
  const again = after.mailbox.sandbox(sandbox.id);
  const { id, name, domain, keys, ids } = again;
  expect({ id, name, domain, keys, ids }).toEqual({
    ...{ id: sandbox.id, name: 'worker 1', domain: sandbox.domain },
    ...{ keys: sandbox.keys, ids: sandbox.ids },
  });
  expect(again.clock.now().toISOString()).toBe('2026-03-01T09:00:00.000Z');
  expect(again.faults()).toEqual([fault]);
  expect(after.mailbox.clock.now().toISOString()).toBe('2027-01-01T00:00:00.000Z');
  expect(after.mailbox.sandbox(other.id).clock.now().toISOString()).toBe('2027-01-01T00:00:00.000Z');
  const headers = { 'X-API-Key': sandbox.keys.tenant };
  expect((await fetch(`${after.url}/v1/messages`, { headers })).status).toBe(200);
});

test('a change of a sandbox, a clock or a fault alone is written too', async (context) => {
  const { expect } = context;
  const state = join(await makeFolder(context), 'state.json');
  await using server = await startServer({ port: 0, state });
  const kept = async () => JSON.parse(await readFile(state, 'utf8')).kept;
  const { id, clock, addFault, close } = server.mailbox.createSandbox();
  await vi.waitFor(async () => expect((await kept()).sandboxes[0].fixture.tenants.acme.id).toBe(id));
  clock.freeze('2026-03-01T09:00:00Z');
  await vi.waitFor(async () => {
    expect((await kept()).sandboxes[0].clock.frozenMs).toBe(Date.parse('2026-03-01T09:00:00Z'));
  });
  const fault = addFault({ on: 'request', status: 500 });
  await vi.waitFor(async () => expect((await kept()).sandboxes[0].parts.faults[0].fault).toEqual(fault));
  close();
  await vi.waitFor(async () => expect((await kept()).sandboxes).toEqual([]));
});

test('deliveries that wait or are held go on in the next process', async (context) => {
  const { expect } = context;
  const state = join(await makeFolder(context), 'state.json');
  let status = 500;
  const bodies: string[] = [];
  await using receiver = await serve(async (request, response) => {
    const body = await request.setEncoding('utf8').toArray();
    bodies.push(body.join(''));
    response.writeHead(status).end();
  });
  const before = await startServer({ port: 0, state });
  const sandbox = before.mailbox.createSandbox();
  await sandbox.addWebhook({ url: receiver.url, events: ['message.received'] });
  const mail = { to: `helpdesk@${sandbox.domain}`, from: 'dana@customer.test' };
  await sandbox.receiveMessage({ ...mail, subject: 'Fails once' });
  await vi.waitFor(() => expect(sandbox.deliveries()[0]?.attempts).toHaveLength(1));
  sandbox.addFault({ on: 'delivery', kind: 'hold' });
  await sandbox.receiveMessage({ ...mail, subject: 'Is held' });
  const waiting = sandbox.deliveries();
  expect(waiting.map((delivery) => delivery.state)).toEqual(['pending', 'held']);
  await before.close();

  status = 200;
  await using after = await startServer({ port: 0, state });
  const again = after.mailbox.sandbox(sandbox.id);
  expect(again.deliveries()).toEqual(waiting);
  again.release();
  await again.clock.advance('5s');
  await vi.waitFor(() => expect(again.deliveries().map((each) => each.state)).toEqual(['delivered', 'delivered']));
  expect(again.deliveries()[0]?.attempts).toHaveLength(2);
  expect(bodies).toHaveLength(3);
  expect(bodies[0]).toBe(bodies.find((body, index) => index > 0 && body.includes('Fails once')));
});

type Snapshot = { readonly tenants: readonly { readonly id: string }[] } | undefined;

function byId(one: Snapshot, two: Snapshot): number {
  return String(one?.tenants[0]?.id).localeCompare(String(two?.tenants[0]?.id));
}
