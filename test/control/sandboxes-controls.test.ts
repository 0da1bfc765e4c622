import { setImmediate } from 'node:timers/promises';
import { createMailbox, defaultFixture, type SandboxOptions } from 'agent-mailbox-mock';
import { startServer } from 'agent-mailbox-mock/server';
import { describe, expect, test } from 'vitest';
import { control, sendControl } from '../support/control.ts';
import { everywhere, interceptRequests, type Service } from '../support/everywhere.ts';

interceptRequests();

const UNKNOWN = '00000000-0000-4000-8000-00000000dead';

const create = (service: Service, options: object = {}) =>
  control(service, 'POST /sandboxes', options, () => {
    const { id, name, domain, keys, ids } = service.mailbox.createSandbox(options as SandboxOptions);
    return { id, name, domain, keys, ids };
  });

describe('createSandbox', () => {
  everywhere('copies the only tenant of a fixture', async (service) => {
    const fixture = { tenants: { initech: { workspaces: { main: { inboxes: { desk: { username: 'desk' } } } } } } };
    const { json } = await create(service, { fixture, name: 'Ann' });
    expect([json.name, Object.keys(json.keys.inboxes), Object.keys(json.ids.workspaces)]).toEqual([
      'Ann',
      ['desk'],
      ['main'],
    ]);
    const { json: inbox } = await service.send('GET', `/v1/inboxes/${json.ids.inboxes.desk}`, {
      key: json.keys.tenant,
    });
    expect(inbox.email).toBe(`desk@${json.domain}`);
    expect((await create(service, { fixture })).json.keys).not.toEqual(json.keys);
  });

  everywhere('repeats ids and keys by seed and order', async (service) => {
    const take = async () => [(await create(service, { seed: 7 })).json, (await create(service, { seed: 7 })).json];
    const [first, second] = await take();
    expect(first.keys).not.toEqual(second.keys);
    service.mailbox.reset();
    expect(await take()).toEqual([first, second]);
    const other = createMailbox().createSandbox({ seed: 7 });
    expect([other.id, other.domain, other.keys]).toEqual([first.id, first.domain, first.keys]);
    expect((await create(service, { seed: 8 })).json.id).not.toBe(first.id);
  });

  everywhere('repeats later ids by seed too', async (service) => {
    const sendFrom = async () => {
      const { json } = await create(service, { seed: 1 });
      const webhook = { url: 'https://agent.example/hook', events: ['message.received'] };
      return (await service.send('POST', '/v1/webhooks', { key: json.keys.tenant, json: webhook })).json.id;
    };
    const first = await sendFrom();
    service.mailbox.reset();
    expect(await sendFrom()).toBe(first);
  });

  everywhere('refuses wrong options', async (service) => {
    const wrong: [object, string][] = [
      [
        { seed: -1 },
        'The input of createSandbox is not valid: seed must be a whole number from 0 to 9007199254740991.',
      ],
      [{ name: '' }, 'The input of createSandbox is not valid: name must not be empty.'],
      [{ fixture: 1 }, 'The input of createSandbox is not valid: fixture must be a fixture.'],
      [
        { fixtures: {} },
        'The input of createSandbox is not valid:  has unknown fields: "fixtures" (did you mean fixture?).',
      ],
      [{ fixture: defaultFixture }, 'The fixture of a sandbox must have one tenant, not 2.'],
      [{ fixture: { tenants: {} } }, 'The fixture of a sandbox must have one tenant, not 0.'],
      [{ fixture: { tenants: { x: { id: 1 } } } }, 'The fixture is not valid: $.tenants.x.id must be a string.'],
    ];
    for (const [options, message] of wrong) {
      const { status, json } = await create(service, options);
      expect([status, json.error.replace('  ', ' '), json.code]).toEqual([
        400,
        message.replace('  ', ' '),
        'VALIDATION_ERROR',
      ]);
    }
    expect(service.mailbox.sandboxes()).toEqual([]);
  });

  test('refuses a fixture that is not JSON, or nested too deeply', () => {
    const circular: Record<string, unknown> = {};
    circular.tenants = circular;
    const deep = JSON.parse(`{"tenants":${'['.repeat(100_000)}${']'.repeat(100_000)}}`);
    for (const fixture of [circular, deep, { tenants: 1n }]) {
      const create = () => createMailbox().createSandbox({ fixture });
      expect(create).toThrow('The fixture is not valid: it has a value that JSON cannot represent.');
    }
  });

  test('refuses more than 10,000 sandboxes', async () => {
    const mailbox = createMailbox({ fixtures: { tenants: { x: {} } } });
    for (let count = 0; count < 10_000; count += 1) {
      mailbox.createSandbox();
      // The other tests of this file run meanwhile.
      if (count % 100 === 0) await setImmediate();
    }
    expect(() => mailbox.createSandbox()).toThrow('There are 10000 sandboxes; close one before you create another.');
    mailbox.sandboxes()[0]?.close();
    expect(mailbox.createSandbox().name).toBe(null);
  });

  test('refuses a sandbox whose mail does not fit', () => {
    const mailbox = createMailbox({ maxMailBytes: 20_000 });
    const createAll = () => Array.from({ length: 10 }, () => mailbox.createSandbox());
    expect(createAll).toThrow(/^The fixture of the sandbox has .* of mail, and .* are free; close other sandboxes/);
  });

  test('needs a fixture if the mailbox has no tenant', () => {
    const mailbox = createMailbox({ fixtures: { tenants: {} } });
    expect(() => mailbox.createSandbox()).toThrow('The fixture of the mailbox has no tenant to copy');
  });
});

describe('an unused sandbox', () => {
  /** A mailbox whose real time a test sets. */
  function createTimed() {
    let nowMs = Date.parse('2026-03-01T09:00:00Z');
    const mailbox = createMailbox({ environment: { now: () => new Date(nowMs) } });
    const pass = (minutes: number) => {
      nowMs += minutes * 60_000;
    };
    return { mailbox, pass };
  }

  test('expires after an hour', () => {
    const { mailbox, pass } = createTimed();
    const { id } = mailbox.createSandbox();
    pass(59);
    expect(mailbox.sandbox(id).id).toBe(id);
    pass(60);
    expect(() => mailbox.sandbox(id)).toThrow('There is no sandbox with this id.');
    expect(mailbox.sandboxes()).toEqual([]);
  });

  test('has no keys and no mail after an hour, although nobody has listed sandboxes', async () => {
    const { mailbox, pass } = createTimed();
    const { id, keys, domain } = mailbox.createSandbox();
    const headers = { 'X-API-Key': keys.tenant };
    const url = `${mailbox.baseUrl}/v1/me`;
    const get = () => mailbox.fetch(new Request(url, { headers }));
    expect((await get()).status).toBe(200);
    pass(60);
    for (const _ of ['once', 'again']) {
      const reply = await get();
      expect([reply.status, (await reply.json()).error]).toEqual([
        401,
        'The API key is not valid: it is unknown or has been revoked.',
      ]);
    }
    expect(() => mailbox.stream({ url: `${mailbox.baseUrl}/v1/ws`, headers: new Headers(headers) })).toThrow(
      'The API key is not valid',
    );
    expect(mailbox.receives(`helpdesk@${domain}`)).toBe(false);
    await expect(mailbox.receiveMessage({ to: `helpdesk@${domain}`, from: 'a@b.test' })).rejects.toThrow();
    expect(() => mailbox.sandbox(id)).toThrow('There is no sandbox with this id.');
  });

  test.for(['a request', 'a mail', 'a control call', 'a stream'] as const)('is kept by %s', async (use) => {
    const { mailbox, pass } = createTimed();
    const created = mailbox.createSandbox();
    const { id, keys, domain } = created;
    const other = mailbox.createSandbox();
    const headers = new Headers({ 'X-API-Key': keys.tenant });
    pass(50);
    const url = `${mailbox.baseUrl}/v1/me`;
    if (use === 'a request') await mailbox.fetch(new Request(url, { headers }));
    if (use === 'a mail') await mailbox.receiveMessage({ to: `helpdesk@${domain}`, from: 'a@b.test' });
    if (use === 'a control call') created.clock.now();
    const connection = { send() {}, close() {}, bufferedBytes: 0 };
    const accept = use === 'a stream' && mailbox.stream({ url: `${mailbox.baseUrl}/v1/ws`, headers });
    const session = accept ? accept(connection) : undefined;
    pass(use === 'a stream' ? 500 : 50);
    expect(mailbox.sandboxes().map((sandbox) => sandbox.id)).toEqual([id]);
    expect(() => mailbox.sandbox(other.id)).toThrow('There is no sandbox');
    session?.end();
    pass(61);
    expect(mailbox.sandboxes()).toEqual([]);
  });
});

test('a sandbox that is idle but has an open stream does not keep those behind it, and is used once the stream ends', () => {
  let nowMs = Date.parse('2026-03-01T09:00:00Z');
  const mailbox = createMailbox({ environment: { now: () => new Date(nowMs) } });
  const pass = (minutes: number) => {
    nowMs += minutes * 60_000;
  };
  const withStream = mailbox.createSandbox();
  const headers = new Headers({ 'X-API-Key': withStream.keys.tenant });
  const open = () =>
    mailbox.stream({ url: `${mailbox.baseUrl}/v1/ws`, headers })({ send() {}, close() {}, bufferedBytes: 0 });
  const sessions = [open(), open()];
  const unused = mailbox.createSandbox();
  pass(60);
  // It was found idle, but is not closed, and its keys and addresses are valid.
  const idsOf = () => mailbox.sandboxes().map(({ id }) => id);
  expect(idsOf()).toEqual([withStream.id]);
  expect(() => mailbox.sandbox(unused.id)).toThrow('There is no sandbox with this id.');
  expect(mailbox.receives(`helpdesk@${withStream.domain}`)).toBe(true);
  pass(600);
  sessions[0]?.end();
  pass(600);
  expect(idsOf()).toEqual([withStream.id]);
  sessions[1]?.end();
  pass(59);
  expect(mailbox.receives(`helpdesk@${withStream.domain}`)).toBe(true);
  pass(1);
  expect(mailbox.receives(`helpdesk@${withStream.domain}`)).toBe(false);
  expect(idsOf()).toEqual([]);
});

/** Starts a server, and sends control calls such as `GET /clock` to it. */
async function serve() {
  const server = await startServer({ port: 0 });
  const call = (line: string, json?: unknown) => {
    const [method = '', path] = line.split(' ');
    return sendControl(server.control + path, method, json === undefined ? {} : { json });
  };
  return Object.assign(server, { call });
}

describe('over HTTP', () => {
  test('sandboxes can be listed, read and closed', async () => {
    await using server = await serve();
    const { json: created } = await server.call('POST /sandboxes', { name: 'worker 1' });
    expect((await server.call('GET /sandboxes')).json).toEqual({ url: server.url, sandboxes: [created] });
    expect((await server.call(`GET /sandboxes/${created.id.toUpperCase()}`)).json).toEqual(created);
    expect((await server.call(`DELETE /sandboxes/${created.id}`)).json).toEqual(created);
    for (const line of ['GET', 'DELETE']) {
      const { status, json } = await server.call(`${line} /sandboxes/${created.id}`);
      expect([status, json.error]).toEqual([404, 'There is no sandbox with this id.']);
    }
  });

  test('?sandbox= selects the sandbox of a control call', async () => {
    await using server = await serve();
    const { json: one } = await server.call('POST /sandboxes', {});
    const { json: other } = await server.call('POST /sandboxes', {});
    const of = ({ id }: { id: string }) => `?sandbox=${id}`;
    const mail = { to: `helpdesk@${one.domain}`, from: 'a@b.test' };
    expect((await server.call(`POST /messages${of(one)}`, mail)).json.messages).toHaveLength(1);
    expect((await server.call(`POST /messages${of(other)}`, mail)).status).toBe(404);
    await server.call(`POST /clock${of(one)}`, { freeze: '2026-03-01T09:00:00Z' });
    const frozen = async (query: string) => (await server.call(`GET /clock${query}`)).json.frozen;
    expect([await frozen(of(one)), await frozen(of(other)), await frozen('')]).toEqual([true, false, false]);
    await server.call(`POST /faults${of(one)}`, { on: 'request', status: 503 });
    const faults = async (query: string) => (await server.call(`GET /faults${query}`)).json.faults.length;
    expect([await faults(of(one)), await faults(of(other)), await faults('')]).toEqual([1, 0, 1]);
    expect((await server.call(`POST /settle${of(one)}`, {})).status).toBe(200);
    expect((await server.call(`GET /keys${of(one)}`)).json.keys).toHaveLength(6);
    expect((await server.call(`GET /requests${of(one)}`)).json).toEqual({ requests: [] });
    expect((await server.call(`GET /deliveries${of(one)}&state=delivered`)).json.deliveries).toEqual([]);
    await server.call(`POST /reset${of(one)}`);
    expect([await frozen(of(one)), await faults('')]).toEqual([false, 0]);
    expect((await server.call('GET /sandboxes')).json.sandboxes).toHaveLength(2);
  });

  test.for([
    ['POST /reset?sandbox=x', 400, 'The query is not valid: sandbox must be the id of a sandbox.'],
    ['POST /reset?sandbocks=x', 400, 'The query has the unknown parameter "sandbocks"; it takes sandbox.'],
    [`POST /reset?sandbox=${UNKNOWN}`, 404, 'There is no sandbox with this id.'],
    [`GET /feed?sandbox=${UNKNOWN}`, 404, 'There is no sandbox with this id.'],
  ] as const)('%s is refused', async ([line, status, error], { expect }) => {
    await using server = await serve();
    const before = server.mailbox.snapshot();
    const reply = await server.call(line);
    expect([reply.status, reply.json.error]).toEqual([status, error]);
    expect(server.mailbox.snapshot()).toEqual(before);
  });
});
