import { createMailbox, type Sandbox } from 'agent-mailbox-mock';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { control } from '../support/control.ts';
import { everywhere, interceptRequests, type Service } from '../support/everywhere.ts';
import { senderTo } from '../support/send.ts';

interceptRequests();

const UNCHANGED = { added: {}, removed: {}, changed: {} };
const UNKNOWN = '00000000-0000-4000-8000-00000000dead';

const createWebhook = ({ send }: Pick<Service, 'send'>, { keys }: Sandbox) =>
  send('POST', '/v1/webhooks', {
    key: keys.tenant,
    json: { url: 'https://agent.example/hook', events: ['message.received'] },
  });

everywhere('a checkpoint of a sandbox is made, listed, compared, restored and removed', async (service) => {
  const { mailbox } = service;
  const [sandbox, other] = [mailbox.createSandbox(), mailbox.createSandbox()] as unknown as [Sandbox, Sandbox];
  const call = (request: Parameters<typeof control>[1], run: () => unknown, json?: unknown) =>
    control(service, `${request}?sandbox=${sandbox.id}` as typeof request, json, run);
  sandbox.clock.freeze('2026-03-01T09:00:00Z');
  const paid = { name: 'paid', createdAt: '2026-03-01T09:00:00.000Z' };
  expect((await call('POST /checkpoints', () => sandbox.checkpoint('paid'), { name: 'paid' })).json).toEqual(paid);
  const { json: webhook } = await createWebhook(service, sandbox);
  const { json: otherWebhook } = await createWebhook(service, other);
  sandbox.addFault({ on: 'delivery', kind: 'drop' });
  mailbox.addFault({ on: 'smtp' });

  const { json: diff } = await call('GET /checkpoints/paid/diff/now', () => sandbox.diff('paid', 'now'));
  expect(Object.keys(diff.added)).toEqual(['webhooks', 'faults']);
  expect(Object.keys(diff.added.webhooks)).toEqual([webhook.id]);
  expect((await call('GET /checkpoints', () => ({ checkpoints: sandbox.checkpoints() }))).json).toEqual({
    checkpoints: [paid],
  });
  for (const each of [mailbox, other]) expect(each.checkpoints()).toEqual([]);

  sandbox.clock.resume();
  expect((await call('POST /checkpoints/paid/restore', () => sandbox.restore('paid'))).json).toEqual(paid);
  expect(sandbox.diff('paid', 'now')).toEqual(UNCHANGED);
  expect([sandbox.clock.isFrozen(), sandbox.requests(), sandbox.faults()]).toEqual([true, [], []]);
  expect(other.snapshot().tenants[0]?.webhooks.map(({ id }) => id)).toContain(otherWebhook.id);
  expect(mailbox.faults()).toHaveLength(1);
  expect((await call('DELETE /checkpoints/paid', () => sandbox.removeCheckpoint('paid'))).json).toEqual(paid);
  const gone = await call('POST /checkpoints/paid/restore', () => sandbox.restore('paid'));
  expect(gone).toMatchObject({ status: 404, json: { error: 'There is no checkpoint "paid".', code: 'NOT_FOUND' } });
});

everywhere('a sandbox is exported as a fixture with one tenant, and its handles', async (service) => {
  const sandbox = service.mailbox.createSandbox() as unknown as Sandbox;
  await sandbox.receiveMessage({ to: `helpdesk@${sandbox.domain}`, from: 'dana@customer.test', subject: 'Order 1042' });
  await createWebhook(service, sandbox);
  const { json } = await control(service, `GET /export?sandbox=${sandbox.id}`, undefined, () => sandbox.export());
  const copy = createMailbox({ fixtures: json });
  expect(copy.snapshot().tenants).toEqual(sandbox.snapshot().tenants);
  expect(copy.ids.acme).toMatchObject(sandbox.ids);
  expect(copy.keys.acme).toEqual(sandbox.keys);

  const again = service.mailbox.createSandbox({ fixture: json });
  await again.receiveMessage({ to: `helpdesk@${again.domain}`, from: 'dana@customer.test' });
  expect(again.id).not.toBe(sandbox.id);
  const addresses = again.snapshot().tenants[0]?.addresses.map(({ address }) => address);
  expect(addresses).toContain(`helpdesk@${again.domain}`);
});

everywhere('a closed or unknown sandbox is not restored', async (service) => {
  const sandbox = service.mailbox.createSandbox();
  sandbox.checkpoint('here');
  sandbox.close();
  for (const restore of [() => sandbox.restore('here'), sandbox.reset]) {
    expect(restore).toThrow('There is no sandbox with this id.');
  }
  const { status } = await service.send('GET', '/v1/webhooks', { key: sandbox.keys.tenant });
  expect(status).toBe(401);
  const reply = await control(service, `GET /export?sandbox=${UNKNOWN}`, undefined, () =>
    service.mailbox.sandbox(UNKNOWN).export(),
  );
  expect(reply).toMatchObject({ status: 404, json: { error: 'There is no sandbox with this id.' } });
});

test('a checkpoint of the mailbox is without its sandboxes, and restoring it closes them', () => {
  const mailbox = createMailbox();
  const sandbox = mailbox.createSandbox();
  mailbox.checkpoint('here');
  expect(JSON.stringify(mailbox.export())).not.toContain(sandbox.id);
  mailbox.restore('here');
  expect(mailbox.sandboxes()).toEqual([]);
});

test('after a reset or a restore, a sandbox with a seed creates the same ids again', async () => {
  const mailbox = createMailbox();
  const service = { send: senderTo(mailbox) };
  const sandbox = mailbox.createSandbox({ seed: 7 }) as unknown as Sandbox;
  const createId = async () => (await createWebhook(service, sandbox)).json.id;
  const first = await createId();
  sandbox.checkpoint('one');
  const second = await createId();
  sandbox.restore('one');
  expect(await createId()).toBe(second);
  sandbox.reset();
  expect(await createId()).toBe(first);
});

/** What may happen to a sandbox; `restore` does nothing without a checkpoint. */
const STEPS: readonly ((service: Pick<Service, 'send'>, sandbox: Sandbox) => unknown)[] = [
  createWebhook,
  ({ send }, { keys, ids }) => send('POST', `/v1/inboxes/${ids.inboxes.helpdesk}/keys`, { key: keys.tenant }),
  ({ send }, { keys, ids }) => send('DELETE', `/v1/inboxes/${ids.inboxes.billing}`, { key: keys.tenant }),
  ({ send }, { keys }) => send('POST', '/v1/inboxes', { key: keys.tenant, json: { username: 'bot' } }),
  (_, sandbox) => sandbox.receiveMessage({ to: `helpdesk@${sandbox.domain}`, from: 'dana@customer.test' }),
  (_, { trigger, ids }) => void trigger('message.received', { tenant: ids.tenant }),
  (_, { addFault }) => addFault({ on: 'request', operation: 'getMe', status: 503, after: 2 }),
  (_, { clock }) => clock.freeze('2030-01-01T00:00:00Z'),
  (_, { clock }) => clock.advance('1m'),
  (_, sandbox) => sandbox.reset(),
  (_, sandbox) => sandbox.checkpoint('one'),
  (_, sandbox) => sandbox.checkpoints().length > 0 && sandbox.restore('one'),
];

/** Everything of a sandbox that a step of another must leave alone. */
const observe = (sandbox: Sandbox) => ({
  state: sandbox.snapshot(),
  faults: sandbox.faults(),
  deliveries: sandbox.deliveries(),
  requests: sandbox.requests(),
  checkpoints: sandbox.checkpoints(),
  isFrozen: sandbox.clock.isFrozen(),
});

const step = fc.record({ at: fc.nat(2), stepAt: fc.nat(STEPS.length - 1) });

test('side by side under random steps, a sandbox goes back to its own states and changes no other', async () => {
  const mailbox = createMailbox({ environment: { fetch: async () => new Response() } });
  const service = { send: senderTo(mailbox) };
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40, size: 'max' }), async (steps) => {
      mailbox.reset();
      const start = mailbox.snapshot();
      const sandboxes = Array.from({ length: 3 }, () => mailbox.createSandbox() as unknown as Sandbox);
      const starts = sandboxes.map((sandbox) => sandbox.snapshot());
      for (const { at, stepAt } of steps) {
        const others = sandboxes.filter((_, index) => index !== at);
        const before = others.map(observe);
        await STEPS[stepAt]?.(service, sandboxes[at] as Sandbox);
        await sandboxes[at]?.settled();
        expect(others.map(observe)).toEqual(before);
      }
      for (const [index, sandbox] of sandboxes.entries()) {
        const copy = createMailbox({ fixtures: JSON.parse(JSON.stringify(sandbox.export())) });
        expect(copy.snapshot().tenants).toEqual(sandbox.snapshot().tenants);
        if (sandbox.checkpoints().length > 0) {
          sandbox.restore('one');
          expect(sandbox.diff('one', 'now')).toEqual(UNCHANGED);
        }
        sandbox.reset();
        expect(sandbox.snapshot()).toEqual(starts[index]);
      }
      expect(mailbox.snapshot()).toEqual(start);
    }),
    { numRuns: 10 },
  );
});

everywhere('the journal of a sandbox may tell of everything since its start, whatever is reset', async (service) => {
  const { mailbox } = service;
  const create = async (body: { journal: 'since-start' | 'since-reset' }) => {
    const { json } = await control(service, 'POST /sandboxes', body, () => mailbox.createSandbox(body));
    return mailbox.sandbox(json.id) as unknown as Sandbox;
  };
  const subjectsOf = ({ journal }: Sandbox) =>
    journal({ kinds: ['mail-received'] }).map(({ data }) => data.mail.subject);
  const restoreTwice = async (sandbox: Sandbox) => {
    sandbox.checkpoint('start');
    for (const subject of ['One', 'Two']) {
      await sandbox.receiveMessage({ to: `helpdesk@${sandbox.domain}`, from: 'dana@customer.test', subject });
      sandbox.restore('start');
    }
    sandbox.reset();
    return subjectsOf(sandbox);
  };
  expect(await restoreTwice(await create({ journal: 'since-start' }))).toEqual(['One', 'Two']);
  expect(await restoreTwice(await create({ journal: 'since-reset' }))).toEqual([]);
});
