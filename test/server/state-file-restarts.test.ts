import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Environment } from 'agent-mailbox-mock';
import { startServer } from 'agent-mailbox-mock/server';
import { test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { makeFolder } from '../support/folder.ts';
import { serve } from '../support/serve.ts';

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
    id: sandbox.id,
    name: 'worker 1',
    domain: sandbox.domain,
    keys: sandbox.keys,
    ids: sandbox.ids,
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
  const kept = async () => JSON.parse((await readFile(state, 'utf8')).split('\n')[0] ?? '').state.kept;
  const { id, clock, addFault, close } = server.mailbox.createSandbox();
  await eventually(async () => expect((await kept()).sandboxes[0].fixture.tenants.acme.id).toBe(id));
  clock.freeze('2026-03-01T09:00:00Z');
  await eventually(async () => {
    expect((await kept()).sandboxes[0].clock.frozenMs).toBe(Date.parse('2026-03-01T09:00:00Z'));
  });
  const fault = addFault({ on: 'request', status: 500 });
  await eventually(async () => expect((await kept()).sandboxes[0].parts.faults[0].fault).toEqual(fault));
  close();
  await eventually(async () => expect((await kept()).sandboxes).toEqual([]));
});

test('a fault that is added after a restart is later than those that came back', async (context) => {
  const { expect } = context;
  const state = join(await makeFolder(context), 'state.json');
  const before = await startServer({ port: 0, state });
  const sandbox = before.mailbox.createSandbox();
  for (const status of [501, 502]) sandbox.addFault({ on: 'request', status, times: 2 });
  await before.close();

  await using after = await startServer({ port: 0, state });
  const again = after.mailbox.sandbox(sandbox.id);
  again.addFault({ on: 'request', status: 503 });
  expect(again.faults()).toMatchObject([{ status: 501 }, { status: 502 }, { status: 503 }]);
  const headers = { 'X-API-Key': sandbox.keys.tenant };
  const statuses: number[] = [];
  for (let count = 0; count < 5; count += 1) statuses.push((await fetch(`${after.url}/v1/me`, { headers })).status);
  expect(statuses).toEqual([501, 501, 502, 502, 503]);
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
  await eventually(() => expect(sandbox.deliveries()[0]?.attempts).toHaveLength(1));
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
  await eventually(() => expect(again.deliveries().map((each) => each.state)).toEqual(['delivered', 'delivered']));
  expect(again.deliveries()[0]?.attempts).toHaveLength(2);
  expect(bodies).toHaveLength(3);
  expect(bodies[0]).toBe(bodies.find((body, index) => index > 0 && body.includes('Fails once')));
});

test('deliveries that a fault reorders or duplicates go on with it in the next process', async (context) => {
  const { expect } = context;
  const state = join(await makeFolder(context), 'state.json');
  let isUp = false;
  let hasCalled = false;
  const received: (string | undefined)[] = [];
  const environment: { fetch: Environment['fetch'] } = {
    async fetch(_url, { signal, headers }) {
      hasCalled = true;
      if (!isUp)
        return await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
      received.push(new Headers(headers).get('webhook-id') ?? undefined);
      return new Response();
    },
  };
  const behaviours = { 'deliveries.order': 'one-by-one' } as const;
  const before = await startServer({ port: 0, state, environment, behaviours });
  const sandbox = before.mailbox.createSandbox();
  sandbox.clock.freeze('2026-03-01T09:00:00Z');
  const urls = ['https://agent.example/1', 'https://agent.example/2', 'https://agent.example/3'];
  const hooks = await Promise.all(urls.map((url) => sandbox.addWebhook({ url, events: ['message.received'] })));
  const fire = (controls: Pick<typeof sandbox, 'trigger'>, hook: number, id: string) =>
    controls.trigger('message.received', { webhookId: hooks[hook]?.id ?? '', id });
  sandbox.addFault({ on: 'delivery', kind: 'reorder', times: 2 });
  fire(sandbox, 0, 'is-alone');
  fire(sandbox, 1, 'is-overtaken');
  fire(sandbox, 2, 'is-in-flight');
  await eventually(() => expect(hasCalled).toBe(true));
  sandbox.addFault({ on: 'delivery', kind: 'duplicate' });
  fire(sandbox, 2, 'is-sent-twice');
  await before.close();

  isUp = true;
  await using after = await startServer({ port: 0, state, environment, behaviours });
  const again = after.mailbox.sandbox(sandbox.id);
  fire(again, 1, 'overtakes');
  await again.settled();
  expect(received.toSorted()).toEqual(
    ['is-in-flight', 'is-sent-twice', 'is-sent-twice', 'overtakes', 'is-overtaken'].toSorted(),
  );
  expect(received.indexOf('overtakes')).toBeLessThan(received.indexOf('is-overtaken'));
  await again.clock.advance(59_999);
  expect(received).toHaveLength(5);
  await again.clock.advance(1);
  expect(received.at(-1)).toBe('is-alone');
});

test('a server that comes back has its checkpoints, with data, clock, faults and correspondents', async (context) => {
  const { expect } = context;
  const state = join(await makeFolder(context), 'state.json');
  const before = await startServer({ port: 0, state });
  const sandbox = before.mailbox.createSandbox();
  const owners = [
    { controls: before.mailbox, to: 'helpdesk@acme.test' },
    { controls: sandbox, to: `helpdesk@${sandbox.domain}` },
  ];
  for (const { controls, to } of owners) {
    controls.clock.freeze('2026-03-01T09:00:00Z');
    controls.addFault({ on: 'request', status: 504 });
    controls.addCorrespondent({ address: 'erin@customer.test', replies: ['Yes.'] });
    await controls.receiveMessage({
      to,
      from: 'dana@customer.test',
      subject: 'Before',
      plainBody: 'long '.repeat(1000),
    });
    controls.checkpoint('paid');
    controls.clearFaults();
    controls.clearCorrespondents();
    await controls.receiveMessage({ to, from: 'dana@customer.test', subject: 'After' });
  }
  const stateOf = (controls: Pick<typeof sandbox, 'checkpoints' | 'diff'>) => [
    controls.checkpoints(),
    controls.diff('paid', 'now'),
  ];
  const expected = owners.map(({ controls }) => stateOf(controls));
  await before.close();

  for (let restart = 0; restart < 2; restart += 1) {
    const again = await startServer({ port: 0, state });
    expect([again.mailbox, again.mailbox.sandbox(sandbox.id)].map(stateOf)).toEqual(expected);
    await again.close();
  }

  // What came back once comes back again.
  await using after = await startServer({ port: 0, state });
  const sandboxAfter = after.mailbox.sandbox(sandbox.id);
  for (const controls of [sandboxAfter, after.mailbox]) {
    controls.restore('paid');
    const subjects = controls.snapshot().tenants.flatMap(({ messages }) => messages.map(({ subject }) => subject));
    expect(subjects).toContain('Before');
    expect(subjects).not.toContain('After');
    expect(controls.faults()).toMatchObject([{ status: 504 }]);
    expect(controls.correspondents()).toMatchObject([
      { address: 'erin@customer.test', replies: [{ plainBody: 'Yes.' }] },
    ]);
    expect(controls.clock.now().toISOString()).toBe('2026-03-01T09:00:00.000Z');
    controls.removeCheckpoint('paid');
    expect(controls.checkpoints()).toEqual([]);
  }
});

test('correspondents come back with the answers that are due, but for functions', async (context) => {
  const { expect } = context;
  const state = join(await makeFolder(context), 'state.json');
  const before = await startServer({ port: 0, state });
  const { id, domain, keys, ids, ...sandbox } = before.mailbox.createSandbox();
  const inbox = ids.inboxes.helpdesk;
  const send = (url: string, to: string) =>
    fetch(`${url}/v1/inboxes/${inbox}/send`, {
      method: 'POST',
      headers: { 'X-API-Key': keys.tenant, 'Content-Type': 'application/json' },
      body: JSON.stringify({ to, subject: 'Order', plainBody: 'When?', verified: true }),
    });
  sandbox.addCorrespondent({ address: 'erin@customer.test', replies: ['Today.', 'Tomorrow.'], after: '2h' });
  sandbox.addCorrespondent({ address: 'fay@customer.test', replies: () => 'Never.', after: '2h' });
  for (const to of ['erin@customer.test', 'fay@customer.test']) expect((await send(before.url, to)).ok).toBe(true);
  await before.close();

  await using after = await startServer({ port: 0, state });
  const again = after.mailbox.sandbox(id);
  expect(again.correspondents()).toMatchObject([{ address: 'erin@customer.test', received: 1 }]);
  expect(again.addCorrespondent({ address: 'gil@customer.test', replies: ['Hi.'] }).id).toBe(
    again.correspondents()[1]?.id,
  );
  expect((await send(after.url, 'erin@customer.test')).ok).toBe(true);
  await again.clock.advance('2h');
  const texts = () =>
    again
      .snapshot()
      .tenants.flatMap(({ messages }) =>
        messages.filter(({ direction, from }) => direction === 'inbound' && from.includes('erin@')),
      );
  await eventually(() =>
    expect(
      texts()
        .map(({ plainBody }) => plainBody.split('\n')[0])
        .sort(),
    ).toEqual(['Today.', 'Tomorrow.']),
  );
});

type Snapshot = { readonly tenants: readonly { readonly id: string }[] } | undefined;

function byId(one: Snapshot, two: Snapshot): number {
  return String(one?.tenants[0]?.id).localeCompare(String(two?.tenants[0]?.id));
}
