import { once } from 'node:events';
import { connect } from 'node:net';
import { type ServerOptions, startServer } from 'agent-mailbox-mock/server';
import { createTransport } from 'nodemailer';
import { describe, expect, test } from 'vitest';
import { send } from '../../support/send.ts';

const HELPDESK = '/v1/inboxes/ac3e0000-0003-4000-8000-000000000001';

async function startWithSmtp(options: Pick<ServerOptions, 'maxMailBytes'> = {}) {
  const server = await startServer({ ...options, port: 0, smtpPort: 0 });
  const { port = 0 } = server.smtp ?? {};
  const transport = createTransport({ host: '127.0.0.1', port, ignoreTLS: true });
  const read = (path: string, key: string) => send(server.url + path, 'GET', { key });
  return {
    server,
    port,
    transport,
    read,
    async [Symbol.asyncDispose]() {
      transport.close();
      await server.close();
    },
  };
}

/** Opens a connection and returns a function that sends a line and resolves with the server's reply line. */
async function openConnection(port: number): Promise<(line: string) => Promise<string>> {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  await once(socket, 'data');
  return async (line) => {
    socket.write(`${line}\r\n`);
    let answer = '';
    while (!/^\d{3} .*\r\n$/m.test(answer)) answer += (await once(socket, 'data'))[0];
    return answer.trimEnd();
  };
}

const MAIL = { from: 'Zoë <zoe@customer.test>', to: 'helpdesk@acme.test', subject: 'Größe', text: 'Grüße' };

describe('SMTP', () => {
  test('is off unless a port is given', async () => {
    await using server = await startServer({ port: 0 });
    expect(server.smtp).toBeUndefined();
  });

  test('stores a mail exactly as it was sent, byte by byte', async () => {
    await using running = await startWithSmtp();
    const { server, transport, read } = running;
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    const attachments = [{ filename: 'Bestellung für 1.bin', content: bytes }];
    await transport.sendMail({ ...MAIL, html: '<p>Grüße</p>', attachments });

    const key = server.mailbox.keys.acme.inboxes.helpdesk;
    const message = (await read(`${HELPDESK}/messages`, key)).json.messages[0];
    expect(message).toMatchObject({ direction: 'inbound', from: 'zoe@customer.test', to: MAIL.to, subject: 'Größe' });
    expect(message.attachments).toMatchObject([{ filename: 'Bestellung für 1.bin', sizeBytes: 256 }]);
    const path = `${HELPDESK}/messages/${message.id}`;
    const file = await read(`${path}/attachments/${message.attachments[0].id}`, key);
    expect(Buffer.from(file.bytes).equals(bytes)).toBe(true);
    expect((await read(`${path}/raw`, key)).text).toContain('Subject: =?UTF-8?');
  });

  test('continues the thread that a mail names', async () => {
    await using running = await startWithSmtp();
    const { server, transport, read } = running;
    await transport.sendMail({ ...MAIL, inReplyTo: '<login-3@customer.test>' });
    const thread = await read(
      `${HELPDESK}/threads/ac3e0000-0007-4000-8000-000000000001`,
      server.mailbox.keys.acme.inboxes.helpdesk,
    );
    expect(thread.json.messageCount).toBe(4);
  });

  test('delivers by the envelope, across tenants, and does not reveal hidden recipients', async () => {
    await using running = await startWithSmtp();
    const { server, transport, read } = running;
    await transport.sendMail({ ...MAIL, bcc: 'info@globex.test' });
    const [first, second] = await Promise.all(
      [server.mailbox.keys.acme.inboxes.helpdesk, server.mailbox.keys.globex.inboxes.info].map((key) =>
        read('/v1/messages?folder=inbox', key),
      ),
    );
    expect(first?.json.messages[0].subject).toBe('Größe');
    expect(second?.json.messages[0].subject).toBe('Größe');
    expect(second?.text).not.toContain('"info@globex.test"],"subject":"Größe"');
  });

  test('refuses a recipient that is not an inbox, and delivers nothing', async () => {
    await using running = await startWithSmtp();
    const before = running.server.mailbox.snapshot();
    const sent = running.transport.sendMail({ ...MAIL, to: 'nobody@acme.test' });
    await expect(sent).rejects.toThrow('There is no inbox with the address nobody@acme.test.');
    expect(running.server.mailbox.snapshot()).toEqual(before);
  });

  test('refuses a mail for good that cannot be read, and for now one for which there is no room', async () => {
    await using running = await startWithSmtp({ maxMailBytes: 350_000 });
    const before = running.server.mailbox.snapshot();
    const envelope = { from: 'zoe@customer.test', to: MAIL.to };
    const header = `Subject: ${'x'.repeat(300 * 1024)}`;
    const sendRaw = (raw: string) => running.transport.sendMail({ envelope, raw });
    await expect(sendRaw(`${header}\r\n\r\nHello!`)).rejects.toThrow(
      '554 5.6.0 The message cannot be parsed: its headers',
    );
    await expect(sendRaw(`Subject: Hello\r\n\r\n${'x\r\n'.repeat(150_000)}`)).rejects.toThrow('452 4.3.1 ');
    expect(running.server.mailbox.snapshot()).toEqual(before);
  });

  test('refuses the 51st recipient at once, and accepts the mail for the first 50', async () => {
    await using running = await startWithSmtp();
    const before = running.server.mailbox.snapshot().tenants[0]?.messages.length ?? 0;
    const sendLine = await openConnection(running.port);
    await sendLine('EHLO x');
    await sendLine('MAIL FROM:<a@b.test>');
    const replies: string[] = [];
    for (let count = 0; count < 52; count += 1) replies.push(await sendLine(`RCPT TO:<helpdesk+${count}@acme.test>`));
    expect(replies.map((reply) => reply.slice(0, 3))).toEqual([...Array(50).fill('250'), '452', '452']);
    expect(replies[50]).toBe('452 4.5.3 A message may have at most 50 recipients.');
    expect(await sendLine('DATA')).toMatch(/^354/);
    expect(await sendLine('From: a@b.test\r\nSubject: Many\r\n\r\nHi\r\n.')).toMatch(/^250/);
    expect(running.server.mailbox.snapshot().tenants[0]?.messages).toHaveLength(before + 1);
  });

  test('refuses a mail above 10 MiB, and delivers nothing', async () => {
    await using running = await startWithSmtp();
    const before = running.server.mailbox.snapshot();
    const attachments = [{ filename: 'large.bin', content: Buffer.alloc(9 * 1024 * 1024) }];
    await expect(running.transport.sendMail({ ...MAIL, attachments })).rejects.toThrow(/larger|size/i);
    expect(running.server.mailbox.snapshot()).toEqual(before);
  });

  test('survives a client that sends invalid commands and one that disconnects', async () => {
    await using running = await startWithSmtp();
    for (const line of [
      '\0\x01\x02\r\n',
      'EHLO x\r\nMAIL FROM:<a@b.test>\r\nRCPT TO:<helpdesk@acme.test>\r\nDATA\r\nhalf',
    ]) {
      const socket = connect(running.port, '127.0.0.1');
      await once(socket, 'data');
      socket.write(line);
      await once(socket, 'data');
      socket.destroy();
    }
    await running.transport.sendMail(MAIL);
    expect((await send(`${running.server.url}/health`, 'GET', {})).status).toBe(200);
  });

  test('a client that stays when the server ends is told so, and is cut off', async () => {
    const { server, port } = await startWithSmtp();
    const socket = connect(port, '127.0.0.1').setEncoding('utf8');
    await once(socket, 'data');
    const [[reply]] = await Promise.all([once(socket, 'data'), once(socket, 'close'), server.close()]);
    expect(reply).toBe('421 Server shutting down\r\n');
  });

  test('on a port that is in use keeps the server from starting', async () => {
    await using running = await startWithSmtp();
    await expect(startServer({ port: 0, smtpPort: running.port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });
});
