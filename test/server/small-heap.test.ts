import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { startCommand } from '../support/processes.ts';
import { send } from '../support/send.ts';

const MIB = 1024 * 1024;
const MAIL = { to: 'helpdesk@acme.test', from: 'dana@customer.test' };

/** Sends a mail over SMTP, all lines at once; returns the last reply. */
function sendMail(port: number, size: number): Promise<string> {
  const lines = ['EHLO a', `MAIL FROM:<${MAIL.from}>`, `RCPT TO:<${MAIL.to}>`, 'DATA'];
  const text = `${'x'.repeat(998)}\r\n`.repeat(Math.ceil(size / 1_000));
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  let answers = '';
  return new Promise((resolve) => {
    const next = () => {
      const line = lines.shift();
      if (line !== undefined) socket.write(`${line}\r\n`);
      else if (answers.includes('\r\n354')) socket.write(`Subject: x\r\n\r\n${text}.\r\nQUIT\r\n`);
    };
    socket.on('data', (data) => {
      answers += data;
      if (/^\d{3} .*\r\n$/m.test(String(data))) next();
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(/^(?:250|452)[^\r\n]*(?=\r\n221)/m.exec(answers)?.[0] ?? answers));
  });
}

test('a process with a small heap refuses mail before it has no memory, and goes on', async (context) => {
  const { ready } = await startCommand(context, ['--smtp-port', '0', '--quiet'], {
    NODE_OPTIONS: '--max-old-space-size=256',
  });
  const control = (method: string, path: string, json?: object) => send(ready.control + path, method, { json });
  const content = Buffer.alloc(9.5 * MIB).toString('base64');
  const mail = { ...MAIL, attachments: [{ filename: 'a', content }] };
  const statuses = new Set<number>();
  for (let round = 0; round < 4; round += 1) {
    for (let count = 0; count < 3; count += 1) statuses.add((await control('POST', '/messages', mail)).status);
    statuses.add((await control('POST', '/checkpoints', { name: `round ${round}` })).status);
    statuses.add((await control('POST', '/reset')).status);
  }
  expect([...statuses].sort()).toEqual([200, 507]);
  const replies = await Promise.all(Array.from({ length: 6 }, () => sendMail(ready.smtp?.port ?? 0, 9 * MIB)));
  expect(replies.filter((reply) => !/^(?:250|452) /.test(reply))).toEqual([]);
  expect(replies.some((reply) => reply.startsWith('452 4.3.1 '))).toBe(true);
  const exports = await Promise.all(Array.from({ length: 4 }, () => control('GET', '/export')));
  expect(exports.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect((await control('GET', '/health')).status).toBe(200);
}, 120_000);
