import { once } from 'node:events';
import { connect } from 'node:net';
import { startServer } from 'agent-mailbox-mock/server';
import fc from 'fast-check';
import { createTransport } from 'nodemailer';
import { expect, test } from 'vitest';
import { send } from '../../support/send.ts';

async function startWithSmtp() {
  const server = await startServer({ port: 0, smtpPort: 0 });
  const port = server.smtp?.port ?? 0;
  const key = server.mailbox.keys.acme.inboxes.helpdesk;
  return {
    server,
    port,
    /** The latest message of the inbox and the bytes of its raw form. */
    async latest() {
      const message = server.mailbox.messages().at(-1);
      const path = `/v1/inboxes/${message?.inboxId}/messages/${message?.id}/raw`;
      return { message, raw: Buffer.from((await send(server.url + path, 'GET', { key })).bytes) };
    },
    [Symbol.asyncDispose]: () => server.close(),
  };
}

/** Opens a connection; returns a function that sends bytes and resolves with the last reply line. */
async function openConnection(port: number) {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  await once(socket, 'data');
  const sendBytes = async (bytes: Uint8Array | string) => {
    socket.write(bytes);
    let answer = '';
    while (!/^\d{3} .*\r\n$/m.test(answer)) answer += (await once(socket, 'data'))[0];
    return answer.trimEnd();
  };
  return { line: (text: string) => sendBytes(`${text}\r\n`), sendBytes, end: () => socket.destroy() };
}

/** Sends bytes as a mail in one transaction; returns the last reply. */
async function deliver(connection: Awaited<ReturnType<typeof openConnection>>, from: string, content: Buffer) {
  expect(await connection.line(`MAIL FROM:${from}`)).toMatch(/^250/);
  expect(await connection.line('RCPT TO:<helpdesk@acme.test>')).toMatch(/^250/);
  expect(await connection.line('DATA')).toMatch(/^354/);
  const stuffed = Buffer.from(content.toString('latin1').replace(/(^|\r\n)\./g, '$1..'), 'latin1');
  return connection.sendBytes(Buffer.concat([stuffed, Buffer.from('\r\n.\r\n')]));
}

test('the envelope sender becomes Return-Path, also the null sender and an international one', async () => {
  await using running = await startWithSmtp();
  const connection = await openConnection(running.port);
  expect(await connection.line('EHLO x')).toContain('SMTPUTF8');
  for (const [from, path] of [
    ['<bounces@list.test>', '<bounces@list.test>'],
    ['<>', '<>'],
    ['<δοκιμή@παράδειγμα.test> SMTPUTF8', '<δοκιμή@παράδειγμα.test>'],
  ] as const) {
    const content = Buffer.from('From: δοκιμή@παράδειγμα.test\r\nSubject: Γειά\r\n\r\nHi');
    expect(await deliver(connection, from, content)).toMatch(/^250/);
    const { message, raw } = await running.latest();
    const text = raw.toString('utf8');
    expect(text.split('\r\n')[0]).toBe(`Return-Path: ${path}`);
    expect(text).toContain('Received: by mailbox.test (agent-mailbox-mock) for <helpdesk@acme.test>;');
    expect(text.endsWith(`${content.toString('utf8')}\r\n`)).toBe(true);
    expect(message).toMatchObject({ from: 'δοκιμή@παράδειγμα.test', subject: 'Γειά' });
  }
  connection.end();
});

test('a recipient that the service cannot have is refused, and the others get the mail', async () => {
  await using running = await startWithSmtp();
  const connection = await openConnection(running.port);
  await connection.line('EHLO x');
  await connection.line('MAIL FROM:<a@b.test> SMTPUTF8');
  expect(await connection.line(`RCPT TO:<helpdesk+${'a'.repeat(64)}@acme.test>`)).toMatch(/^550 5\.1\.1 /);
  await connection.line('RCPT TO:<helpdesk+1@acme.test>');
  await connection.line('DATA');
  expect(await connection.line('Subject: Tagged\r\n\r\nHi\r\n.')).toMatch(/^250/);
  const { message, raw } = await running.latest();
  expect([message?.subject, message?.from]).toEqual(['Tagged', 'a@b.test']);
  expect(raw.toString()).toContain('for <helpdesk+1@acme.test>;');
  connection.end();
});

test('a usual mail client sends an international address', async () => {
  await using running = await startWithSmtp();
  const transport = createTransport({ host: '127.0.0.1', port: running.port, ignoreTLS: true });
  await transport.sendMail({ from: 'jörg@customer.test', to: 'helpdesk@acme.test', subject: 'Größe', text: 'Hi' });
  transport.close();
  const { message } = await running.latest();
  expect(message).toMatchObject({ from: 'jörg@customer.test', subject: 'Größe' });
});

test('a mail whose lines end with CR alone is read as one whose lines end with CRLF', async () => {
  await using running = await startWithSmtp();
  const connection = await openConnection(running.port);
  await connection.line('EHLO x');
  const content = 'From: Zoe <zoe@customer.test>\rSubject: Lines\r\rOne\rTwo';
  expect(await deliver(connection, '<a@b.test>', Buffer.from(content))).toMatch(/^250/);
  const { message, raw } = await running.latest();
  expect(message).toMatchObject({ from: 'Zoe <zoe@customer.test>', subject: 'Lines' });
  expect(message?.plainBody?.trim()).toBe('One\nTwo');
  expect(raw.toString().endsWith(`${content}\r\n`)).toBe(true);
  connection.end();
});

test('any bytes arrive over SMTP as they were sent', async () => {
  await using running = await startWithSmtp();
  const connection = await openConnection(running.port);
  await connection.line('EHLO x');
  // SMTP itself ends each line with CRLF, and a lone CR or LF is not a line break (RFC 5321, section 2.3.8).
  const content = fc
    .uint8Array({ maxLength: 300 })
    .map((bytes) => Buffer.from(bytes).filter((byte) => byte !== 10 && byte !== 13));
  const mail = fc
    .array(content, { maxLength: 5 })
    .map((lines) => Buffer.from(lines.map((line) => Buffer.from(line).toString('latin1')).join('\r\n'), 'latin1'));
  await fc.assert(
    fc.asyncProperty(mail, async (bytes) => {
      expect(await deliver(connection, '<a@b.test>', bytes)).toMatch(/^250/);
      const { raw } = await running.latest();
      expect(raw.subarray(-bytes.length - 2).equals(Buffer.concat([bytes, Buffer.from('\r\n')]))).toBe(true);
    }),
    { numRuns: 20 },
  );
  connection.end();
});
