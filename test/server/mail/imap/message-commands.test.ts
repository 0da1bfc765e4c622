import { ImapFlow } from 'imapflow';
import { describe, expect, test } from 'vitest';
import { type ImapTestServer, startImap, toMail } from '../../../support/imap-server.ts';
import { type ImapTalk, readFetch } from '../../../support/imap-talk.ts';

const fetched = (lines: readonly string[]) => lines.filter((line) => line.includes(' FETCH ')).map(readFetch);

/** Opens the empty folder Archive with some mails, which are stored as they are given. */
async function openWith(running: ImapTestServer, ...mails: readonly (Uint8Array | string)[]): Promise<ImapTalk> {
  const talk = await running.session();
  for (const mail of mails) {
    await talk.ok('APPEND Archive', typeof mail === 'string' ? toMail(mail) : mail);
  }
  await talk.ok('SELECT Archive');
  return talk;
}

const REPORT = [
  ...['From: a@b.test', 'Subject: report', 'Content-Type: multipart/report; boundary=b', ''],
  ...['--b', 'Content-Type: text/plain; name=named.txt', '', 'needle-text', ''],
  ...['--b', 'Content-Type: message/delivery-status', '', 'Reporting-MTA: dns; needle-status', ''],
  ...['--b', 'Content-Type: message/feedback-report', '', 'Feedback-Type: needle-feedback', ''],
  ...['--b', 'Content-Type: message/partial; id=x; number=1', '', 'needle-partial', ''],
  ...['--b', 'Content-Type: text/calendar', 'Content-Transfer-Encoding: base64', '', btoa('needle-calendar'), ''],
  ...['--b', 'Content-Type: application/json', '', '"needle-file"', ''],
  ...['--b', 'Content-Type: message/rfc822', '', 'Subject: needle-subject', '', 'needle-inner', '', '--b--', ''],
].join('\n');

describe('Messages over IMAP', () => {
  test('UID commands ignore UIDs that no message has, also those that another session removed', async () => {
    await using running = await startImap();
    const talk = await openWith(running, 'Subject: 1\n\nx\n', 'Subject: 2\n\nx\n', 'Subject: 3\n\nx\n');
    const { user, password } = running.login;
    const client = new ImapFlow({
      host: '127.0.0.1',
      port: running.imapPort,
      secure: false,
      logger: false,
      auth: { user, pass: password },
    });
    await client.connect();
    const lock = await client.getMailboxLock('Archive');
    const other = await running.session('Archive');
    await talk.ok('STORE 2 +FLAGS (\\Deleted)');
    await talk.ok('EXPUNGE');
    const countReads = () => running.server.mailbox.journal({ kinds: ['read'] }).length;
    const readsBefore = countReads();
    expect((await other.command('FETCH 1:3 BODY.PEEK[]')).result).toMatch(/^NO \[EXPUNGEISSUED\]/);
    expect(running.server.mailbox.requests({ protocol: 'imap' }).at(-1)).toMatchObject({
      command: 'FETCH',
      result: 'NO',
    });
    expect(countReads() - readsBefore).toBe(1);
    expect(fetched(await other.ok('UID FETCH 1:* (UID)')).map(({ UID }) => UID)).toEqual(['1', '3']);
    const subjects: string[] = [];
    for await (const message of client.fetch('1:*', { envelope: true }, { uid: true })) {
      subjects.push(message.envelope?.subject ?? '');
    }
    expect(subjects).toEqual(['1', '3']);
    lock.release();
    await client.logout();
    const third = await running.session('Archive');
    await talk.ok('UID STORE 3 +FLAGS (\\Deleted)');
    await talk.ok('EXPUNGE');
    expect((await third.command('UID STORE 1:9 +FLAGS (\\Flagged)')).result).toMatch(/^OK /);
    const fourth = await running.session('Archive');
    await openWith(running, 'Subject: 4\n\nx\n');
    await talk.ok('UID STORE 1 +FLAGS (\\Deleted)');
    await talk.ok('EXPUNGE');
    expect((await fourth.command('UID COPY 1:9 Trash')).result).toMatch(/^OK /);
    expect((await fourth.command('UID MOVE 1:99 Trash')).result).toMatch(/^OK /);
  });

  test('SEARCH reads every part of text, the reports, and the mails within a mail', async () => {
    await using running = await startImap();
    const talk = await openWith(running, REPORT);
    const find = async (keys: string) => (await talk.ok(`SEARCH ${keys}`))[0];
    for (const where of ['text', 'status', 'feedback', 'partial', 'calendar', 'subject', 'inner']) {
      expect([where, await find(`BODY needle-${where}`), await find(`TEXT NEEDLE-${where}`)]).toEqual([
        where,
        'SEARCH 1',
        'SEARCH 1',
      ]);
    }
    expect(await find('OR BODY needle-file TEXT needle-file')).toBe('SEARCH');
    // The headers of the parts are not their bodies.
    expect([await find('BODY named.txt'), await find('TEXT named.txt')]).toEqual(['SEARCH', 'SEARCH 1']);
    expect([await find('BODY ""'), await find('NOT TEXT ""')]).toEqual(['SEARCH 1', 'SEARCH']);
  });

  test('SEARCH finds what crosses the pieces in which a long text is decoded', async () => {
    await using running = await startImap();
    const long = (separator: string) => `${'ab c'.repeat(5_000)}${separator}`;
    const text = `${long('needle ü')}${long('aaaaab')}`;
    const encoded = Buffer.from(text).toString('base64');
    const quoted = Array.from(Buffer.from(text), (byte) => `=${byte.toString(16).toUpperCase()}`).join('');
    const head = 'Subject: long\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding:';
    const talk = await openWith(running, `${head} base64\n\n${encoded}\n`, `${head} quoted-printable\n\n${quoted}\n`);
    for (let at = 16_300; at < 20_000; at += 150) {
      const wanted = text
        .slice(at, at + 400)
        .trimEnd()
        .slice(-390)
        .trimStart();
      expect([at, await talk.ok('SEARCH BODY', Buffer.from(wanted))]).toEqual([at, ['SEARCH 1 2']]);
    }
    expect(await talk.ok('SEARCH CHARSET UTF-8 BODY', Buffer.from('NEEDLE Ü'))).toEqual(['SEARCH 1 2']);
    expect(await talk.ok('SEARCH BODY aaaaaab')).toEqual(['SEARCH']);
  });

  test('dates with years of two and three digits are found', async () => {
    await using running = await startImap();
    const dates = [
      'Thu, 7 Feb 49 10:00:00 GMT',
      '7 Feb 50 10:00 +0000',
      '7 Feb 126 10:00 +0000',
      '7 Feb 2026 10:00 +0000',
    ];
    const talk = await openWith(running, ...dates.map((date) => `Date: ${date}\nSubject: x\n\nx\n`));
    expect(await talk.ok('SEARCH SENTON 7-Feb-2049')).toEqual(['SEARCH 1']);
    expect(await talk.ok('SEARCH SENTBEFORE 8-Feb-1950')).toEqual(['SEARCH 2']);
    expect(await talk.ok('SEARCH SENTSINCE 7-Feb-2026 SENTBEFORE 1-Jan-2030')).toEqual(['SEARCH 3 4']);
  });

  test('a new keyword is told to other sessions before a reply uses it', async () => {
    await using running = await startImap();
    const talk = await openWith(running, 'Subject: 1\n\nx\n');
    const [other, idle] = [await running.session('Archive'), await running.session('Archive')];
    idle.send('i IDLE\r\n');
    await idle.next();
    const isFlags = (line: string) => /^FLAGS .*\$Own|PERMANENTFLAGS .*\$Own \\\*/.test(line);
    const lines = await talk.ok('STORE 1 +FLAGS ($Own)');
    expect([lines.slice(0, 2).map(isFlags), lines[2]]).toEqual([[true, true], expect.stringMatching(/FETCH.*\$Own/)]);
    const told = await other.ok('FETCH 1 FLAGS');
    expect([told.slice(0, 2).map(isFlags), told[2]]).toEqual([[true, true], expect.stringMatching(/FETCH.*\$Own/)]);
    expect((await other.ok('NOOP')).filter(isFlags)).toEqual([]);
    expect([await idle.next(), await idle.next()].map((line) => isFlags(line.slice(2)))).toEqual([true, true]);
  });

  test('a part that is not there is NIL, and no header of a part is longer than the part', async () => {
    await using running = await startImap();
    const head =
      'Subject: parts\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\none\n--b\nContent-Type: message/rfc822\n';
    const mails = [
      `${head}\nSubject: in\n\n--b--\n`,
      `${head}\nSubject: in\n--b--\n`,
      `${head}\n\n--b--\n`,
      `${head}--b--\n`,
    ];
    const talk = await openWith(running, ...mails, 'Subject: plain\n\nx\n');
    for (const section of ['9', '1.2.3', '9.MIME', '9.HEADER', '1.HEADER', '9.TEXT', '9.HEADER.FIELDS (Subject)']) {
      expect(await talk.ok(`FETCH 1:5 BODY.PEEK[${section}]`)).toEqual(
        [1, 2, 3, 4, 5].map((number) => `${number} FETCH (BODY[${section.toUpperCase()}] NIL)`),
      );
    }
    expect(await talk.ok('FETCH 5 (BODY.PEEK[1]<5.9> BODY.PEEK[9]<0.9>)')).toEqual([
      '5 FETCH (BODY[1]<5> {0}\r\n BODY[9]<0> NIL)',
    ]);
    for (const each of fetched(await talk.ok('FETCH 1:4 (BODY.PEEK[2] BODY.PEEK[2.HEADER] BODY.PEEK[2.TEXT])'))) {
      const [part, header, text] = ['BODY[2]', 'BODY[2.HEADER]', 'BODY[2.TEXT]'].map((name) => each[name] ?? '');
      expect(part).toBe(`${header}${text}`);
    }
  });

  test('mail with LF or CR alone has CRLF, also in its size, its parts and its ranges, and the raw form keeps its bytes', async () => {
    await using running = await startImap();
    const mail = 'Subject: ends\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\none\ntwo\n--b--\n';
    const crlf = mail.replaceAll('\n', '\r\n');
    const given = [mail, mail.replaceAll('\n', '\r'), mail.replace('one\n', 'one\r\n'), crlf];
    const talk = await openWith(running, ...given.map((each) => Buffer.from(each)));
    const items = '(BODY.PEEK[] RFC822.SIZE BODY.PEEK[1] BODY.PEEK[]<9.10> BODYSTRUCTURE EMAILID)';
    const replies = fetched(await talk.ok(`FETCH 1:4 ${items}`));
    for (const [index, each] of replies.entries()) {
      expect(each).toMatchObject({
        'BODY[]': crlf,
        'RFC822.SIZE': String(crlf.length),
        'BODY[1]': 'one\r\ntwo',
        'BODY[]<9>': crlf.slice(9, 19),
        BODYSTRUCTURE: replies[3]?.BODYSTRUCTURE,
      });
      const id = Array.isArray(each.EMAILID) ? each.EMAILID[0] : '';
      expect((await running.api('GET', `/messages/${id}/raw`)).text).toBe(given[index]);
    }
    expect(await talk.ok(`SEARCH SMALLER ${crlf.length + 1} LARGER ${crlf.length - 1}`)).toEqual(['SEARCH 1 2 3 4']);
    expect(await talk.ok('STATUS Archive (SIZE)')).toEqual([`STATUS "Archive" (SIZE ${crlf.length * 4})`]);
  });

  test('repeated items of one FETCH are answered once', async () => {
    await using running = await startImap();
    const talk = await openWith(running, 'Subject: 1\n\nhello\n');
    const [line = ''] = await talk.ok(
      `FETCH 1 (${'BODYSTRUCTURE '.repeat(100)}BODY[TEXT] BODY.PEEK[TEXT] BODY.PEEK[TEXT]<0.2> BODY.PEEK[TEXT]<0.3> FLAGS FLAGS)`,
    );
    expect(line.match(/BODYSTRUCTURE|BODY\[TEXT\] |BODY\[TEXT\]<0>|FLAGS/g)).toEqual([
      ...['BODYSTRUCTURE', 'BODY[TEXT] ', 'BODY[TEXT]<0>', 'BODY[TEXT]<0>', 'FLAGS'],
    ]);
    expect(line).toContain('\\Seen');
  });

  test('while a heavy SEARCH runs, HTTP is answered, and the search is refused when it is too much', async () => {
    await using running = await startImap();
    const body = 'Hello there, how are you today?\r\n'.repeat(250_000);
    const talk = await openWith(running, Buffer.from(`Subject: heavy\r\n\r\n${body}`));
    let isDone = false;
    const keys = Array.from({ length: 40 }, (_, index) => `NOT BODY "zebra ${index}"`).join(' ');
    const search = talk.command(`SEARCH ${keys}`).finally(() => {
      isDone = true;
    });
    let answered = 0;
    while (!isDone) {
      expect((await running.api('GET', '/messages?limit=1')).status).toBe(200);
      answered += 1;
    }
    expect((await search).result).toMatch(/^NO \[LIMIT\] One SEARCH may compare at most 256 MiB: /);
    expect(answered).toBeGreaterThan(2);
    expect(await talk.ok(`SEARCH ${'NOT BODY zz '.repeat(200).trim()}`)).toEqual(['SEARCH 1']);
  });

  test('a mail that is removed while a client reads it is sent to its end, and the numbers stay valid', async () => {
    await using running = await startImap();
    const body = 'Hello there, how are you today?\n'.repeat(100_000);
    const talk = await openWith(
      running,
      `Subject: 1\n\n${body}`,
      Buffer.from(`Subject: 2\n\n${body}`),
      'Subject: 3\n\nx\n',
    );
    const other = await running.session('Archive');
    talk.send('f FETCH 1:3 (BODY.PEEK[] BODYSTRUCTURE)\r\n');
    await other.ok('STORE 2:3 +FLAGS (\\Deleted)');
    await other.ok('EXPUNGE');
    const { lines, result } = await talk.until('f');
    expect(result).toMatch(/^(?:OK|NO \[EXPUNGEISSUED\])/);
    for (const each of fetched(lines)) expect(String(each['BODY[]'])).toMatch(/\r\n$/);
    expect(lines.join()).not.toContain('EXPUNGE');
    expect((await talk.ok('NOOP')).filter((line) => line.endsWith('EXPUNGE'))).toEqual(['3 EXPUNGE', '2 EXPUNGE']);
  });
});
