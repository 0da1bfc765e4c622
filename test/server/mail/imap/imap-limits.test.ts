import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { type ImapTestServer, startImap, toMail } from '../../../support/imap-server.ts';
import { replay, resultsOf } from '../../../support/replayed-imap.ts';

/** Timers that run when a test says so. */
function createTimers() {
  const timers = new Set<{ readonly delayMs: number; readonly callback: () => void }>();
  return {
    setTimer(delayMs: number, callback: () => void) {
      const timer = { delayMs, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    /** Runs the timers with this delay. */
    run(delayMs: number) {
      for (const timer of [...timers]) {
        if (timer.delayMs !== delayMs) continue;
        timers.delete(timer);
        timer.callback();
      }
    },
  };
}

/** Sends bytes, and returns everything that was received until the server or the client ended the connection. */
function sendAll({ imapPort }: ImapTestServer, text: string): Promise<string> {
  const socket = connect({ port: imapPort, host: '127.0.0.1', allowHalfOpen: true });
  return replay(socket, [Buffer.from(text, 'latin1')]);
}

async function openSilent({ imapPort }: ImapTestServer): Promise<Socket> {
  const socket = connect(imapPort, '127.0.0.1');
  socket.on('error', () => socket.destroy());
  await once(socket, 'data');
  return socket;
}

describe('the limits of IMAP', () => {
  test('ten wrong logins end the connection, and nothing runs after that', async () => {
    await using running = await startImap();
    const { user, password } = running.login;
    const wrong = Array.from({ length: 12 }, (_, index) => {
      const secret = Buffer.from(`\0${user}\0wrong`).toString('base64');
      return index % 2 ? `a${index} LOGIN ${user} wrong\r\n` : `a${index} AUTHENTICATE PLAIN\r\n${secret}\r\n`;
    });
    const received = await sendAll(
      running,
      `${wrong.join('')}b LOGIN ${user} ${password}\r\nc APPEND Archive {3+}\r\nx\r\n\r\n`,
    );
    expect(resultsOf(received)).toEqual(Array.from({ length: 10 }, (_, index) => `a${index} NO`));
    expect(received).toMatch(/\* BYE Too many wrong logins\.\r\n$/);
    expect(running.server.mailbox.requests({ protocol: 'imap' })).toHaveLength(10);
  });

  test('a line that is too long ends IDLE', async () => {
    await using running = await startImap();
    const talk = await running.session('INBOX');
    talk.send('a IDLE\r\n');
    expect(await talk.next()).toBe('+ idling');
    talk.send(`b STORE 1 +FLAGS (\\Deleted) ${'x'.repeat(70_000)}\r\n`);
    expect(await talk.next()).toBe('a BAD The command is too long.');
    await running.receive('Fresh');
    talk.send('c NOOP\r\n');
    expect((await talk.until('c')).lines).toEqual(['3 EXISTS', '3 RECENT']);
    expect(await talk.ok('SEARCH DELETED')).toEqual(['SEARCH']);
  });

  test('what a client sends never ends a line of a reply, and a reply has only printable ASCII', async () => {
    await using running = await startImap();
    const { user, password } = running.login;
    const evil = 'x\r\n* BYE\r\nz OK\t\0\xff';
    const literal = `{${evil.length}+}\r\n${evil}`;
    const commands = [
      ...['CREATE', 'DELETE', 'RENAME', 'SUBSCRIBE', 'UNSUBSCRIBE', 'SELECT', 'EXAMINE'].map(
        (name) => `${name} ${literal}`,
      ),
      `STATUS ${literal} (MESSAGES)`,
      `STATUS INBOX (${literal})`,
      `LIST "" ${literal}`,
      `LIST "" "*" RETURN (STATUS (${literal}))`,
      `LSUB "" ${literal}`,
      // The low bytes of these characters in UTF-16 are CR and LF.
      'CREATE &AQ0BCg-',
      'SELECT &AQ0BCg-',
      'SELECT INBOX',
      `FETCH 1 (BODY.PEEK[HEADER.FIELDS (${literal})])`,
      `FETCH 1 BODY[${literal}]`,
      `FETCH 1 (${literal})`,
      `STORE 1 +FLAGS (${literal})`,
      `STORE 1 ${literal} (x)`,
      `SEARCH ${literal}`,
      `SEARCH CHARSET ${literal} ALL`,
      `SEARCH RETURN (${literal}) ALL`,
      `COPY 1 ${literal}`,
      `APPEND ${literal} {1+}\r\nx`,
      `APPEND INBOX (${literal}) {1+}\r\nx`,
      `APPEND INBOX ${literal} {1+}\r\nx`,
      `ENABLE ${literal}`,
      `ID (${literal} ${literal})`,
      `AUTHENTICATE ${literal}`,
      'a\rb NOOP',
      '\0 NOOP',
    ];
    const text = commands.map((command, index) => `t${index} ${command}\r\n`).join('');
    const tags = ['\xe4', '\x01', '"', 'x\ry'].map((tag) => `${tag} NOOP\r\n`).join('');
    const received = await sendAll(running, `${tags}l LOGIN ${user} ${password}\r\n${text}${tags}z LOGOUT\r\n`);
    const lines = received.split('\r\n');
    const wrong = lines.filter((line) => !/^(?:(?:\*|l|t\d+|z) [ -~]+)?$/.test(line) || /^z OK(?! LOGOUT)/.test(line));
    expect(wrong).toEqual([]);
    expect(lines.filter((line) => line.startsWith('* BYE'))).toHaveLength(1);
    expect(resultsOf(received).filter((result) => result.startsWith('t'))).toHaveLength(commands.length);
  });

  test('room for a mail is counted as it arrives, and not as it is announced', async ({ expect }) => {
    // There is room for 20 MiB at the same time.
    const environment = { memory: () => ({ heapBytes: 160 * 1024 * 1024, allBytes: Number.POSITIVE_INFINITY }) };
    await using running = await startImap({ environment });
    const talks = await Promise.all(Array.from({ length: 59 }, () => running.session()));
    for (const [index, talk] of talks.entries()) {
      talk.send(index % 2 ? 'a APPEND Archive {10000000+}\r\n' : 'a APPEND Archive {10000000}\r\n');
    }
    expect(await talks[0]?.next()).toBe('+ Send the literal.');
    const mail = toMail(`Subject: counted\n\n${'x'.repeat(9_000_000)}`);
    const other = await running.session();
    expect((await other.command('APPEND Archive', mail)).result).toMatch(/^OK /);
    expect((await running.api('POST', '/drafts', { plainBody: 'x'.repeat(100_000) })).status).toBe(201);
    // What arrives is counted: the rest of the room is too small for a third mail, whose bytes take no room afterwards.
    const senders = [talks[1], talks[3]];
    for (const talk of senders) talk?.send('x'.repeat(9_000_000));
    const third = mail.subarray(0, 4_000_000);
    const send = async () => (await other.command('APPEND Nowhere', third)).result;
    await expect.poll(send).toMatch(/^NO \[UNAVAILABLE\] /);
    expect((await other.command('APPEND Archive', mail.subarray(0, 2_000_000))).result).toMatch(/^OK /);
    for (const talk of senders) talk?.[Symbol.dispose]();
    await expect.poll(send).toMatch(/^NO \[TRYCREATE\] /);
  });

  test('a client has a minute for its login, even if it is not silent', async () => {
    const timers = createTimers();
    await using running = await startImap({ environment: { setTimer: timers.setTimer } });
    const loggedIn = await running.session('INBOX');
    const stranger = await running.connect();
    await stranger.ok('NOOP');
    timers.run(60_000);
    expect(await stranger.ended()).toBe('* BYE You did not log in within a minute.\r\n');
    await loggedIn.ok('NOOP');
  });

  test('a mail must arrive in five minutes, and not too slowly', async () => {
    const timers = createTimers();
    await using running = await startImap({ environment: { setTimer: timers.setTimer } });
    const [slow, small, quick] = [await running.session(), await running.session(), await running.session()];
    for (const talk of [slow, quick]) talk.send(`a APPEND Archive {1000000}\r\n`);
    small.send('a APPEND Archive {1000}\r\n');
    for (const talk of [slow, small, quick]) expect(await talk.next()).toBe('+ Send the literal.');
    slow.send('x'.repeat(9_000));
    small.send('x');
    for (let minute = 0.5; minute <= 5; minute += 0.5) {
      quick.send('x'.repeat(20_000));
      // The server has read it when it answers others.
      const other = await running.session();
      await other.ok('NOOP');
      timers.run(30_000);
      if (minute === 1) expect(await slow.ended()).toBe('* BYE The command took too long to arrive.\r\n');
      expect([minute, quick.isClosed, small.isClosed]).toEqual([minute, false, false]);
    }
    for (const talk of [quick, small])
      expect(await talk.ended()).toBe('* BYE The command took too long to arrive.\r\n');
    expect(running.server.mailbox.messages()).toEqual([]);
  });

  test('when there are too many clients, the oldest without a login goes first', async () => {
    await using running = await startImap();
    const loggedIn = await running.session('INBOX');
    const silent: Socket[] = [];
    while (silent.length < 999) {
      const count = Math.min(100, 999 - silent.length);
      silent.push(...(await Promise.all(Array.from({ length: count }, () => openSilent(running)))));
    }
    const [oldest, second] = silent;
    const closed = oldest && once(oldest, 'close');
    const fresh = await running.session('INBOX');
    await closed;
    expect((await fresh.ok('SEARCH ALL')).length).toBe(1);
    await loggedIn.ok('NOOP');
    expect(second?.destroyed).toBe(false);
    for (const socket of silent) socket.destroy();
  });

  test('an idle client that does not read gets what has changed when it reads again', async ({ expect }) => {
    await using running = await startImap();
    const socket = connect(running.imapPort, '127.0.0.1');
    const { user, password } = running.login;
    await once(socket, 'data');
    socket.write(`a LOGIN ${user} "${password}"\r\nb SELECT INBOX\r\nc IDLE\r\n`);
    let received = '';
    const read = (data: Buffer) => {
      received += data.toString('latin1');
    };
    socket.on('data', read);
    await expect.poll(() => received).toContain('+ idling');
    socket.pause();
    // The lines are long, because the messages have many keywords.
    const other = await running.session('INBOX');
    const keywords = Array.from({ length: 80 }, (_, index) => `k${index}${'x'.repeat(90)}`);
    await other.ok(`STORE 1:* +FLAGS.SILENT (${keywords.join(' ')})`);
    const changes = 1_500;
    for (let count = 0; count < changes; count += 100) {
      for (let each = 0; each < 50; each += 1) {
        other.send('x STORE 1 +FLAGS.SILENT (\\Flagged)\r\ny STORE 1 -FLAGS.SILENT (\\Flagged)\r\n');
      }
      await other.ok('NOOP');
    }
    await other.ok('STORE 1 +FLAGS.SILENT (last)');
    socket.resume();
    await expect.poll(() => / last[ )]/.test(received)).toBe(true);
    // What the system holds for a client that does not read was sent; the rest was never computed.
    const reports = received.match(/^\* 1 FETCH /gm)?.length ?? 0;
    expect(reports).toBeLessThan(changes);
    socket.write('DONE\r\n');
    await expect.poll(() => received).toContain('c OK');
    socket.destroy();
  });

  test('a client that sends commands and reads nothing is not read from either', async () => {
    await using running = await startImap();
    const socket = connect(running.imapPort, '127.0.0.1');
    await once(socket, 'data');
    socket.pause();
    const commands = Buffer.from('a CAPABILITY\r\n'.repeat(100_000));
    let isBlocked = false;
    for (let count = 0; count < 100 && !isBlocked; count += 1) {
      const taken = new Promise<boolean>((resolve) => socket.write(commands, () => resolve(true)));
      isBlocked = !(await Promise.race([taken, answersOf(running, 200)]));
    }
    expect(isBlocked).toBe(true);
    socket.destroy();
  });
});

/** Resolves with false after another client has got a number of replies. */
async function answersOf(running: ImapTestServer, count: number): Promise<false> {
  const talk = await running.connect();
  for (let index = 0; index < count; index += 1) await talk.ok('NOOP');
  talk[Symbol.dispose]();
  return false;
}
