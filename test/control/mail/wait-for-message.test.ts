import { createMailbox } from 'agent-mailbox-mock';
import { startServer } from 'agent-mailbox-mock/server';
import { expect, test, vi } from 'vitest';
import { control, sendControl } from '../../support/control.ts';
import { eventually } from '../../support/eventually.ts';
import { everywhere, interceptRequests, type Service } from '../../support/everywhere.ts';
import { IDS } from '../../support/ids.ts';
import { openInboxClients } from '../../support/inbox-clients.ts';

interceptRequests();

const HELPDESK = 'helpdesk@acme.test';
const DANA = 'dana@customer.test';

type Query = Record<string, string>;

/** Waits for a mail by the method in process, and by the control call over HTTP. */
function wait(service: Service, options: Query) {
  const path = `GET /messages/wait?${new URLSearchParams(options)}` as const;
  return control(service, path, undefined, () => service.mailbox.waitForMessage(options as never));
}

function list(service: Service, filter: Query = {}) {
  const path = `GET /messages?${new URLSearchParams(filter)}` as const;
  return control(service, path, undefined, () => ({ messages: service.mailbox.messages(filter) }));
}

function receive({ mailbox }: Service, subject: string, rest: object = {}) {
  return mailbox.receiveMessage({ to: HELPDESK, from: DANA, subject, ...rest });
}

function send({ send, mailbox }: Service, to: string, subject: string) {
  const json = { to, subject, plainBody: 'Your code is 4711.', verified: true };
  return send('POST', `/v1/inboxes/${IDS.acme.inboxes.helpdesk}/send`, { key: mailbox.keys.acme.tenant, json });
}

everywhere('a mail that has arrived is returned with everything that it contains', async (service) => {
  const [message] = await receive(service, 'Order 1042', {
    plainBody: 'As agreed.',
    htmlBody: '<p>As agreed.</p>',
    headers: { 'List-Id': '<orders.customer.test>' },
    attachments: [{ filename: 'a.txt', contentType: 'text/plain', content: new TextEncoder().encode('abc') }],
  });
  const { status, json } = await wait(service, { to: HELPDESK });
  expect([status, json]).toEqual([
    200,
    {
      id: message?.id,
      tenantId: IDS.acme.tenant,
      inboxId: IDS.acme.inboxes.helpdesk,
      threadId: message?.threadId,
      direction: 'inbound',
      from: DANA,
      to: [HELPDESK],
      cc: [],
      bcc: [],
      replyTo: null,
      subject: 'Order 1042',
      plainBody: 'As agreed.',
      htmlBody: '<p>As agreed.</p>',
      inReplyTo: null,
      messageIdHeader: expect.stringMatching(/^<.*@customer\.test>$/),
      receivedAt: expect.any(String),
      headers: expect.objectContaining({ from: DANA, subject: 'Order 1042', 'list-id': '<orders.customer.test>' }),
      attachments: [
        { id: expect.any(String), filename: 'a.txt', contentType: 'text/plain', sizeBytes: 3, content: 'YWJj' },
      ],
      code: null,
      link: null,
    },
  ]);
});

everywhere('a mail that arrives later ends the wait', async (service) => {
  const waiting = wait(service, { to: HELPDESK, subject: '1042', timeout: '1h' });
  await receive(service, 'Order 7');
  await receive(service, 'Order 1042');
  expect((await waiting).json).toMatchObject({ subject: 'Order 1042' });
});

everywhere('a mail that was sent to an address outside is found by this address', async (service) => {
  const waiting = wait(service, { to: DANA.toUpperCase() });
  const { json } = await send(service, `Dana <${DANA}>`, 'Sign in');
  expect((await waiting).json).toMatchObject({ id: json.id, direction: 'outbound', plainBody: 'Your code is 4711.' });
});

everywhere('a mail between two inboxes is found once, as the recipient has it', async (service) => {
  await send(service, 'info@globex.test', 'Hello');
  const { json } = await list(service, { to: 'info@globex.test' });
  expect(json.messages).toMatchObject([{ direction: 'inbound', tenantId: IDS.globex.tenant }]);
});

everywhere('a mail to several inboxes is found in the one with the address', async (service) => {
  await receive(service, 'Both', { to: [HELPDESK, 'billing@acme.test'] });
  const { json } = await wait(service, { to: 'billing@acme.test' });
  expect(json.inboxId).toBe(IDS.acme.inboxes.billing);
});

everywhere('a tagged address finds only mail with the tag', async (service) => {
  await receive(service, 'Plain');
  await receive(service, 'Tagged', { to: 'helpdesk+42@acme.test' });
  expect((await list(service, { to: 'helpdesk+42@acme.test' })).json.messages).toMatchObject([{ subject: 'Tagged' }]);
  expect((await list(service, { to: HELPDESK })).json.messages).toHaveLength(2);
});

everywhere('of several mails, the newest one is returned', async (service) => {
  await receive(service, 'First');
  await receive(service, 'Second');
  expect((await wait(service, { to: HELPDESK })).json.subject).toBe('Second');
});

everywhere('with since, a mail must be newer than a message, or than a time', async (service) => {
  const { mailbox } = service;
  mailbox.clock.freeze('2026-03-01T09:00:00Z');
  const [first] = await receive(service, 'First');
  const waiting = wait(service, { to: HELPDESK, since: first?.id ?? '', timeout: '1h' });
  await receive(service, 'Second');
  expect((await waiting).json.subject).toBe('Second');
  await mailbox.clock.advance('1h');
  const later = wait(service, { to: HELPDESK, since: '2026-03-01T09:30:00Z', timeout: '1h' });
  await receive(service, 'Third');
  expect((await later).json.subject).toBe('Third');
  const since = mailbox.clock.now();
  expect(mailbox.messages({ since }).map(({ subject }) => subject)).toEqual(['Third']);
  expect((await mailbox.waitForMessage({ to: HELPDESK, since })).subject).toBe('Third');
});

everywhere('mail of the fixture, deleted mail and triggered events do not count', async (service) => {
  const { mailbox } = service;
  const [gone] = await receive(service, 'Gone');
  const key = mailbox.keys.acme.tenant;
  await service.send('DELETE', `/v1/inboxes/${gone?.inboxId}/messages/${gone?.id}`, { key });
  mailbox.trigger('message.received', { inboxId: IDS.acme.inboxes.helpdesk });
  expect((await list(service)).json.messages).toEqual([]);
});

everywhere(
  'mail that only its envelope addresses to an inbox is found by each address of the inbox, and no other',
  async (service) => {
    const { helpdesk } = openInboxClients(service);
    const path = `/v1/inboxes/${helpdesk.id}/addresses`;
    const key = service.mailbox.keys.acme.tenant;
    expect(
      (await service.send('POST', path, { key, json: { email: 'second@acme.test', primary: false } })).status,
    ).toBe(201);
    const eml = new TextEncoder().encode(`From: ${DANA}\r\nTo: everybody@list.test\r\nSubject: To a list\r\n\r\nHi`);
    await service.mailbox.receiveMessage({ eml, to: HELPDESK });
    const foundBy = async (to: string) =>
      (await list(service, { to, subject: 'To a list' })).json.messages.map(
        ({ subject }: { subject: string }) => subject,
      );
    expect(await foundBy(HELPDESK)).toEqual(['To a list']);
    expect(await foundBy('second@acme.test')).toEqual(['To a list']);
    expect(await foundBy('billing@acme.test')).toEqual([]);
  },
);

everywhere(
  'a blind copy to a further address of an inbox has arrived there, and at no other inbox',
  async (service) => {
    const { mailbox, send } = service;
    const [email, key] = ['second@acme.test', mailbox.keys.acme.tenant];
    const added = await send('POST', `/v1/inboxes/${IDS.acme.inboxes.helpdesk}/addresses`, { key, json: { email } });
    expect(added.status).toBe(201);
    await mailbox.receiveMessage({
      to: email,
      eml: 'From: a@b.test\r\nTo: team@b.test\r\nSubject: Blind\r\n\r\nx\r\n',
    });
    expect((await wait(service, { to: email })).json).toMatchObject({ subject: 'Blind', to: ['team@b.test'] });
    expect((await list(service, { to: HELPDESK })).json.messages).toMatchObject([{ subject: 'Blind' }]);
    expect((await list(service, { to: 'billing@acme.test' })).json.messages).toEqual([]);
  },
);

everywhere('after the timeout, the error lists what did arrive', async (service) => {
  service.mailbox.clock.freeze('2026-03-01T09:00:00Z');
  await receive(service, 'Order 7');
  await send(service, DANA, 'Sign in');
  expect(await wait(service, { to: HELPDESK, subject: 'Order 8', timeout: '1ms' })).toMatchObject({
    status: 404,
    json: {
      code: 'NOT_FOUND',
      error:
        'No mail to helpdesk@acme.test with "Order 8" in its subject arrived within 1 ms; what came instead: ' +
        '"Order 7" to helpdesk@acme.test (received 2026-03-01T09:00:00.000Z), ' +
        '"Sign in" to dana@customer.test (sent 2026-03-01T09:00:00.000Z).\n' +
        'What happened:\n' +
        '  09:00:00 "Order 7" from dana@customer.test arrived at helpdesk@acme.test.\n' +
        '  No webhook of the tenant could be told of it.\n' +
        '  1 request came after it, and none read it:\n' +
        `    req_1, POST /v1/inboxes/${IDS.acme.inboxes.helpdesk}/send → 200\n` +
        '  09:00:00 "Sign in" was sent to dana@customer.test by req_1.',
    },
  });
});

everywhere('the error lists at most ten mails, and says when there were none', async (service) => {
  const { error } = (await wait(service, { to: DANA, timeout: '1ms' })).json;
  expect(error).toBe('No mail to dana@customer.test arrived within 1 ms, and no other mail either.');
  for (let count = 1; count <= 12; count += 1) await receive(service, `Order ${count}`);
  const { json } = await wait(service, { to: DANA, timeout: '1ms' });
  expect(json.error).toMatch(
    /instead: "Order 3" .*"Order 12" to helpdesk@acme\.test \(.*\) and 2 before that\.\nWhat happened:\n/,
  );
  expect(json.error.split('What happened:\n')[1].split('\n').length).toBeLessThanOrEqual(20);
});

test('a reset, and the end of a tenant, end the wait', async () => {
  const mailbox = createMailbox();
  const headers = { 'X-API-Key': mailbox.keys.operator, 'Content-Type': 'application/json' };
  const tenant = mailbox.ids.globex.tenant;
  const ofTenant = expect(mailbox.waitForMessage({ to: DANA, tenant, timeout: '1h' })).rejects.toMatchObject({
    message: 'The tenant was deleted before mail to dana@customer.test arrived.',
    code: 'CONFLICT',
  });
  const ofAny = expect(mailbox.waitForMessage({ to: DANA, subject: 'Hi', timeout: '1h' })).rejects.toThrow(
    'The mailbox was reset before mail to dana@customer.test with "Hi" in its subject arrived.',
  );
  await mailbox.fetch(new Request(`https://mailbox.test/v1/tenants/${tenant}`, { method: 'DELETE', headers }));
  await ofTenant;
  mailbox.reset();
  await ofAny;
});

everywhere('a wrong option is refused with what would be right', async (service) => {
  const wrong: readonly (readonly [Query, RegExp])[] = [
    [{}, /to must be an e-mail address/],
    [{ to: 'Dana <dana@customer.test>' }, /to must be an e-mail address without a name/],
    [{ to: DANA, since: 'yesterday' }, /since must be a time such as .* or the id of a message/],
    [{ to: DANA, tenant: 'acme' }, /tenant must be the UUID of a tenant/],
    [{ to: DANA, timeout: 'soon' }, /timeout must be milliseconds or a text/],
    [{ to: DANA, timeout: '99999999999' }, /timeout must be at most 1h/],
    [{ to: DANA, direction: 'up' }, /direction must be inbound or outbound/],
    [{ to: DANA, topic: 'x' }, /topic/],
  ];
  for (const [options, error] of wrong) {
    const { status, json } = await wait(service, options);
    expect([status, json.error]).toEqual([400, expect.stringMatching(error)]);
  }
  const unknown = await wait(service, { to: DANA, since: IDS.acme.tenant });
  expect((await wait(service, { to: DANA, tenant: IDS.acme.inboxes.helpdesk })).status).toBe(404);
  expect(unknown.json).toMatchObject({
    code: 'NOT_FOUND',
    error: 'There is no message with the id in since.',
  });
});

test('in code, a subject can be a regular expression, also one with state', async () => {
  const mailbox = createMailbox();
  await mailbox.receiveMessage({ to: HELPDESK, from: DANA, subject: 'Your code' });
  const subject = /CODE$/gi;
  for (let count = 0; count < 3; count += 1) {
    expect(await mailbox.waitForMessage({ to: HELPDESK, subject })).toMatchObject({ subject: 'Your code' });
  }
  await expect(mailbox.waitForMessage({ to: HELPDESK, subject: /^x/, timeout: 1 })).rejects.toThrow(
    'No mail to helpdesk@acme.test with /^x/ in its subject arrived within 1 ms',
  );
});

test('a raw mail has the header that it came with', async () => {
  const mailbox = createMailbox();
  const eml =
    'From: dana@customer.test\r\nTo: helpdesk@acme.test\r\nList-Id: <a\r\n b>\r\nX-One: 1\r\n\r\nX-Two: 2\r\n';
  await mailbox.receiveMessage({ eml: new TextEncoder().encode(eml) });
  const { headers } = await mailbox.waitForMessage({ to: HELPDESK });
  expect(headers).toEqual({ from: DANA, to: HELPDESK, 'list-id': '<a b>', 'x-one': '1' });
});

test('the end of a server ends a wait', async () => {
  const server = await startServer({ port: 0 });
  const called = vi.spyOn(server.mailbox, 'waitForMessage');
  const waiting = sendControl(`${server.url}/__mock/messages/wait?to=${DANA}&timeout=1h`, 'GET');
  await eventually(() => expect(called).toHaveBeenCalled());
  const [{ json }] = await Promise.all([waiting, server.close()]);
  expect(json.error).toBe('The server was closed before mail to dana@customer.test arrived.');
});

test('a mailbox remembers the latest 10,000 mails of each tenant', async () => {
  const mailbox = createMailbox();
  await mailbox.receiveMessage({ to: 'info@globex.test', from: DANA });
  for (let count = 0; count <= 10_000; count += 1) {
    await mailbox.receiveMessage({ to: HELPDESK, from: DANA, subject: String(count) });
  }
  expect(mailbox.messages({ to: HELPDESK })).toHaveLength(10_000);
  expect(mailbox.messages()).toHaveLength(10_001);
});

test('in a sandbox, only its own mail counts, and its reset and end end the wait', async () => {
  const mailbox = createMailbox();
  const [one, other] = [mailbox.createSandbox(), mailbox.createSandbox()];
  const to = `helpdesk@${one.domain}`;
  await one.receiveMessage({ to, from: DANA, subject: 'Mine' });
  expect(await mailbox.waitForMessage({ to, sandbox: one.id })).toMatchObject({ subject: 'Mine', tenantId: one.id });
  expect(other.messages()).toEqual([]);
  await expect(other.waitForMessage({ to, timeout: 1 })).rejects.toThrow('and no other mail either.');

  const waiting = expect(one.waitForMessage({ to, subject: 'Next', timeout: '1h' })).rejects.toThrow(
    /was reset before/,
  );
  other.reset();
  one.reset();
  await waiting;
  expect(one.messages()).toEqual([]);
  const last = expect(one.waitForMessage({ to, timeout: '1h' })).rejects.toThrow(/The sandbox was closed before/);
  one.close();
  await last;
});

test('over HTTP, the query parameter sandbox selects the mail of a sandbox', async () => {
  await using server = await startServer({ port: 0 });
  const sandbox = server.mailbox.createSandbox();
  await sandbox.receiveMessage({ to: `helpdesk@${sandbox.domain}`, from: DANA, subject: 'Mine' });
  const query = `to=helpdesk@${sandbox.domain}&sandbox=${sandbox.id}`;
  const { status, json } = await sendControl(`${server.url}/__mock/messages/wait?${query}`, 'GET');
  expect([status, json.subject]).toEqual([200, 'Mine']);
});
