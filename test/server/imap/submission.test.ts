import { createTransport } from 'nodemailer';
import { describe, expect, test } from 'vitest';
import { type ImapTestServer, startImap, toMail } from '../../support/imap-server.ts';
import { readFetch } from '../../support/imap-talk.ts';

function transportOf({ smtpPort, login }: ImapTestServer, password = login.password) {
  return createTransport({
    ...{ host: '127.0.0.1', port: smtpPort, ignoreTLS: true },
    auth: { user: login.user, pass: password },
  });
}

const MAIL = { to: 'Dana <dana@customer.test>', subject: 'Größe', text: 'Grüße', messageId: '<own-1@agent.test>' };

describe('submission', () => {
  test('sends as the inbox that has logged in, as the API does', async () => {
    await using running = await startImap();
    const { user } = running.login;
    const smtp = transportOf(running);
    await smtp.sendMail({
      ...MAIL,
      from: `Help <${user}>`,
      bcc: 'success@simulator.test',
      inReplyTo: '<login-3@customer.test>',
    });
    smtp.close();
    const [sent] = running.server.mailbox.messages({ direction: 'outbound' });
    expect(sent).toMatchObject({ to: [MAIL.to], bcc: ['success@simulator.test'], messageIdHeader: MAIL.messageId });
    const { messages } = (await running.api('GET', '/messages?direction=inbound')).json;
    expect(sent?.threadId).toBe(messages.at(0).threadId);
    const raw = (await running.api('GET', `/messages/${sent?.id}/raw`)).text;
    expect(raw).toContain('Subject: =?UTF-8?');
    expect(raw).not.toMatch(/^bcc|simulator/im);
  });

  test('a mail to an inbox arrives there, and APPEND to Sent does not store it twice', async () => {
    await using running = await startImap();
    const smtp = transportOf(running);
    const eml = toMail(
      `From: ${running.login.user}\nTo: info@globex.test\nSubject: Hi\nMessage-ID: <own-2@agent.test>\n\nx\n`,
    );
    const envelope = { from: running.login.user, to: ['info@globex.test'] };
    await smtp.sendMail({ envelope, raw: Buffer.from(eml) });
    smtp.close();
    expect(running.server.mailbox.messages({ subject: 'Hi' })).toHaveLength(2);
    const talk = await running.session('Sent');
    const before = await talk.ok('UID SEARCH HEADER Message-ID own-2@agent.test');
    const { result } = await talk.command('APPEND Sent (\\Seen)', eml);
    expect(`SEARCH ${/APPENDUID \d+ (\d+)/.exec(result)?.[1]}`).toBe(before[0]);
    const [line = ''] = await talk.ok('UID FETCH * BODY.PEEK[TEXT]');
    expect(readFetch(line)['BODY[TEXT]']).toBe('x\r\n');
    expect((await talk.ok('STATUS Sent (MESSAGES)'))[0]).toBe('STATUS "Sent" (MESSAGES 2)');
  });

  test.for([
    ['a sender that is not of the inbox', { from: 'other@acme.test', to: 'a@b.test' }, 553],
    ['a recipient that is not an address', { from: 'helpdesk@acme.test', to: 'a@b' }, 553],
    ['the simulator of a relay that fails', { from: 'helpdesk@acme.test', to: 'relay-error@simulator.test' }, 451],
    ['the simulator that pauses', { from: 'helpdesk@acme.test', to: 'pause@simulator.test' }, 550],
  ] as const)('refuses %s', async ([, { from, to }, code]) => {
    await using running = await startImap();
    const smtp = transportOf(running);
    const sending = smtp.sendMail({ envelope: { from, to }, raw: `From: ${from}\r\n\r\nx` });
    await expect(sending).rejects.toMatchObject({ responseCode: code });
    smtp.close();
  });

  test('a header with another sender is refused, and so is a wrong password', async () => {
    await using running = await startImap();
    const smtp = transportOf(running);
    const envelope = { from: running.login.user, to: 'a@b.test' };
    await expect(smtp.sendMail({ envelope, raw: 'From: boss@acme.test\r\n\r\nx' })).rejects.toMatchObject({
      responseCode: 550,
    });
    smtp.close();
    const wrong = transportOf(running, 'wrong');
    await expect(wrong.sendMail({ ...MAIL, from: running.login.user })).rejects.toMatchObject({
      response: '535 5.7.8 The login is wrong; use the canonicalEmail of an inbox as the user, and its imapPassword.',
    });
    wrong.close();
    expect(running.server.mailbox.messages({ direction: 'outbound' })).toEqual([]);
  });

  test('the rule of verified recipients can be checked', async () => {
    await using running = await startImap({ behaviours: { 'submission.verified': 'checked' } });
    const smtp = transportOf(running);
    const from = running.login.user;
    await expect(smtp.sendMail({ ...MAIL, to: 'new@b.test', from })).rejects.toMatchObject({ responseCode: 550 });
    await smtp.sendMail({ ...MAIL, from });
    smtp.close();
  });

  test('imap and smtp of an inbox show what listens, or what the service shows', async () => {
    await using running = await startImap();
    const shown = (await running.api('GET', '')).json;
    expect(shown.imap).toMatchObject({ host: '127.0.0.1', port: running.imapPort, tls: false });
    expect(shown.smtp).toMatchObject({ host: '127.0.0.1', port: running.smtpPort, starttls: false });
    await using other = await startImap({ behaviours: { 'inboxes.mail-servers': 'service' } });
    expect((await other.api('GET', '')).json.imap).toMatchObject({ host: 'imap.mailbox.test', port: 993, tls: true });
  });

  test('the journal shows logins, changes and content that was read, and HAR and matchers leave them out', async () => {
    await using running = await startImap();
    const { mailbox } = running.server;
    const id = await running.receive('Fresh');
    const talk = await running.session('INBOX');
    await talk.ok('FETCH 3 BODY.PEEK[TEXT]');
    await talk.ok('FETCH 3 FLAGS');
    await talk.ok('MOVE 3 Trash');
    const smtp = transportOf(running);
    await smtp.sendMail({ ...MAIL, from: running.login.user });
    smtp.close();
    const entries = mailbox.requests();
    expect(entries.map(({ protocol, method, status }) => [protocol, method, status])).toEqual([
      ['imap', 'LOGIN', 200],
      ['imap', 'FETCH', 200],
      ['imap', 'MOVE', 200],
      ['smtp', 'AUTH PLAIN', 200],
      ['smtp', 'DATA', 200],
    ]);
    expect(entries[1]).toMatchObject({ path: 'INBOX', read: [id], reply: { body: expect.stringContaining(id) } });
    expect(entries.map(({ read }) => read.length)).toEqual([0, 1, 1, 0, 0]);
    expect(JSON.stringify(entries)).not.toContain(running.login.password);
    expect(mailbox.requests({ protocol: 'http' })).toEqual([]);
    const har = await fetch(`${running.server.control}/requests?format=har`);
    expect((await har.json()).log.entries).toEqual([]);
  });
});
