import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import fc from 'fast-check';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CertificateFiles, HAS_OPENSSL, makeCertificate } from '../../support/certificate.ts';
import { runHere } from '../../support/command.ts';
import { startImap } from '../../support/imap-server.ts';
import { encryptTalk, talkTo } from '../../support/imap-talk.ts';
import { longSessions, type RecordedSession, shortSessions } from '../../support/recorded-imap.ts';
import { cutAt, play, replay, resultsOf, startCuttingProxy } from '../../support/replayed-imap.ts';

describe.skipIf(!HAS_OPENSSL)('TLS of the mail servers', () => {
  let folder: string;
  let files: CertificateFiles;
  let other: CertificateFiles;
  let ca: Buffer;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mail-tls-'));
    [files, other] = [makeCertificate(folder), makeCertificate(folder, 'other')];
    ca = readFileSync(files.cert);
  });
  afterAll(() => rm(folder, { recursive: true }));

  const startWithTls = (tlsRequired = false) => startImap({ tlsCert: files.cert, tlsKey: files.key, tlsRequired });

  test('one IMAP port serves clients that begin with TLS and those without it', async () => {
    await using running = await startWithTls();
    const login = `LOGIN ${running.login.user} "${running.login.password}"`;
    for (const talk of [await talkTo(running.imapPort, ca), await talkTo(running.imapPort)]) {
      using _ = talk;
      await talk.ok(login);
      expect((await talk.ok('STATUS INBOX (MESSAGES)'))[0]).toBe('STATUS "INBOX" (MESSAGES 2)');
    }
  });

  test('STARTTLS encrypts an IMAP session', async () => {
    await using running = await startWithTls(true);
    const login = `LOGIN ${running.login.user} "${running.login.password}"`;
    const socket = connect(running.imapPort, '127.0.0.1');
    const [greeting] = await once(socket, 'data');
    expect(String(greeting)).toMatch(/ STARTTLS LOGINDISABLED\] /);
    socket.write(`a ${login}\r\n`);
    expect(String((await once(socket, 'data'))[0])).toMatch(/^a NO \[PRIVACYREQUIRED\] /);
    socket.write(`b STARTTLS\r\n`);
    expect(String((await once(socket, 'data'))[0])).toBe('b OK Begin TLS now.\r\n');
    using talk = await encryptTalk(socket, ca);
    const [capabilities] = await talk.ok('CAPABILITY');
    expect(capabilities).toMatch(/ AUTH=PLAIN /);
    expect(capabilities).not.toMatch(/STARTTLS|LOGINDISABLED/);
    expect((await talk.command('STARTTLS')).result).toMatch(/^BAD /);
    await talk.ok(login);
  });

  test('a command that came unencrypted after STARTTLS ends the connection, in one chunk or in several', async () => {
    await using running = await startWithTls();
    const login = `c LOGIN ${running.login.user} "${running.login.password}"\r\n`;
    for (const chunks of [[`b STARTTLS\r\n${login}`], ['b STARTTLS\r\n', login], ['b STARTTLS\r', `\n${login}`]]) {
      const socket = connect({ port: running.imapPort, host: '127.0.0.1', noDelay: true });
      const received = await replay(
        socket,
        chunks.map((chunk) => Buffer.from(chunk)),
      );
      expect(resultsOf(received)).toEqual(['b OK']);
    }
  });

  test('an encrypted IMAP session has the same replies, however its bytes and those of TLS are cut', async () => {
    await using running = await startWithTls();
    const { mailbox } = running.server;
    mailbox.reset();
    const sessions = { ...shortSessions(running.login), ...longSessions(running.login) };
    const names = ['a mail full of commands', '110 kB of mail in pipelined commands', 'what follows LOGOUT'];
    const openTls = async (port: number) => {
      const secure = connectTls({ port, host: '127.0.0.1', ca });
      await once(secure, 'secureConnect');
      return secure;
    };
    const openStartTls = async (port: number) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      await once(socket, 'data');
      socket.write('z STARTTLS\r\n');
      await once(socket, 'data');
      const secure = connectTls({ socket, ca, servername: 'localhost' });
      await once(secure, 'secureConnect');
      return secure;
    };
    for (const name of names) {
      const { bytes, results } = sessions[name] as RecordedSession;
      for (const open of [openTls, openStartTls]) {
        const whole = await play(running, [bytes], open);
        expect(resultsOf(JSON.parse(whole)[0])).toEqual(results);
        const positions = fc.array(fc.nat(bytes.length), { maxLength: 20 });
        const sizes = fc.array(fc.integer({ min: 1, max: 3_000 }), { minLength: 1, maxLength: 20 });
        await fc.assert(
          fc.asyncProperty(positions, sizes, async (at, pieces) => {
            using proxy = await startCuttingProxy(running.imapPort, pieces);
            expect(await play(running, cutAt(bytes, at), () => open(proxy.port))).toBe(whole);
          }),
          { numRuns: 8 },
        );
      }
    }
  }, 60_000);

  test('without a certificate there is no STARTTLS', async () => {
    await using running = await startImap();
    const talk = await running.connect();
    expect((await talk.ok('CAPABILITY'))[0]).not.toContain('STARTTLS');
    expect((await talk.command('STARTTLS')).result).toMatch(/^BAD .* certificate/);
    const smtp = createTransport({ host: '127.0.0.1', port: running.smtpPort, requireTLS: true });
    await expect(smtp.verify()).rejects.toThrow();
    smtp.close();
  });

  test.for([
    ['TLS from the start', { secure: true }],
    ['STARTTLS', { requireTLS: true }],
  ] as const)('a mail is submitted with %s, and with nothing else if TLS is required', async ([subject, options]) => {
    await using running = await startWithTls(true);
    const { user, password } = running.login;
    const shared = { host: '127.0.0.1', port: running.smtpPort, auth: { user, pass: password }, tls: { ca } };
    const mail = { from: user, to: 'dana@customer.test', subject, text: 'x' };
    const plain = createTransport({ ...shared, ignoreTLS: true });
    await expect(plain.sendMail(mail)).rejects.toThrow();
    const smtp = createTransport({ ...shared, ...options });
    await smtp.sendMail(mail);
    for (const each of [plain, smtp]) each.close();
    expect(running.server.mailbox.messages({ direction: 'outbound', subject })).toHaveLength(1);
  });

  test('a client that does not trust the certificate fails alone', async () => {
    await using running = await startWithTls();
    await expect(talkTo(running.imapPort, readFileSync(other.cert))).rejects.toThrow();
    using talk = await talkTo(running.imapPort, ca);
    await talk.ok('NOOP');
  });

  test.for<[title: string, flags: () => Record<string, string | true>, said: string]>([
    [
      'a file that is missing',
      () => ({ cert: 'none.pem', key: files.key }),
      '--tls-cert: "none.pem" cannot be read: there is no such file',
    ],
    ['a certificate without a key', () => ({ cert: files.cert }), '--tls-key is missing'],
    ['a key without a certificate', () => ({ key: files.key }), '--tls-cert is missing'],
    ['a key of something else', () => ({ ...files, key: other.key }), 'the key does not belong to the certificate'],
    ['a key in place of the certificate', () => ({ ...files, cert: files.key }), 'file contains no certificate'],
    ['a login that needs TLS without a certificate', () => ({ required: true }), '--tls-required needs --tls-cert'],
  ])('cannot start with %s', async ([, flags, said]) => {
    const args = Object.entries(flags()).flatMap(([name, value]) => [
      `--tls-${name}`,
      ...(value === true ? [] : [value]),
    ]);
    const { code, out, err } = await runHere(['--port', '0', '--imap-port', '0', ...args]);
    expect({ code, out }).toEqual({ code: 2, out: [] });
    expect(err).toMatch(/^agent-mailbox-mock: --tls-[^\n]+[^.]\.$/);
    expect(err).toContain(said);
  });
});
