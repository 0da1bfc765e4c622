import { startServer } from 'agent-mailbox-mock/server';
import { ImapFlow } from 'imapflow';
import { describe, expect, test } from 'vitest';
import { loginOf, startImap, toMail } from '../../../support/imap-server.ts';
import { readFetch } from '../../../support/imap-talk.ts';
import { send } from '../../../support/send.ts';

const flagsOf = (lines: readonly string[]) => lines.filter((line) => line.includes(' FETCH ')).map(readFetch);

describe('IMAP', () => {
  test('is off unless a port is given', async () => {
    await using server = await startServer({ port: 0 });
    expect(server.imap).toBeUndefined();
  });

  test('the login is the canonical address and the password, also after the key was rotated', async () => {
    await using running = await startImap();
    const { user, password } = running.login;
    const talk = await running.connect();
    expect((await talk.command(`LOGIN ${user} wrong`)).result).toMatch(/^NO \[AUTHENTICATIONFAILED\]/);
    const { keys, ids } = running.server.mailbox;
    const rotation = `${running.server.url}/v1/inboxes/${ids.acme.inboxes.helpdesk}/keys`;
    expect((await send(rotation, 'POST', { key: keys.acme.tenant })).status).toBe(201);
    expect((await talk.command(`AUTHENTICATE PLAIN ${btoa(`\0${user}\0${password}`)}`)).result).toMatch(/^OK /);
    expect((await talk.command('LOGIN a b')).result).toMatch(/^BAD /);
  });

  test('AUTHENTICATE LOGIN asks for the name and the password', async () => {
    await using running = await startImap();
    const { user, password } = running.login;
    const talk = await running.connect();
    talk.send('a AUTHENTICATE LOGIN\r\n');
    expect(await talk.next()).toBe(`+ ${btoa('Username:')}`);
    talk.send(`${btoa(user)}\r\n`);
    expect(await talk.next()).toBe(`+ ${btoa('Password:')}`);
    talk.send(`${btoa(password)}\r\n`);
    expect((await talk.until('a')).result).toMatch(/^OK /);
  });

  test('folders show the state of the API, with their special uses', async () => {
    await using running = await startImap();
    const talk = await running.session();
    expect(await talk.ok('LIST "" "*" RETURN (SPECIAL-USE STATUS (MESSAGES))')).toEqual([
      ...['LIST (\\HasNoChildren) "/" "INBOX"', 'STATUS "INBOX" (MESSAGES 2)'],
      ...['LIST (\\HasNoChildren \\Sent) "/" "Sent"', 'STATUS "Sent" (MESSAGES 1)'],
      ...['LIST (\\HasNoChildren \\Drafts) "/" "Drafts"', expect.stringMatching(/^STATUS "Drafts" \(MESSAGES \d+\)$/)],
      ...['LIST (\\HasNoChildren \\Archive) "/" "Archive"', 'STATUS "Archive" (MESSAGES 0)'],
      ...['LIST (\\HasNoChildren \\Trash) "/" "Trash"', 'STATUS "Trash" (MESSAGES 0)'],
    ]);
    expect((await talk.command('CREATE &AMQ-')).result).toMatch(/^NO \[CANNOT\] .* so &AMQ- cannot/);
    expect((await talk.command('SELECT Nowhere')).result).toMatch(/^NO \[NONEXISTENT\]/);
  });

  test('the bytes are those of the raw form, and reading them marks a message as read unless PEEK is used', async () => {
    await using running = await startImap();
    const id = await running.receive('Fresh');
    const talk = await running.session('INBOX');
    const [peeked] = flagsOf(await talk.ok('FETCH 3 (BODY.PEEK[] RFC822.SIZE EMAILID)'));
    const raw = (await running.api('GET', `/messages/${id}/raw`)).text;
    expect(peeked).toMatchObject({ 'BODY[]': raw, 'RFC822.SIZE': String(raw.length), EMAILID: [id] });
    expect(flagsOf(await talk.ok('FETCH 3 FLAGS'))[0]?.FLAGS).not.toContain('\\Seen');
    const [read] = flagsOf(await talk.ok('FETCH 3 BODY[TEXT]<1.3>'));
    expect(read).toMatchObject({ 'BODY[TEXT]<1>': 'ell', FLAGS: expect.arrayContaining(['\\Seen']) });
    expect(running.server.mailbox.mail(id).api).toMatchObject({ isRead: true });
  });

  test('the journal shows a change that was refused because of its form or its size, with what it caused itself', async () => {
    await using running = await startImap();
    const talk = await running.session('INBOX');
    await talk.ok('APPEND Drafts', toMail('From: a@acme.test\nSubject: Kept\n\nHello'));
    talk.send('big APPEND Drafts {99999999}\r\n');
    expect((await talk.until('big')).result).toMatch(/^NO \[TOOBIG\]/);
    expect((await talk.command('APPEND Drafts', new Uint8Array(11 * 1024 * 1024))).result).toMatch(/^NO \[TOOBIG\]/);
    expect((await talk.command('STORE 1 FLAGS (\\Seen')).result).toMatch(/^BAD /);
    expect((await talk.command(`STORE 1 FLAGS (${'own '.repeat(20_000)})`)).result).toBe(
      'BAD The command is too long.',
    );
    const { mailbox } = running.server;
    const [login, ...changes] = mailbox.requests({ protocol: 'imap' });
    expect(login).toMatchObject({ command: 'LOGIN', result: 'OK' });
    const [stored] = changes;
    expect(changes.map(({ command, result }) => [command, result])).toEqual([
      ['APPEND', 'OK'],
      ['APPEND', 'NO'],
      ['APPEND', 'NO'],
      ['STORE', 'BAD'],
      ['STORE', 'BAD'],
    ]);
    const entries = mailbox.journal({ kinds: ['mail-command', 'change'] });
    const command = entries.find(({ kind, data }) => kind === 'mail-command' && data.id === stored?.id);
    const drafts = entries.filter(({ kind }) => kind === 'change');
    expect(drafts.map(({ cause }) => cause?.number)).toEqual([command?.number]);
  });

  test('the journal shows no password of a login that has a wrong form', async () => {
    await using running = await startImap();
    const talk = await running.connect();
    expect((await talk.command('LOGIN user "secret-word')).result).toMatch(/^BAD /);
    const [login] = running.server.mailbox.requests({ protocol: 'imap' });
    expect(login).toMatchObject({ command: 'LOGIN', result: 'BAD' });
    expect(JSON.stringify(running.server.mailbox.requests())).not.toContain('secret-word');
    expect(await running.server.mailbox.trace()).not.toContain('secret-word');
  });

  test('flags are the fields of the API in both directions, and keywords are kept', async () => {
    await using running = await startImap();
    const id = await running.receive('Fresh');
    const talk = await running.session('INBOX');
    const [stored] = flagsOf(await talk.ok('STORE 3 +FLAGS (\\Flagged \\Answered $Forwarded own)'));
    expect(stored?.FLAGS).toEqual(expect.arrayContaining(['\\Flagged', '\\Answered', '$Forwarded', 'own']));
    expect((await running.api('GET', `/messages/${id}`)).json).toMatchObject({ isStarred: true });
    await running.api('PATCH', `/messages/${id}`, { isStarred: false, isRead: true });
    const [changed] = flagsOf(await talk.ok('NOOP'));
    expect(changed?.FLAGS).toEqual(expect.arrayContaining(['\\Seen', '\\Answered', '$Forwarded', 'own']));
    expect(changed?.FLAGS).not.toContain('\\Flagged');
    expect((await talk.command('STORE 3 FLAGS (\\Wrong)')).result).toMatch(/^BAD /);
  });

  test('changes by the API reach a client that idles, and the numbers of other sessions stay right', async () => {
    await using running = await startImap();
    const [idle, other] = [await running.session('INBOX'), await running.session('INBOX')];
    idle.send('i IDLE\r\n');
    await idle.next();
    const id = await running.receive('Fresh');
    expect([await idle.next(), await idle.next()]).toEqual(['* 3 EXISTS', expect.stringMatching(/^\* \d RECENT$/)]);
    const first = (await running.api('GET', '/messages?direction=inbound')).json.messages.at(-1);
    await running.api('PATCH', `/messages/${id}`, { isArchived: true });
    expect(await idle.next()).toBe('* 3 EXPUNGE');
    await running.api('DELETE', `/messages/${first.id}`);
    expect(await idle.next()).toMatch(/^\* \d EXPUNGE$/);
    idle.send('DONE\r\n');
    expect((await idle.until('i')).result).toMatch(/^OK /);
    // FETCH by number must not renumber; the next command may.
    expect((await other.command('FETCH 1:2 UID')).lines.join()).not.toContain('EXPUNGE');
    expect((await other.ok('NOOP')).filter((line) => line.includes('EXPUNGE'))).toHaveLength(1);
  });

  test('a deleted inbox ends its sessions, and its login is dead', async () => {
    await using running = await startImap();
    const { login, server } = running;
    const talk = await running.session('INBOX');
    const { keys, ids } = server.mailbox;
    const url = `${server.url}/v1/inboxes/${ids.acme.inboxes.helpdesk}`;
    await fetch(url, { method: 'DELETE', headers: { 'X-API-Key': keys.acme.tenant } });
    expect(await talk.ended()).toContain('* BYE The inbox was deleted');
    const again = await running.connect();
    expect((await again.command(`LOGIN ${login.user} "${login.password}"`)).result).toMatch(/^NO /);
  });

  test('SELECT names the first message that is not seen by its number, and none if all were seen', async () => {
    await using running = await startImap();
    const talk = await running.session();
    const unseen = async () =>
      (await talk.ok('SELECT INBOX')).flatMap((line) => /\[UNSEEN (\d+)\]/.exec(line)?.[1] ?? []);
    await talk.ok('SELECT INBOX');
    await talk.ok('STORE 1:* -FLAGS.SILENT (\\Seen)');
    expect(await unseen()).toEqual(['1']);
    await talk.ok('STORE 1 +FLAGS.SILENT (\\Seen)');
    expect(await unseen()).toEqual(['2']);
    await talk.ok('STORE 1:* +FLAGS.SILENT (\\Seen)');
    expect(await unseen()).toEqual([]);
  });

  test('a reset and the restore of a checkpoint end sessions and give a new UIDVALIDITY', async () => {
    await using running = await startImap();
    const { mailbox } = running.server;
    const validities: string[] = [];
    const open = async () => {
      const talk = await running.session();
      validities.push((await talk.ok('SELECT INBOX')).find((line) => line.includes('UIDVALIDITY')) ?? '');
      return talk;
    };
    const first = await open();
    await first.ok('STORE 1 +FLAGS ($Forwarded)');
    mailbox.checkpoint('here');
    mailbox.reset();
    expect(await first.ended()).toContain('* BYE The mailbox was reset');
    await open();
    mailbox.restore('here');
    const last = await open();
    expect(new Set(validities).size).toBe(3);
    expect(flagsOf(await last.ok('FETCH 1 FLAGS'))[0]?.FLAGS).toContain('$Forwarded');
  });

  test('the inbox of a sandbox has its own login and mail', async () => {
    await using running = await startImap();
    const sandbox = running.server.mailbox.createSandbox();
    const login = sandbox.logins.helpdesk;
    const stranger = await running.connect();
    const { password } = running.login;
    expect((await stranger.command(`LOGIN ${login.user} "${password}"`)).result).toMatch(/^NO \[AUTH/);
    await running.receive('Not in the sandbox');
    const talk = await running.session('INBOX', login);
    expect((await talk.ok('STATUS INBOX (MESSAGES)'))[0]).toBe('STATUS "INBOX" (MESSAGES 2)');
    sandbox.close();
    expect(await talk.ended()).toContain('* BYE The sandbox was closed');
  });

  test('a sandbox does not expire while a session is open, even an idle one', async () => {
    let nowMs = Date.parse('2026-03-01T09:00:00Z');
    await using running = await startImap({ environment: { now: () => new Date(nowMs) } });
    const { mailbox } = running.server;
    const sandbox = mailbox.createSandbox();
    const talk = await running.session('INBOX', loginOf({ mailbox: sandbox as never }));
    talk.send('i IDLE\r\n');
    await talk.next();
    nowMs += 500 * 60_000;
    expect(mailbox.sandboxes()).toHaveLength(1);
    await mailbox.receiveMessage({ to: `helpdesk@${sandbox.domain}`, from: 'a@b.test', subject: 'Late' });
    expect(await talk.next()).toBe('* 3 EXISTS');
    talk[Symbol.dispose]();
    // The server may still have to notice the end, and each look at the sandboxes would count as a use until then.
    const afterAnHour = () => {
      nowMs += 61 * 60_000;
      return mailbox.sandboxes();
    };
    await expect.poll(afterAnHour).toEqual([]);
  });

  test('search finds by header, text, date, size and flags, in every form', async () => {
    await using running = await startImap();
    const talk = await running.session('INBOX');
    await talk.ok(
      'APPEND INBOX (\\Flagged) " 7-Feb-2026 10:00:00 +0000"',
      toMail(
        'From: a@b.test\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\nX-Mark: on\nDate: Fri, 6 Feb 2026 23:00:00 -0500\n\nNeedle\n',
      ),
    );
    const find = async (keys: string, ...literals: Uint8Array[]) =>
      (await talk.ok(`SEARCH ${keys}`, ...literals)).join();
    await talk.ok('NOOP');
    for (const keys of [
      'FLAGGED',
      'HEADER X-Mark ""',
      'BODY needle',
      'ON 7-Feb-2026',
      'SENTON 6-Feb-2026',
      'NOT (OR 1 2)',
      'SMALLER 200',
      'FROM A@B',
      'UNSEEN SINCE 1-Feb-2026',
      'UID 3:*',
      'TEXT "x-mark"',
    ]) {
      expect([keys, await find(keys)]).toEqual([keys, 'SEARCH 3']);
    }
    expect(await find('CHARSET UTF-8 SUBJECT', Buffer.from('GRÜSSE'))).toBe('SEARCH');
    expect(await find('CHARSET UTF-8 SUBJECT', Buffer.from('grüße'))).toBe('SEARCH 3');
    expect(await find('RETURN (MIN MAX COUNT ALL) ALL')).toMatch(
      /^ESEARCH \(TAG "t\d+"\) MIN 1 MAX 3 COUNT 3 ALL 1:3$/,
    );
    expect((await talk.command('SEARCH CHARSET KOI8-R ALL')).result).toMatch(/^NO \[BADCHARSET/);
    expect((await talk.command('SEARCH FROM')).result).toMatch(/^BAD /);
  });

  test('imapflow reads, flags, moves, stores and idles', async () => {
    await using running = await startImap();
    const { user, password } = running.login;
    const client = new ImapFlow({
      host: '127.0.0.1',
      port: running.imapPort,
      secure: false,
      logger: false,
      auth: { user, pass: password },
    });
    await client.connect();
    expect((await client.list()).map(({ path, specialUse }) => `${path} ${specialUse}`).sort()).toEqual([
      ...['Archive \\Archive', 'Drafts \\Drafts', 'INBOX \\Inbox', 'Sent \\Sent', 'Trash \\Trash'],
    ]);
    const lock = await client.getMailboxLock('INBOX');
    const message = await client.fetchOne('1', {
      envelope: true,
      bodyStructure: true,
      source: true,
      emailId: true,
    } as never);
    expect(message).toMatchObject({
      envelope: { subject: 'Cannot log in', from: [{ address: 'dana@customer.test' }] },
    });
    const exists = new Promise((resolve) => client.once('exists', resolve));
    const idling = client.idle();
    const id = await running.receive('While it idles');
    expect(await exists).toMatchObject({ count: 3, prevCount: 2 });
    expect(await client.messageMove('3', 'Archive')).toMatchObject({
      destination: 'Archive',
      uidMap: new Map([[3, 1]]),
    });
    expect((await running.api('GET', `/messages/${id}`)).json).toMatchObject({ isArchived: true });
    await idling;
    lock.release();
    expect(
      await client.append('Drafts', Buffer.from(toMail('To: x@y.test\nSubject: Soon\n\nText\n')), ['\\Draft']),
    ).toMatchObject({ destination: 'Drafts' });
    expect((await running.api('GET', '/drafts')).json.drafts.at(-1)).toMatchObject({
      subject: 'Soon',
      to: ['x@y.test'],
    });
    await client.logout();
  });
});
