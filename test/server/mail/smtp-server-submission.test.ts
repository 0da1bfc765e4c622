import { once } from 'node:events';
import { connect } from 'node:net';
import { createTransport } from 'nodemailer';
import { describe, expect, test } from 'vitest';
import { type ImapTestServer, startImap, toMail } from '../../support/imap-server.ts';
import { readFetch } from '../../support/imap-talk.ts';

function transportOf({ smtpPort, login }: ImapTestServer, password = login.password) {
  return createTransport({
    host: '127.0.0.1',
    port: smtpPort,
    ignoreTLS: true,
    auth: { user: login.user, pass: password },
  });
}

/** Submits bytes as they are, because a mail client would change the ends of their lines. Returns the last reply. */
async function submitBytes({ smtpPort, login }: ImapTestServer, to: string, raw: string): Promise<string> {
  const socket = connect(smtpPort, '127.0.0.1').setEncoding('latin1');
  await once(socket, 'data');
  const auth = Buffer.from(`\0${login.user}\0${login.password}`).toString('base64');
  const lines = ['EHLO x', `AUTH PLAIN ${auth}`, `MAIL FROM:<${login.user}>`, `RCPT TO:<${to}>`, 'DATA', `${raw}\r\n.`];
  let reply = '';
  for (const line of lines) {
    reply = '';
    socket.write(`${line}\r\n`);
    while (!/^\d{3} .*\r\n$/m.test(reply)) reply += (await once(socket, 'data'))[0];
  }
  socket.destroy();
  return reply;
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
    ['DATE: Thu, 01 Jan 2026 09:00:00 +0000\r\nMESSAGE-ID: <own-4@agent.test>\r\n', ['DATE', 'MESSAGE-ID']],
    ['Date: Thu, 01 Jan 2026 09:00:00 +0000\r\n', ['Message-ID', 'Date']],
    ['X-Date: later\r\nX-Message-ID: <own-5@agent.test>\r\n', ['Date', 'Message-ID']],
  ] as const)('adds only those of Date and Message-ID that are missing to %j', async ([fields, expected]) => {
    await using running = await startImap();
    const raw = `${fields}From: ${running.login.user}\r\nTo: success@simulator.test\r\nSubject: Complete\r\n\r\nx`;
    expect(await submitBytes(running, 'success@simulator.test', raw)).toMatch(/^250 /);
    const [sent] = running.server.mailbox.messages({ subject: 'Complete' });
    const stored = (await running.api('GET', `/messages/${sent?.id}/raw`)).text;
    const [head = ''] = stored.split('\r\n\r\n');
    expect([...head.matchAll(/^(Date|Message-ID):/gim)].map(([, name]) => name)).toEqual(expected);
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

  test.for([
    ['two From fields', 'From: OWN\r\nFrom: boss@acme.test\r\n'],
    ['two From fields, the foreign one first', 'From: boss@acme.test\r\nFrom: OWN\r\n'],
    ['two addresses in From', 'From: OWN, boss@acme.test\r\n'],
    ['a group in From', 'From: us: OWN, boss@acme.test;\r\n'],
    ['a foreign Sender', 'From: OWN\r\nSender: boss@acme.test\r\n'],
    ['a space before the colon', 'From: OWN\r\nFrom : boss@acme.test\r\n'],
    ['a From field after a CR alone', 'From: OWN\r\nSubject: x\rFrom: boss@acme.test\r\n'],
    ['a From field after empty lines of CR alone', 'From: OWN\r\nSubject: x\r\r\rfrom: boss@acme.test\r\n'],
    ['a From field after LF, CR, CR', 'From: OWN\r\nSubject: x\n\r\rfrom: boss@acme.test\r\n'],
    ['lines that end with CR alone', 'From: OWN\rFrom: boss@acme.test\r'],
    ['more addresses than are read', `From: ${'OWN,'.repeat(1_001)} boss@acme.test\r\n`],
  ] as const)('a mail with another author is refused: %s', async ([, header]) => {
    await using running = await startImap();
    const raw = `${header.replaceAll('OWN', running.login.user)}${header.endsWith('\n') ? '\r\n' : '\r'}x`;
    const reason = '550 5.7.1 The mail is from boss@acme.test, which is not an address of this inbox.\r\n';
    expect(await submitBytes(running, 'a@b.test', raw)).toBe(reason);
    expect(running.server.mailbox.messages({ direction: 'outbound' })).toEqual([]);
  });

  test.for([
    ['Bcc', 'Bcc: secret@b.test\r\n'],
    ['Resent-Bcc', 'Resent-Bcc: secret@b.test\r\n'],
    ['a folded Resent-Bcc', 'resent-bcc:\r\n secret@b.test,\r\n\tsecret@c.test\r\n'],
    ['a Bcc with its colon on the next line', 'Bcc\r\n : secret@b.test\r\n'],
    ['a Bcc after a CR alone', 'X-A: y\rBcc: secret@b.test\r\n'],
    ['a Bcc after several CR alone', 'X-A: y\r\r\rBcc: secret@b.test\r\n'],
    ['a Bcc after CR, CR, LF', 'X-A: y\r\r\nBcc: secret@b.test\r\n'],
    ['a Bcc after LF, CR, CR', 'X-A: y\n\r\rBcc: secret@b.test\r\n'],
    ['a Bcc after a field that begins with CR', '\rBcc: secret@b.test\r\n'],
  ] as const)('hidden recipients reach nobody: %s', async ([, header]) => {
    await using running = await startImap();
    const raw = `From: ${running.login.user}\r\nSubject: Hi\r\n${header}To: info@globex.test\r\n\r\nText`;
    expect(await submitBytes(running, 'info@globex.test', raw)).toMatch(/^250 /);
    const [arrived] = running.server.mailbox.messages({ direction: 'inbound', subject: 'Hi' });
    const key = running.server.mailbox.keys.globex.inboxes.info;
    const path = `/v1/inboxes/${arrived?.inboxId}/messages/${arrived?.id}/raw`;
    const text = await (await fetch(running.server.url + path, { headers: { 'X-API-Key': key } })).text();
    expect(text).not.toContain('secret');
    expect(text).toMatch(/\r?\nTo: info@globex\.test\r\n\r\nText\r\n$/);
  });

  test('the rule of verified recipients can be checked', async () => {
    await using running = await startImap({ behaviours: { 'submission.verified': 'checked' } });
    const smtp = transportOf(running);
    const from = running.login.user;
    // A mail over SMTP has no field that skips the check.
    const response = expect.stringMatching(/new@b\.test has never written to this inbox\.$/);
    await expect(smtp.sendMail({ ...MAIL, to: 'new@b.test', from })).rejects.toMatchObject({
      responseCode: 550,
      response,
    });
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
    expect(entries.map(({ protocol, command, result }) => [protocol, command, result])).toEqual([
      ['imap', 'LOGIN', 'OK'],
      ['imap', 'FETCH', 'OK'],
      ['imap', 'MOVE', 'OK'],
      ['smtp', 'AUTH PLAIN', 235],
      ['smtp', 'DATA', 250],
    ]);
    expect(entries[1]).toMatchObject({ path: 'INBOX', read: [id], reply: { body: expect.stringContaining(id) } });
    expect(entries.map(({ read }) => read.length)).toEqual([0, 1, 1, 0, 0]);
    expect(JSON.stringify(entries)).not.toContain(running.login.password);
    expect(mailbox.requests({ protocol: 'http' })).toEqual([]);
    const har = await fetch(`${running.server.control}/requests?format=har`);
    expect((await har.json()).log.entries).toEqual([]);
  });
});
