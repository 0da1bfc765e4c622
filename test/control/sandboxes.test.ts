import { createMailbox, defaultFixture, type Mailbox, type MailboxClock, type Sandbox } from 'agent-mailbox-mock';
import { createReceiver } from 'agent-mailbox-mock/receiver';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { PROMISE_METHODS } from '../../src/control/sandboxes.ts';
import { everywhere, interceptRequests, type Service } from '../support/everywhere.ts';
import { provideWebSocket } from '../support/stream-client.ts';
import { listen, open } from '../support/streams.ts';
import { hook } from '../support/webhooks.ts';

interceptRequests();
provideWebSocket();

const FROM = 'dana@customer.test';

/** Two sandboxes of one mailbox. */
function createTwo({ mailbox }: Service): [Sandbox<Mailbox['keys']['acme'], Mailbox['ids']['acme']>, Sandbox] {
  return [mailbox.createSandbox(), mailbox.createSandbox() as Sandbox];
}

const mailTo = ({ domain }: Sandbox, subject: string) => ({ to: `helpdesk@${domain}`, from: FROM, subject });

async function subjectsOf({ send }: Service, { keys, ids }: Sandbox): Promise<string[]> {
  const path = `/v1/inboxes/${ids.inboxes.helpdesk}/messages`;
  const { json } = await send('GET', path, { key: keys.inboxes.helpdesk ?? '' });
  return json.messages.map(({ subject }: { subject: string }) => subject);
}

describe('a sandbox', () => {
  everywhere('is a copy of the first tenant with keys, ids and a domain of its own', async ({ mailbox, send }) => {
    const { id, name, domain, keys, ids } = mailbox.createSandbox({ name: 'worker 1' });
    expect([id, name]).toEqual([ids.tenant, 'worker 1']);
    expect(domain).toMatch(/^[0-9a-f]{12}\.sandbox\.test$/);
    expect(Object.keys(keys.inboxes)).toEqual(['helpdesk', 'billing', 'outreach']);
    expect(Object.values(ids.inboxes)).not.toContain(mailbox.ids.acme.inboxes.helpdesk);
    const { json } = await send('GET', `/v1/inboxes/${ids.inboxes.helpdesk}`, { key: keys.inboxes.helpdesk });
    expect(json).toMatchObject({ email: `helpdesk@${domain}`, workspaceId: ids.workspaces.support });
    const { json: thread } = await send('GET', `/v1/inboxes/${ids.inboxes.helpdesk}/threads`, { key: keys.tenant });
    expect(thread.threads).toHaveLength(1);
    expect(JSON.stringify(mailbox.sandbox(id).snapshot())).not.toMatch(/[@"]acme\.test"|ac3e0000/);
  });

  everywhere('has mail and requests of its own', async (service) => {
    const [one, other] = createTwo(service);
    await one.receiveMessage(mailTo(one, 'For one'));
    expect([await subjectsOf(service, one), await subjectsOf(service, other)]).toEqual([
      expect.arrayContaining(['For one']),
      expect.not.arrayContaining(['For one']),
    ]);
    const operations = (controlled: Sandbox) => controlled.requests().map(({ operation }) => operation);
    expect([operations(one), operations(other)]).toEqual([['listMessages'], ['listMessages']]);
    expect(service.mailbox.requests()).toHaveLength(2);
    expect(() => other.request('req_2')).toThrow('There is no request with this id in the journal.');
    one.clearRequests();
    expect([one.requests().length, other.requests().length]).toEqual([0, 1]);
    expect(other.requests({ tenant: one.id })).toEqual([]);
  });

  everywhere('has ids of requests that do not depend on others', async (service) => {
    const [one, other] = createTwo(service);
    const started = one.feed();
    const list = async ({ keys, ids }: Sandbox, name: string) => {
      const path = `/v1/inboxes/${ids.inboxes.helpdesk}/${name}`;
      expect((await service.send('GET', path, { key: keys.tenant })).status).toBe(200);
    };
    await list(other, 'messages');
    await list(one, 'threads');
    await list(other, 'threads');
    await list(one, 'drafts');
    const idsIn = (journal: Pick<Sandbox, 'requests'>, filter = {}) => journal.requests(filter).map(({ id }) => id);
    expect([idsIn(one), idsIn(other)]).toEqual([
      ['req_1', 'req_2'],
      ['req_1', 'req_2'],
    ]);
    expect(idsIn(one, { after: 'req_1' })).toEqual(['req_2']);
    expect(one.request('req_2')).toMatchObject({ operation: 'listDrafts', principal: { tenantId: one.id } });
    expect(idsIn(service.mailbox)).toEqual(['req_1', 'req_2', 'req_3', 'req_4']);
    expect(service.mailbox.request('req_2').principal).toMatchObject({ tenantId: one.id });
    const events = started[Symbol.asyncIterator]();
    expect((await events.next()).value).toMatchObject({ kind: 'request', data: { id: 'req_1' } });
    const { key, json } = {
      key: one.keys.tenant,
      json: { to: 'x@y.test', subject: 'S', plainBody: 'B', verified: true },
    };
    const sent = await service.send('POST', `/v1/inboxes/${one.ids.inboxes.helpdesk}/send`, { key, json });
    expect(one.mail(sent.json.id)).toMatchObject({ request: 'req_3' });
    one.reset();
    await list(one, 'threads');
    expect(idsIn(one)).toEqual(['req_1']);
  });

  everywhere('has no address in common with others', async (service) => {
    const [one, other] = createTwo(service);
    for (const { keys } of [one, other]) {
      const domain = { key: keys.tenant, json: { domain: 'custom.test' } };
      expect((await service.send('POST', '/v1/domains', domain)).status).toBe(201);
      const verified = await service.send('GET', '/v1/domains/custom.test/verify', { key: keys.tenant });
      expect(verified.json.status).toBe('verified');
      const inbox = { key: keys.tenant, json: { username: 'bot', domain: 'custom.test' } };
      expect((await service.send('POST', '/v1/inboxes', inbox)).json.email).toBe('bot@custom.test');
    }
    const [received] = await one.receiveMessage({ to: 'bot@custom.test', from: FROM });
    expect(received?.tenantId).toBe(one.id);
    expect(service.mailbox.receives('bot@custom.test')).toBe(false);
    await expect(other.receiveMessage(mailTo(one, 'x'))).rejects.toThrow('There is no inbox with the address');
    await expect(one.receiveMessage({ to: 'helpdesk@acme.test', from: FROM })).rejects.toThrow('There is no inbox');
  });

  everywhere('cannot send mail to another sandbox or tenant', async (service) => {
    const [one, other] = createTwo(service);
    await one.receiveMessage({ ...mailTo(one, 'First'), from: `helpdesk@${other.domain}` });
    await one.receiveMessage({ ...mailTo(one, 'First'), from: 'helpdesk@acme.test' });
    const message = { to: [`helpdesk@${other.domain}`, 'helpdesk@acme.test'], subject: 'Canary', plainBody: 'x' };
    const options = { key: one.keys.inboxes.helpdesk, json: message };
    const sent = await service.send('POST', `/v1/inboxes/${one.ids.inboxes.helpdesk}/send`, options);
    expect(sent.status).toBeLessThan(300);
    expect(JSON.stringify(one.snapshot())).toContain('Canary');
    expect(JSON.stringify([other.snapshot(), service.mailbox.snapshot()])).not.toContain('Canary');
  });

  everywhere('receives mail from outside by its domain', async (service) => {
    const sandbox = service.mailbox.createSandbox();
    expect(service.mailbox.receives(`helpdesk@${sandbox.domain}`)).toBe(true);
    const [received] = await service.mailbox.receiveMessage(mailTo(sandbox, 'By the mailbox'));
    expect(received?.tenantId).toBe(sandbox.id);
  });

  everywhere('has a time of its own', async (service) => {
    const [one, other] = createTwo(service);
    one.clock.freeze('2026-03-01T09:00:00Z');
    await one.clock.advance('1h');
    expect(one.clock.now().toISOString()).toBe('2026-03-01T10:00:00.000Z');
    expect([other.clock.isFrozen(), service.mailbox.clock.isFrozen()]).toEqual([false, false]);
    expect(() => one.clock.freeze(undefined, { tenant: other.id })).toThrow('There is no tenant with this id.');
    one.clock.resume();
    service.mailbox.clock.freeze('2026-04-01T09:00:00Z');
    expect([one, other].map(({ clock }) => clock.now().toISOString())).toEqual(
      Array(2).fill('2026-04-01T09:00:00.000Z'),
    );
  });

  everywhere('has deliveries of its own', async (service) => {
    const [one, other] = createTwo(service);
    await using receiver = createReceiver();
    for (const { keys } of [one, other]) await hook(service, receiver, { key: keys.tenant });
    await one.receiveMessage(mailTo(one, 'Hi'));
    await one.settled();
    expect([one.deliveries().length, other.deliveries().length]).toEqual([1, 0]);
    const [delivery] = one.deliveries({ state: 'delivered' });
    expect(() => other.delivery(delivery?.id ?? '')).toThrow('There is no delivery with this id in the log.');
    expect(() => other.redeliver(delivery?.id ?? '')).toThrow('There is no delivery with this id in the log.');
    expect(one.trigger('message.received')).toHaveLength(1);
    expect(() => other.trigger('message.received', { tenant: one.id })).toThrow('There is no tenant with this id.');
    expect(service.mailbox.deliveries().map(({ tenantId }) => tenantId)).toEqual([one.id, one.id]);
  });

  everywhere('has faults of its own', async (service) => {
    const [one, other] = createTwo(service);
    const fault = one.addFault({ on: 'request', status: 503, times: 2 });
    expect([fault.tenantId, other.faults(), service.mailbox.faults().length]).toEqual([one.id, [], 1]);
    const statusOf = async ({ keys }: Sandbox) => {
      const headers = { 'X-API-Key': keys.tenant };
      return (await fetch(`${service.url}/v1/me`, { headers })).status;
    };
    expect([await statusOf(other), await statusOf(one)]).toEqual([200, 503]);
    expect(() => other.removeFault(fault.id)).toThrow('There is no fault with this id.');
    expect(() => one.addFault({ on: 'stream', kind: 'close', tenant: other.id })).toThrow('There is no tenant');
    const key = other.keys.tenant;
    expect(() => one.addFault({ on: 'request', status: 503, key })).toThrow('There is no such key.');
    other.clearFaults();
    expect(one.faults()).toHaveLength(1);
    one.clearFaults();
    expect([await statusOf(one), service.mailbox.faults()]).toEqual([200, []]);
  });

  everywhere('has keys of its own', async (service) => {
    const [one, other] = createTwo(service);
    expect(one.exposures().every(({ tenantId }) => tenantId === one.id)).toBe(true);
    expect(one.exposure(one.keys.inboxes.helpdesk).handle).toBe('inboxes.helpdesk');
    expect(() => one.exposure(other.keys.tenant)).toThrow('There is no valid key with this text.');
  });

  everywhere('has a feed of its own', async (service) => {
    const [one, other] = createTwo(service);
    await one.receiveMessage(mailTo(one, 'x'));
    await service.send('GET', '/v1/me', { key: other.keys.tenant });
    one.reset();
    one.clock.freeze();
    one.addFault({ on: 'request', operation: 'createWebhook', status: 503 });
    one.clearFaults();
    one.rotateKey(String(one.exposure(one.keys.inboxes.helpdesk).id));
    service.mailbox.clock.freeze();
    const kindsOf = async (controlled: Sandbox) => {
      const events = [];
      for await (const event of controlled.feed({ follow: false })) events.push(event.kind);
      return events;
    };
    expect([await kindsOf(one), await kindsOf(other)]).toEqual([
      ['mail-received', 'reset', 'clock', 'fault', 'fault', 'key', 'clock'],
      ['request', 'clock'],
    ]);
  });

  everywhere('is restored by its own reset, which leaves others alone', async (service) => {
    const [one, other] = createTwo(service);
    const before = one.snapshot();
    await using stream = await listen(service, one.keys.tenant);
    for (const each of [one, other]) {
      await each.receiveMessage(mailTo(each, 'Later'));
      each.addFault({ on: 'request', operation: 'sendMessage', status: 503 });
      each.clock.freeze('2026-03-01T09:00:00Z');
    }
    one.reset();
    expect(one.snapshot()).toEqual(before);
    expect([one.faults(), one.requests(), one.deliveries(), one.clock.isFrozen()]).toEqual([[], [], [], false]);
    expect((await stream.closed).code).toBe(4401);
    expect([await subjectsOf(service, other), other.faults().length]).toEqual([expect.arrayContaining(['Later']), 1]);
    expect([other.clock.isFrozen(), await subjectsOf(service, one)]).toEqual([
      true,
      expect.not.arrayContaining(['Later']),
    ]);
  });

  everywhere('ends when it is closed', async (service) => {
    const { mailbox } = service;
    const sandbox = mailbox.createSandbox();
    await using stream = await open(service, sandbox.keys.tenant);
    sandbox.close();
    sandbox.close();
    expect((await stream.closed).code).toBe(4401);
    expect((await service.send('GET', '/v1/me', { key: sandbox.keys.tenant })).status).toBe(401);
    expect([mailbox.sandboxes(), mailbox.receives(`helpdesk@${sandbox.domain}`)]).toEqual([[], false]);
  });

  test('refuses every call after it was closed', async () => {
    const sandbox = createMailbox().createSandbox();
    const waiting = sandbox.waitForMessage({ to: 'a@b.test', timeout: '1h' });
    sandbox.close();
    await expect(waiting).rejects.toThrow(/^The sandbox was closed before mail to a@b.test arrived/);
    const { close: _, clock, ...methods } = sandbox;
    const calls = Object.entries({ ...methods, ...clock }).filter(([, method]) => typeof method === 'function');
    expect(calls.map(([name]) => name)).toEqual(expect.arrayContaining(['reset', 'requests', 'isFrozen', 'addFault']));
    const rejecting: string[] = [];
    for (const [name, method] of calls) {
      const call = () => (method as unknown as () => unknown)();
      try {
        const result = call();
        rejecting.push(name);
        await expect(result, name).rejects.toThrow('There is no sandbox with this id.');
      } catch {
        expect(call, name).toThrow('There is no sandbox with this id.');
      }
    }
    expect(rejecting.sort()).toEqual([...PROMISE_METHODS].sort());
    type PromiseMethod<Type> = {
      [Name in keyof Type]: Type[Name] extends (...input: never) => Promise<unknown> ? Name : never;
    }[keyof Type];
    expectTypeOf<(typeof PROMISE_METHODS)[number]>().toEqualTypeOf<
      PromiseMethod<Sandbox> | PromiseMethod<MailboxClock>
    >();
  });

  test.each(['reset', 'restore', 'load'] as const)(
    'stays closed after %s of the mailbox, although a new sandbox with its seed has its id',
    async (name) => {
      const mailbox = createMailbox({ fixtures: defaultFixture });
      mailbox.checkpoint('start');
      const old = mailbox.createSandbox({ seed: 7 });
      const end = {
        reset: () => mailbox.reset(),
        restore: () => mailbox.restore('start'),
        load: () => mailbox.load(defaultFixture),
      };
      end[name]();
      const next = mailbox.createSandbox({ seed: 7 });
      expect(next.id).toBe(old.id);

      expect(() => old.messages()).toThrow('There is no sandbox with this id.');
      expect(() => old.clock.freeze()).toThrow('There is no sandbox with this id.');
      await expect(old.settled()).rejects.toThrow('There is no sandbox with this id.');
      old.close();
      expect(mailbox.sandboxes()).toEqual([next]);
      expect(next.messages()).toEqual([]);
    },
  );

  everywhere('ends when the mailbox is reset, or the operator deletes its tenant', async ({ mailbox, send }) => {
    const { id } = mailbox.createSandbox();
    expect((await send('DELETE', `/v1/tenants/${id}`, { key: mailbox.keys.operator })).status).toBe(200);
    expect(mailbox.sandboxes()).toEqual([]);
    const before = mailbox.snapshot();
    mailbox.createSandbox();
    mailbox.reset();
    expect([mailbox.sandboxes(), mailbox.snapshot()]).toEqual([[], before]);
  });
});
