import { connect } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { buildMailbox } from '../../../../src/mailbox/mailbox.ts';
import { LOGIN_COMMANDS } from '../../../../src/server/mail/imap/login-commands.ts';
import { parseCommand } from '../../../../src/server/mail/imap/parse-command.ts';
import { createImapContext, Session } from '../../../../src/server/mail/imap/session.ts';
import { loginOf, startImap, toMail } from '../../../support/imap-server.ts';

const COMMANDS = [
  'a1 LOGIN user "pass word"',
  'a2 UID FETCH 1:*,5 (FLAGS BODY.PEEK[1.2.HEADER.FIELDS (FROM "TO")]<0.100>)',
  'a3 SEARCH CHARSET UTF-8 OR (FROM {3}\r\n NOT SEEN) UID 1:* SINCE 1-Feb-2026',
  'a4 APPEND Drafts (\\Draft) " 7-Feb-2026 21:52:25 +0000" {5+}\r\n',
  'a5 LIST (SPECIAL-USE) "" ("%" "INBOX*") RETURN (STATUS (MESSAGES))',
  'a6 STORE 1:3,4:* +FLAGS.SILENT (\\Seen $Junk)',
];

describe('IMAP with hostile clients', () => {
  test('100,000 mutated command lines are parsed or refused', () => {
    const character = fc.constantFrom(...'(){}[]"\\*%<>.: \r\n\0aZ09+~\xff');
    const edit = fc.tuple(fc.nat(100), fc.nat(3), fc.array(character, { maxLength: 3 }));
    const line = fc.tuple(fc.constantFrom(...COMMANDS), fc.array(edit, { minLength: 1, maxLength: 4 }));
    fc.assert(
      fc.property(line, ([command, edits]) => {
        const text = edits.reduce((before, [at, removed, added]) => {
          return before.slice(0, at) + added.join('') + before.slice(at + removed);
        }, command);
        const { problem, name } = parseCommand(text, [Buffer.from('abc') as never]);
        // Without `expect`, which takes longer than the parser.
        if (problem === undefined && name === '') throw new Error(`Neither parsed nor refused: ${text}`);
      }),
      { numRuns: 100_000 },
    );
  });

  test('junk, wrong commands and cut literals are answered or end the connection, and nothing is lost', async () => {
    await using running = await startImap();
    const before = JSON.stringify(running.server.mailbox.snapshot());
    const junk = [
      '\0\xff\r\n',
      'GET / HTTP/1.1\r\n\r\n',
      '\x16\x03\x01\x02',
      'a\r\n',
      `${'('.repeat(70_000)}\r\n`,
      'a LOGIN {99999999999}\r\n',
      'a LOGIN {70000+}\r\nx',
      'a APPEND INBOX {5}\r\n',
    ];
    for (const text of junk) {
      const talk = await running.connect();
      talk.send(text);
      talk[Symbol.dispose]();
    }
    const talk = await running.connect();
    for (let count = 0; count < 25; count += 1) talk.send(`x${count} WRONG\r\n`);
    expect(await talk.ended()).toContain('* BYE Too many wrong commands');
    const open = await running.session('INBOX');
    expect(JSON.stringify(running.server.mailbox.snapshot())).toBe(before);
    for (const wrong of [
      'FETCH',
      'FETCH 0 FLAGS',
      'FETCH 9 FLAGS',
      'FETCH 1 BODY[1.0]',
      'FETCH 1 NOTHING',
      'STORE 1 FLAGS',
      'SEARCH',
      `SEARCH ${'NOT '.repeat(5_000)}ALL`,
      'UID',
      'UID NOOP',
      'APPEND INBOX x',
      'LIST',
      'STATUS INBOX',
      'COPY 1',
      'ENABLE',
      'SELECT INBOX (QRESYNC (1 2))',
      `LIST "" ${'('.repeat(200)}`,
      'SEARCH "unclosed',
      'FETCH 1 BODY[',
    ]) {
      expect([wrong, (await open.command(wrong)).result]).toEqual([wrong, expect.stringMatching(/^BAD [A-Z].*\.$/)]);
    }
  });

  test('a mail of 10 MiB is stored, and a larger one is refused before it is sent', async () => {
    await using running = await startImap();
    const talk = await running.session();
    const mail = new Uint8Array(10 * 1024 * 1024).fill(0x61);
    mail.set(toMail('Subject: large\n\n'));
    expect((await talk.command('APPEND Archive', mail)).result).toMatch(/^OK /);
    talk.send(`big APPEND Archive {${mail.length + 1}}\r\n`);
    expect((await talk.until('big')).result).toMatch(/^NO \[TOOBIG\]/);
    expect((await talk.command('APPEND Archive', new Uint8Array(mail.length + 1))).result).toMatch(/^NO \[TOOBIG\]/);
    await talk.ok('NOOP');
  });

  test('pipelined commands are answered in order, also byte by byte and with the end of the connection', async () => {
    await using running = await startImap();
    const { user, password } = running.login;
    const commands = [
      `a LOGIN ${user} "${password}"`,
      'b SELECT INBOX',
      'c FETCH 1:2 BODY[]',
      'd SEARCH ALL',
      'e NOOP',
    ];
    const socket = connect(running.imapPort, '127.0.0.1');
    const text = `${commands.join('\r\n')}\r\n`;
    const answers = new Promise<string>((resolve) => {
      let received = '';
      socket.on('data', (chunk) => {
        received += chunk;
      });
      socket.on('close', () => resolve(received));
    });
    for (const character of text) socket.write(character);
    socket.end();
    expect((await answers).match(/^[a-e] OK/gm)).toEqual(['a OK', 'b OK', 'c OK', 'd OK', 'e OK']);
  });

  test('a login that is done after the end of its connection keeps no sandbox open', async () => {
    let nowMs = Date.parse('2026-03-01T09:00:00Z');
    const internals = buildMailbox({ environment: { now: () => new Date(nowMs) } });
    const { user, password } = loginOf({ mailbox: internals.mailbox.createSandbox() as never });
    const connection = {
      isSecure: false,
      mayStartTls: false,
      refusesLogin: false,
      hasEnded: false,
      send() {},
      end() {},
      cut() {},
      async startTls() {},
      async flush() {},
      async drain() {},
    };
    const session = new Session(createImapContext(internals), connection, [LOGIN_COMMANDS]);
    session.leave();
    await session.handle(`a LOGIN ${user} "${password}"`, []);
    expect(session.account).toBeDefined();
    nowMs += 61 * 60_000;
    expect(internals.mailbox.sandboxes()).toEqual([]);
  });

  test('200 idle sessions get a change, and one tenant never sees the mail of another', async () => {
    await using running = await startImap();
    const sessions = await Promise.all(Array.from({ length: 200 }, () => running.session('INBOX')));
    for (const talk of sessions) talk.send('i IDLE\r\n');
    await Promise.all(sessions.map((talk) => talk.next()));
    await running.receive('Fresh');
    expect(new Set(await Promise.all(sessions.map((talk) => talk.next())))).toEqual(new Set(['* 3 EXISTS']));
    const info = running.server.mailbox
      .snapshot()
      .tenants.flatMap(({ inboxes }) => inboxes)
      .find(({ username }) => username === 'info');
    const other = await running.session('INBOX', { user: 'info@globex.test', password: info?.imapPassword ?? '' });
    expect(await other.ok('SEARCH SUBJECT Fresh')).toEqual(['SEARCH']);
  });
});
