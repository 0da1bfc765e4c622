import { once } from 'node:events';
import { connect } from 'node:net';
import { startServer } from 'agent-mailbox-mock/server';
import { HOSTILE_MAILS } from '../growth/hostile-mails.ts';
import { atMostTimes, compare, median, type Row, type Sample, timePerCall } from './measure.ts';

const SIZE = 1_000_000;
const LINE = 'Hello Dana, thank you for your order. It leaves our house tomorrow morning.\r\n';

/** Over SMTP, from the null sender as a report comes: the slowest of the hostile mails against one of the same size. */
export async function benchHostile(): Promise<Row[]> {
  const server = await startServer({ port: 0, smtpPort: 0 });
  const mails = Object.entries(HOSTILE_MAILS);
  // Nothing is timed but the time from the first byte to the reply: a reset makes room for the next mail.
  const sample = (eml: string | Uint8Array): Sample => {
    const data = toData(eml);
    const timed = timePerCall(1, () => deliver(server.smtp?.port ?? 0, data));
    return () => timed().finally(() => server.mailbox.reset());
  };
  const ordinary = sample(ordinaryMail(SIZE));
  const times: { name: string; microseconds: number; mail: Sample }[] = [];
  for (let round = 0; round < 5; round += 1) await ordinary();
  for (const [name, write] of mails) {
    const mail = sample(write(SIZE));
    times.push({ name, mail, microseconds: median([await mail(), await mail(), await mail()]) });
  }
  const slowest = times.reduce((a, b) => (a.microseconds > b.microseconds ? a : b));
  const comparison = await compare(slowest.mail, ordinary, { rounds: 20, warmUp: 3 });
  await server.close();
  return [atMostTimes(5, `1 MB, slowest of ${mails.length}: ${slowest.name} ÷ an ordinary mail`, comparison)];
}

/** A text, the same as HTML, and a file. */
function ordinaryMail(size: number): string {
  const part = (head: string, body: string) => `--b\r\n${head}\r\n\r\n${body}\r\n`;
  const file = Buffer.alloc(size * 0.44, LINE)
    .toString('base64')
    .replace(/.{76}/g, '$&\r\n');
  return [
    'From: Dana <dana@customer.test>\r\nTo: helpdesk@acme.test\r\nSubject: Your order\r\n',
    'Content-Type: multipart/mixed; boundary=b\r\n\r\n',
    part('Content-Type: text/plain; charset=utf-8', LINE.repeat((size * 0.2) / LINE.length)),
    part('Content-Type: text/html; charset=utf-8', `<p>${LINE}</p>`.repeat((size * 0.2) / (LINE.length + 7))),
    part('Content-Type: application/pdf; name=a.pdf\r\nContent-Transfer-Encoding: base64', file),
    '--b--\r\n',
  ].join('');
}

/** Writes a mail as SMTP sends it: a line that begins with a dot has one more, and a dot ends the mail. */
function toData(eml: string | Uint8Array): Buffer {
  const text = Buffer.from(eml).toString('latin1');
  return Buffer.from(`${text.replace(/^\./gm, '..')}\r\n.\r\n`, 'latin1');
}

/** Delivers a mail; it may be accepted or refused. */
async function deliver(port: number, data: Buffer): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  const say = async (bytes: string | Buffer) => {
    socket.write(bytes);
    return String(await once(socket, 'data'));
  };
  await once(socket, 'data');
  for (const command of ['HELO customer.test', 'MAIL FROM:<>', 'RCPT TO:<helpdesk@acme.test>', 'DATA']) {
    await say(`${command}\r\n`);
  }
  const reply = await say(data);
  socket.destroy();
  if (!/^(?:250|554) /.test(reply)) throw new Error(`The reply was ${reply}`);
}
