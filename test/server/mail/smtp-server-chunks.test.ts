import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { type MailboxServer, startServer } from 'agent-mailbox-mock/server';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HAS_OPENSSL, makeCertificate } from '../../support/certificate.ts';
import { makeFolder } from '../../support/folder.ts';
import { watchForCrashes } from '../../support/raw-http.ts';
import { cutAt } from '../../support/replayed-imap.ts';

watchForCrashes();

const lines = (...texts: string[]) => texts.map((text) => `${text}\r\n`).join('');
const HEAD = lines('EHLO x', 'MAIL FROM:<δ@b.test> SMTPUTF8', 'RCPT TO:<helpdesk@acme.test>', 'DATA');
const MAILS = {
  'a mail with dots, UTF-8 and commands': lines(
    ...[
      'Subject: Größe €',
      '',
      '..',
      '...x',
      '.. RSET',
      'MAIL FROM:<x@y.test>',
      '😀',
      '\n..bare',
      '\r..bare',
      'x\n.\r',
    ],
    '.',
  ),
  'a mail that begins with a dot': lines('..', '..', '.'),
  'an empty mail': lines('.'),
  'a mail that ends only for readers of bare LF and CR': `Subject: x\r\n\r\nx\n.\nRSET\r.\rRSET\n.\r\nRSET\r\n.\nRSET\r\n.\r\n`,
};

/** Opens a connection that plays sessions one after another, each of which ends with VRFY. */
async function openPlayer(server: MailboxServer, encrypt = async (socket: Duplex): Promise<Duplex> => socket) {
  const plain = connect({ port: server.smtp?.port ?? 0, host: '127.0.0.1', noDelay: true });
  await once(plain, 'readable');
  plain.read();
  const socket = await encrypt(plain);
  let received = '';
  socket.on('data', (data) => {
    received += data;
  });
  /** Sends chunks; returns the replies and the mail that arrived, without what differs each time. */
  const play = async (chunks: readonly Buffer[]) => {
    server.mailbox.reset();
    received = '';
    for (const chunk of chunks) {
      socket.write(chunk);
      // The server in this process reads what has arrived before the next chunk is sent.
      await new Promise(setImmediate);
    }
    while (!/^252 .*\r\n$/m.test(received)) await once(socket, 'data');
    const { tenants } = server.mailbox.snapshot();
    const mails = tenants.flatMap(({ messages }) =>
      messages.slice(-2).map(({ subject, plainBody }) => [subject, plainBody]),
    );
    const key = server.mailbox.keys.acme.inboxes.helpdesk;
    const raws = await Promise.all(
      server.mailbox.messages().map(async ({ inboxId, id }) => {
        const path = `${server.url}/v1/inboxes/${inboxId}/messages/${id}/raw`;
        const text = await (await fetch(path, { headers: { 'X-API-Key': key } })).text();
        return text.replace(/^(?:Received|Message-ID): .*\r\n(?: .*\r\n)*/gim, '');
      }),
    );
    return JSON.stringify([received, raws, mails]);
  };
  return { play, [Symbol.dispose]: () => void socket.destroy() };
}

async function expectAnyCut(play: (chunks: readonly Buffer[]) => Promise<string>, mail: string): Promise<void> {
  const second = lines('MAIL FROM:<a@b.test>', 'RCPT TO:<helpdesk@acme.test>', 'DATA', 'Subject: 2', '', 'x', '.');
  const bytes = Buffer.from(HEAD + mail + second + lines('NOOP', 'VRFY x'));
  const whole = await play([bytes]);
  expect(JSON.parse(whole)[1]).toHaveLength(2);
  // The commands before and after the mail are cut at random only.
  const start = Buffer.byteLength(HEAD) - 2;
  for (let at = start; at < start + Buffer.byteLength(mail) + 6; at += 1)
    expect([at, await play(cutAt(bytes, [at]))]).toEqual([at, whole]);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 20 }), async (positions) => {
      expect(await play(cutAt(bytes, positions))).toBe(whole);
    }),
    { numRuns: 25 },
  );
  expect(await play(cutAt(bytes, [...bytes.keys()]))).toBe(whole);
}

test.for(Object.entries(MAILS))('%s: every way of cutting the bytes gives the same replies and mail', async (each) => {
  await using server = await startServer({ port: 0, smtpPort: 0 });
  using player = await openPlayer(server);
  await expectAnyCut(player.play, each[1]);
});

/** Begins TLS by STARTTLS. `injected` is sent in the same chunk, before the handshake. */
async function startTls(plain: Socket, injected = ''): Promise<TLSSocket> {
  plain.write(`EHLO x\r\nSTARTTLS\r\n${injected}`);
  let text = '';
  while (!/^220 /m.test(text)) text += (await once(plain, 'data'))[0];
  plain.removeAllListeners('data');
  const secure = connectTls({ socket: plain, rejectUnauthorized: false });
  await once(secure, 'secureConnect');
  return secure;
}

test.skipIf(!HAS_OPENSSL)(
  'every way of cutting the bytes within TLS gives the same replies and mail',
  async (context) => {
    const { cert, key } = makeCertificate(await makeFolder(context));
    await using server = await startServer({ port: 0, smtpPort: 0, tlsCert: cert, tlsKey: key });
    using player = await openPlayer(server, (plain) => startTls(plain as Socket));
    await expectAnyCut(player.play, MAILS['a mail with dots, UTF-8 and commands']);
  },
);

test.skipIf(!HAS_OPENSSL)('what is sent with STARTTLS, before the handshake, is ignored', async (context) => {
  const { cert, key } = makeCertificate(await makeFolder(context));
  await using server = await startServer({ port: 0, smtpPort: 0, tlsCert: cert, tlsKey: key });
  for (const injected of ['NOOP\r\n'.repeat(250), `${HEAD}x\r\n.\r\n`, 'EHLO y\r\nMAIL FROM:<a@b.test>\r\n', 'RSE']) {
    using player = await openPlayer(server, (plain) => startTls(plain as Socket, injected));
    const [received, raws] = JSON.parse(
      await player.play([Buffer.from('MAIL FROM:<a@b.test>\r\nEHLO z\r\nVRFY x\r\n')]),
    );
    expect(received).toMatch(/^503 .*\r\n(?:250[- ].*\r\n)+252 .*\r\n$/);
    expect(raws).toEqual([]);
  }
});
