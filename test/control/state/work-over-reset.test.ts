import { once } from 'node:events';
import { connect } from 'node:net';
import { createMailbox, type FixtureInput, type Mailbox } from 'agent-mailbox-mock';
import { startServer } from 'agent-mailbox-mock/server';
import { describe, expect, test, vi } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { everywhere, interceptRequests } from '../../support/everywhere.ts';
import { startImap, toMail } from '../../support/imap-server.ts';
import { openConnection, request } from '../../support/raw-http.ts';

interceptRequests();

const KEY = 'tk_acme_tenant_key';
const HOOK = { url: 'http://127.0.0.1:9/late', events: ['message.received'] };
const UNAVAILABLE = { status: 503, json: { code: 'SERVER_UNAVAILABLE', error: expect.stringMatching(/was reset/) } };

/** What a request or mail of a former test could change. */
function stateOf(mailbox: Pick<Mailbox, 'snapshot' | 'requests' | 'messages'>) {
  return { data: mailbox.snapshot(), requests: mailbox.requests(), messages: mailbox.messages() };
}

/** Opens a connection to an SMTP server. `reply` sends lines and resolves with the reply. */
async function openSmtp(port: number) {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  await once(socket, 'data');
  return {
    send: (text: string) => void socket.write(text),
    async reply(text: string): Promise<string> {
      socket.write(`${text}\r\n`);
      let reply = '';
      while (!/^\d{3} .*\r\n$/m.test(reply)) reply += (await once(socket, 'data'))[0];
      return reply.trimEnd();
    },
  };
}

/** Returns a promise with the functions that settle it. */
function withResolvers() {
  let resolve = (_: string) => {};
  let reject = (_: Error) => {};
  const promise = new Promise<string>((...functions) => {
    [resolve, reject] = functions;
  });
  return { promise, resolve, reject };
}

/** The ways in which a test begins anew. */
const ENDS = {
  'a reset': (mailbox: Mailbox, _: FixtureInput) => mailbox.reset(),
  'a restore': (mailbox: Mailbox) => void mailbox.restore('start'),
  'another fixture': (mailbox: Mailbox, fixture: FixtureInput) => mailbox.load(fixture),
};

/** Starts a request whose body has not arrived completely; `finish` sends the rest. */
function startSlowRequest(mailbox: Mailbox, path: string, key: string, body: object) {
  let finish = () => {};
  const chunks = new ReadableStream<Uint8Array>({
    start(controller) {
      const bytes = new TextEncoder().encode(JSON.stringify(body));
      controller.enqueue(bytes.subarray(0, 5));
      finish = () => {
        controller.enqueue(bytes.subarray(5));
        controller.close();
      };
    },
  });
  const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' };
  const init = { method: 'POST', headers, body: chunks, duplex: 'half' };
  const reply = mailbox.fetch(mailbox.baseUrl + path, init as RequestInit);
  return { reply, finish };
}

describe('a request that began before', () => {
  for (const [name, end] of Object.entries(ENDS)) {
    everywhere(`${name} and waits for a latency fault leaves nothing behind`, async ({ mailbox, send }) => {
      mailbox.checkpoint('start');
      const fixture = mailbox.export();
      const before = stateOf(mailbox);
      mailbox.addFault({ on: 'request', operation: 'createWebhook', latency: { ms: 600_000 }, times: 1 });
      const reply = send('POST', '/v1/webhooks', { key: KEY, json: HOOK });
      await eventually(() => expect(mailbox.faults()).toEqual([]));
      end(mailbox, fixture);
      expect(await reply).toMatchObject(UNAVAILABLE);
      expect(stateOf(mailbox)).toEqual(before);
      expect((await send('GET', '/v1/webhooks', { key: KEY })).status).toBe(200);
      expect(mailbox.requests().map(({ id, operation }) => [id, operation])).toEqual([['req_1', 'listWebhooks']]);
    });

    test(`${name} and whose body is slow changes nothing`, async () => {
      const mailbox = createMailbox();
      mailbox.checkpoint('start');
      const fixture = mailbox.export();
      const before = stateOf(mailbox);
      const keys = [KEY, 'tk_unknown_tenant_key'];
      const slow = keys.map((key) => startSlowRequest(mailbox, '/v1/webhooks', key, HOOK));
      end(mailbox, fixture);
      for (const { finish } of slow) finish();
      for (const { reply } of slow) {
        const { status } = await reply;
        expect({ status, json: await (await reply).json() }).toMatchObject(UNAVAILABLE);
      }
      expect(stateOf(mailbox)).toEqual(before);
    });
  }

  test('the reset of its sandbox changes nothing in it, and others go on', async () => {
    const mailbox = createMailbox();
    const [sandbox, other] = [mailbox.createSandbox(), mailbox.createSandbox()];
    const rotation = `${mailbox.baseUrl}/v1/inboxes/${sandbox.ids.inboxes.helpdesk}/keys`;
    const rotated = await mailbox.fetch(rotation, { method: 'POST', headers: { 'X-API-Key': sandbox.keys.tenant } });
    const key: string = (await rotated.json()).key;
    const before = [stateOf(sandbox), stateOf(other)];
    const slow = [sandbox.keys.tenant, key, other.keys.tenant].map((each) =>
      startSlowRequest(mailbox, '/v1/webhooks', each, HOOK),
    );
    sandbox.reset();
    for (const { finish } of slow) finish();
    expect((await Promise.all(slow.map(({ reply }) => reply))).map(({ status }) => status)).toEqual([503, 503, 201]);
    const requestsOf = (each: typeof sandbox) => each.requests().map(({ id, status }) => [id, status]);
    expect([requestsOf(sandbox), requestsOf(other)]).toEqual([[], [['req_1', 201]]]);
    expect(sandbox.snapshot().tenants[0]?.webhooks).toEqual(before[0]?.data.tenants[0]?.webhooks);
    expect(mailbox.requests()).toHaveLength(1);
  });

  test('the end of its sandbox is not in the journal of the mailbox', async () => {
    const mailbox = createMailbox();
    const sandbox = mailbox.createSandbox();
    sandbox.addFault({ on: 'request', latency: { ms: 600_000 }, times: 1 });
    const reply = mailbox.fetch(`${mailbox.baseUrl}/v1/webhooks`, { headers: { 'X-API-Key': sandbox.keys.tenant } });
    await eventually(() => expect(mailbox.faults()).toEqual([]));
    const slow = startSlowRequest(mailbox, '/v1/webhooks', sandbox.keys.tenant, HOOK);
    sandbox.close();
    slow.finish();
    expect([(await reply).status, (await slow.reply).status]).toEqual([503, 503]);
    expect(mailbox.requests()).toEqual([]);
  });

  test('the deletion of its tenant keeps its reply and its place in the journal', async () => {
    const mailbox = createMailbox();
    mailbox.addFault({ on: 'request', operation: 'listWebhooks', latency: { ms: 600_000 }, times: 1 });
    const headers = { 'X-API-Key': KEY };
    const reply = mailbox.fetch(`${mailbox.baseUrl}/v1/webhooks`, { headers });
    await eventually(() => expect(mailbox.faults()).toEqual([]));
    const operator = { headers: { 'X-API-Key': mailbox.keys.operator }, method: 'DELETE' };
    await mailbox.fetch(`${mailbox.baseUrl}/v1/tenants/${mailbox.ids.acme.tenant}`, operator);
    expect((await reply).status).toBe(200);
    expect(mailbox.requests().map(({ status }) => status)).toEqual([200, 200]);
  });

  for (const path of ['/v1/webhooks', '/__mock/messages']) {
    test(`a reset over HTTP, to ${path}, changes nothing`, async () => {
      await using server = await startServer({ port: 0 });
      const before = stateOf(server.mailbox);
      const mail = { to: 'helpdesk@acme.test', from: 'z@customer.test', subject: 'Late', plainBody: 'Late' };
      const body = JSON.stringify(path === '/v1/webhooks' ? HOOK : mail);
      await using connection = await openConnection(server);
      const head = [`Content-Length: ${body.length}`, 'Content-Type: application/json', `X-API-Key: ${KEY}`];
      await connection.send(request(`POST ${path}`, [...head, 'Expect: 100-continue'], body.slice(0, 5)));
      expect((await connection.reply()).status).toBe(100);
      server.mailbox.reset();
      await connection.send(body.slice(5));
      const { status, json } = await connection.reply();
      expect({ status, json }).toMatchObject(UNAVAILABLE);
      expect(stateOf(server.mailbox)).toEqual(before);
    });
  }
});

describe('a mail that began before a reset', () => {
  test('is not delivered over SMTP, with or without a login', async () => {
    await using running = await startImap();
    const { mailbox } = running.server;
    const before = stateOf(mailbox);
    const { user, password } = running.login;
    for (const login of [undefined, Buffer.from(`\0${user}\0${password}`).toString('base64')]) {
      const talk = await openSmtp(running.smtpPort);
      await talk.reply('EHLO me');
      if (login !== undefined) await talk.reply(`AUTH PLAIN ${login}`);
      await talk.reply(`MAIL FROM:<${login === undefined ? 'z@customer.test' : user}>`);
      await talk.reply(`RCPT TO:<${user}>`);
      await talk.reply('DATA');
      talk.send(`From: ${user}\r\nSubject: Late\r\n\r\n`);
      mailbox.reset();
      expect(await talk.reply('Late\r\n.')).toMatch(/^451 4\.3\.2 .*was reset/);
      expect(stateOf(mailbox)).toEqual(before);
      await talk.reply(`MAIL FROM:<${login === undefined ? 'z@customer.test' : user}>`);
      await talk.reply(`RCPT TO:<${user}>`);
      await talk.reply('DATA');
      expect(await talk.reply(`From: ${user}\r\nTo: ${user}\r\nSubject: New\r\n\r\nNew\r\n.`)).toMatch(/^250 /);
      mailbox.reset();
    }
  });

  test('is not stored by an APPEND over IMAP, whose literal or whose fault takes long', async () => {
    await using running = await startImap();
    const { mailbox } = running.server;
    const before = stateOf(mailbox);
    const mail = toMail('Subject: Late\n\nLate');
    const slow = await running.session();
    slow.send(`a APPEND INBOX {${mail.length}}\r\n`);
    await slow.until('+');
    mailbox.addFault({ on: 'imap', kind: 'slow', delay: '1h', times: 1 });
    const waiting = await running.session();
    waiting.send(`a APPEND INBOX {${mail.length}+}\r\n${Buffer.from(mail).toString('latin1')}\r\n`);
    waiting.send('b STORE 1:* +FLAGS (\\Deleted)\r\n');
    // A later command of another client is answered, so the server has read the earlier ones.
    await (await running.session()).ok('NOOP');
    mailbox.reset();
    slow.send(`${Buffer.from(mail).toString('latin1')}\r\n`);
    expect(await waiting.ended()).toContain('BYE The mailbox was reset');
    expect(await slow.ended()).toContain('BYE The mailbox was reset');
    expect(stateOf(mailbox)).toEqual(before);
  });

  test('is not delivered by a sample whose code is still loaded', async () => {
    const mailbox = createMailbox();
    const before = stateOf(mailbox);
    const received = mailbox.receiveMessage({ to: 'helpdesk@acme.test', sample: 'no-reply' });
    mailbox.reset();
    await expect(received).rejects.toMatchObject({ code: 'SERVER_UNAVAILABLE' });
    expect(stateOf(mailbox)).toEqual(before);
    expect(mailbox.samples()).toEqual([]);
  });
});

describe('work that began before a reset', () => {
  test('does not add the answers or the failure of a correspondent, and nobody waits for it', async () => {
    for (const outcome of ['answers', 'fails', 'never ends']) {
      const report = vi.fn();
      const mailbox = createMailbox({ environment: { report } });
      const { resolve, reject, promise } = withResolvers();
      const write = vi.fn(() => promise);
      mailbox.addCorrespondent({ address: 'dana@customer.test', replies: write });
      const path = `${mailbox.baseUrl}/v1/inboxes/${mailbox.ids.acme.inboxes.helpdesk}/send`;
      const headers = { 'X-API-Key': KEY, 'Content-Type': 'application/json' };
      const mail = { to: 'dana@customer.test', subject: 'Hi', plainBody: 'Hi', verified: true };
      await mailbox.fetch(path, { method: 'POST', headers, body: JSON.stringify(mail) });
      await eventually(() => expect(write).toHaveBeenCalled());
      const former = [mailbox.settled({ timeout: '1h' }), mailbox.clock.advance('1d')];
      mailbox.reset();
      if (outcome === 'answers') resolve('Hello');
      if (outcome === 'fails') reject(new Error('It fails.'));
      await mailbox.settled();
      await mailbox.clock.advance('1h');
      expect(mailbox.messages()).toEqual([]);
      if (outcome !== 'never ends') await Promise.all(former);
      await mailbox.settled();
      expect(report).toHaveBeenCalledTimes(outcome === 'fails' ? 1 : 0);
    }
  });

  test('does not add a webhook whose receiver begins to listen after it', async () => {
    const mailbox = createMailbox();
    const before = stateOf(mailbox);
    const { resolve, promise } = withResolvers();
    const receiver = { listen: () => promise, secret: '' };
    const added = mailbox.addWebhook({ receiver, tenant: mailbox.ids.acme.tenant });
    mailbox.reset();
    resolve('http://127.0.0.1:9/late');
    await expect(added).rejects.toMatchObject({ code: 'SERVER_UNAVAILABLE' });
    expect(stateOf(mailbox)).toEqual(before);
  });
});
