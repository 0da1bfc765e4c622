import { once } from 'node:events';
import { connect } from 'node:net';
import { startServer } from 'agent-mailbox-mock/server';
import { ImapFlow } from 'imapflow';
import { createTransport } from 'nodemailer';
import { expect, test } from 'vitest';
import { addressContains, foldAddress, toAsciiDomain } from '../../../src/basics/domain-name.ts';
import { isBareAddress } from '../../../src/contract/addresses/email-address.ts';
import { everywhere, interceptRequests } from '../../support/everywhere.ts';
import { IDS } from '../../support/ids.ts';

interceptRequests();

const { helpdesk } = IDS.acme.inboxes;
const UNICODE = 'dana@münchen.test';
const ASCII = 'dana@xn--mnchen-3ya.test';

test.each([
  ['München.TEST', 'xn--mnchen-3ya.test'],
  ['mu\u0308nchen.test', 'xn--mnchen-3ya.test'],
  ['XN--Mnchen-3ya.test', 'xn--mnchen-3ya.test'],
  ['straße.test', 'xn--strae-oqa.test'],
  ['例え。テスト', 'xn--r8jz45g.xn--zckzah'],
  ['acme.test', 'acme.test'],
  ['bücher.test/path', 'bücher.test/path'],
  ['ü@bücher.test', 'ü@bücher.test'],
  ['１２７.0.0.1', '127.0.0.1'],
  [`${'ü'.repeat(254)}.test`, `${'ü'.repeat(254)}.test`],
])('the domain %j has the ASCII form %j', (written, ascii) => {
  expect(toAsciiDomain(written)).toBe(ascii);
  expect(toAsciiDomain(ascii)).toBe(ascii);
});

test.each([
  ['ü@bücher.test', true],
  ['ü@xn--bcher-kva.test', true],
  ['用户@例え.テスト', true],
  [`${'ü'.repeat(32)}@a.test`, true],
  [`${'ü'.repeat(33)}@a.test`, false],
  ['a\u200bb@a.test', false],
  ['a b@bücher.test', false],
  ['a@bücher', false],
  ['a@bü cher.test', false],
  ['acme.test', false],
  ['@acme.test', false],
])('%j is an address: %s', (address, isAddress) => {
  expect(isBareAddress(address)).toBe(isAddress);
});

test('an address contains a text in both forms of its domain', () => {
  expect(foldAddress('Dana <Dana@München.test>')).toBe('dana <dana@xn--mnchen-3ya.test>');
  for (const address of [UNICODE, ASCII, `Dana <${UNICODE}>`])
    for (const text of [UNICODE, ASCII, 'münchen', 'xn--mnchen-3ya', '@münchen.test'])
      expect(addressContains(address, text), `${address} contains ${text}`).toBe(true);
  expect(addressContains(ASCII, 'bücher')).toBe(false);
});

everywhere('mail from an international address can be answered in both forms of its domain', async (service) => {
  const { mailbox, send } = service;
  const key = mailbox.keys.acme.inboxes.helpdesk;
  const path = `/v1/inboxes/${helpdesk}`;
  await mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: `Dana <${UNICODE}>`, subject: 'Hi', plainBody: 'Hi' });
  for (const to of [UNICODE, ASCII, `Dana <${ASCII}>`, 'DANA@MÜNCHEN.TEST']) {
    const reply = await send('POST', `${path}/send`, { key, json: { to, subject: to } });
    expect([to, reply.status]).toEqual([to, 200]);
    expect(reply.headers.get('x-mock-assumed')).not.toContain('sending.verified');
  }
  const repeated = { to: [UNICODE, ASCII], subject: 'Once' };
  expect((await send('POST', `${path}/send`, { key, json: repeated })).status).toBe(200);
  expect(mailbox.messages({ to: ASCII, subject: 'Once' })).toHaveLength(1);
  expect(mailbox.messages({ to: UNICODE })).toHaveLength(5);
  const { json } = await send('GET', `${path}/messages`, { key });
  const stranger = await send('POST', `${path}/send`, { key, json: { to: 'ü@bücher.test', subject: 'Hi' } });
  expect([stranger.status, stranger.json.code]).toEqual([403, 'UNVERIFIED_RECIPIENT']);
  const first = json.messages.find((message: { from: string }) => message.from === UNICODE);
  const answer = await send('POST', `${path}/reply-all/${first.id}`, { key, json: { cc: [ASCII] } });
  expect(answer.status).toBe(200);
});

everywhere('a domain is the same in both of its forms', async ({ mailbox, send }) => {
  const key = mailbox.keys.acme.tenant;
  const created = await send('POST', '/v1/domains', { key, json: { domain: 'Bücher.test' } });
  expect([created.status, created.json.domain]).toEqual([201, 'xn--bcher-kva.test']);
  const again = await send('POST', '/v1/domains', { key, json: { domain: 'xn--bcher-kva.test' } });
  expect(again.status).toBe(409);
  for (const name of ['bücher.test', 'XN--bcher-kva.test']) {
    const found = await send('GET', `/v1/domains/${encodeURIComponent(name)}/verify`, { key });
    expect([found.status, found.json.status]).toEqual([200, 'verified']);
  }
  const inbox = await send('POST', '/v1/inboxes', { key, json: { username: 'ada', domain: 'bücher.test' } });
  expect([inbox.status, inbox.json.email]).toEqual([201, 'ada@xn--bcher-kva.test']);
  const addresses = `/v1/inboxes/${inbox.json.id}/addresses`;
  const added = await send('POST', addresses, { key, json: { email: 'Ä@Bücher.test' } });
  expect([added.status, added.json.address]).toEqual([201, 'ä@xn--bcher-kva.test']);
  await mailbox.receiveMessage({ to: 'ä@bücher.test', from: 'dana@customer.test', subject: 'To Ä', plainBody: 'Hi' });
  expect(mailbox.messages({ to: 'Ä@xn--bcher-kva.test' })).toMatchObject([{ subject: 'To Ä' }]);
  const removed = await send('DELETE', `${addresses}/${encodeURIComponent('ä@BÜCHER.test')}`, { key });
  expect(removed.status).toBe(200);
  const bounced = await send('POST', '/v1/verify-email', { key, json: { email: 'nobody@bücher.test' } });
  expect(bounced.json).toMatchObject({ valid: false, reason: 'no-such-inbox' });
});

everywhere(
  'an entry of a list and a correspondent are found in both forms of their domains',
  async ({ mailbox, send }) => {
    const key = mailbox.keys.acme.tenant;
    const entries = `/v1/inboxes/${helpdesk}/lists/${IDS.acme.lists.customers}/entries`;
    expect(await send('POST', entries, { key, json: { email: UNICODE } })).toMatchObject({ status: 201 });
    expect(await send('POST', entries, { key, json: { email: ASCII } })).toMatchObject({ status: 409 });
    await mailbox.addCorrespondent({ address: UNICODE, replies: ['Danke.'] });
    const json = { to: ASCII, subject: 'Question', verified: true };
    await send('POST', `/v1/inboxes/${helpdesk}/send`, { key, json });
    await mailbox.settled();
    expect(mailbox.messages({ to: 'helpdesk@acme.test', subject: 'Re: Question' })).toHaveLength(1);
    expect(mailbox.searchMail({ search: `to:${UNICODE}` }).messages).toMatchObject([{ subject: 'Question' }]);
  },
);

test('SMTP and IMAP take an address in both forms, as REST does', async () => {
  await using server = await startServer({ port: 0, smtpPort: 0, imapPort: 0 });
  const { mailbox } = server;
  const client = mailbox.client(mailbox.keys.acme.tenant);
  await client.createDomain({ domain: 'bücher.test' });
  await client.verifyDomain('xn--bcher-kva.test');
  const inbox = await client.createInbox({ username: 'ada', domain: 'bücher.test' });
  const pass = 'imapPassword' in inbox ? inbox.imapPassword : '';
  const auth = { user: 'ada@bücher.test', pass };
  const transport = createTransport({ port: server.smtp?.port ?? 0, host: '127.0.0.1', ignoreTLS: true, auth });
  for (const to of ['ü@bücher.test', UNICODE, ASCII]) {
    const mail = { from: 'ada@bücher.test', to, subject: `To ${to}`, text: 'Hi' };
    expect((await transport.sendMail(mail)).response).toMatch(/^250/);
  }
  const socket = connect(server.smtp?.port ?? 0, '127.0.0.1').setEncoding('utf8');
  const line = async (text: string) => {
    if (text !== '') socket.write(`${text}\r\n`);
    let answer = '';
    while (!/^\d{3} .*\r\n$/m.test(answer)) answer += (await once(socket, 'data'))[0];
    return answer;
  };
  await line('');
  await line('EHLO x');
  await line('MAIL FROM:<dana@customer.test>');
  for (const address of ['ada@bücher.test', 'ada@xn--bcher-kva.test'])
    expect(await line(`RCPT TO:<${address}>`)).toMatch(/^250/);
  socket.destroy();
  const imap = new ImapFlow({ host: '127.0.0.1', port: server.imap?.port ?? 0, secure: false, auth, logger: false });
  await imap.connect();
  await imap.mailboxOpen('Sent');
  const found = [];
  for (const to of [UNICODE, ASCII, 'münchen', 'xn--mnchen-3ya']) found.push(await imap.search({ to }));
  expect(found).toEqual([
    [2, 3],
    [2, 3],
    [2, 3],
    [2, 3],
  ]);
  await imap.logout();
});
