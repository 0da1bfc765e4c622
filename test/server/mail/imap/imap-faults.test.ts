import { describe, expect, test } from 'vitest';
import { startImap } from '../../../support/imap-server.ts';

describe('IMAP faults', () => {
  test('a login is refused a number of times, or because of too many connections', async () => {
    await using running = await startImap();
    const { mailbox } = running.server;
    const { user, password } = running.login;
    mailbox.addFault({ on: 'imap', kind: 'login-refused', times: 2, inbox: user });
    mailbox.addFault({ on: 'imap', kind: 'too-many-connections' });
    const talk = await running.connect();
    const logIn = async () => (await talk.command(`LOGIN ${user} "${password}"`)).result;
    expect([await logIn(), await logIn()]).toEqual(Array(2).fill(expect.stringMatching(/^NO \[AUTH/)));
    expect(await logIn()).toMatch(/^NO \[LIMIT\]/);
    expect(await logIn()).toMatch(/^OK/);
    expect(mailbox.faults()).toEqual([]);
  });

  test('a session is slow by two seconds unless the fault says how slow', async () => {
    await using running = await startImap();
    const { mailbox } = running.server;
    expect(mailbox.addFault({ on: 'imap', kind: 'slow' })).toMatchObject({ delayMs: 2_000 });
    expect(mailbox.addFault({ on: 'imap', kind: 'slow', delay: '5s' })).toMatchObject({ delayMs: 5_000 });
  });

  test('folders need ID, and ID is answered with BAD', async () => {
    await using running = await startImap();
    const { mailbox } = running.server;
    mailbox.addFault({ on: 'imap', kind: 'id-required' });
    mailbox.addFault({ on: 'imap', kind: 'id-refused' });
    const talk = await running.session();
    expect((await talk.command('SELECT INBOX')).result).toMatch(/^NO Unsafe/);
    expect((await talk.command('ID NIL')).result).toMatch(/^BAD /);
    expect((await talk.command('ID ("name" "x")')).result).toMatch(/^OK /);
    expect((await talk.command('SELECT INBOX')).result).toMatch(/^OK /);
  });

  test('the connection ends after a number of commands, or after a time', async () => {
    await using running = await startImap();
    const { mailbox } = running.server;
    mailbox.addFault({ on: 'imap', kind: 'disconnect', commands: 2 });
    const talk = await running.session();
    await talk.ok('NOOP');
    await talk.ok('NOOP');
    await expect(talk.command('NOOP')).rejects.toThrow('The connection has ended after ""');
    mailbox.addFault({ on: 'imap', kind: 'disconnect', delay: '10ms' });
    const other = await running.session();
    expect(await other.ended()).toBe('');
  });

  test('EXISTS is repeated, UIDVALIDITY changes, and a literal is cut', async () => {
    await using running = await startImap();
    const { mailbox } = running.server;
    const talk = await running.session('INBOX');
    mailbox.addFault({ on: 'imap', kind: 'repeated-exists' });
    await running.receive('Fresh');
    expect((await talk.ok('NOOP')).filter((line) => line === '3 EXISTS')).toHaveLength(3);
    mailbox.addFault({ on: 'imap', kind: 'new-uidvalidity' });
    expect((await talk.ok('NOOP'))[0]).toMatch(/^OK \[UIDVALIDITY \d+\]/);
    mailbox.addFault({ on: 'imap', kind: 'cut-literal' });
    talk.send('a FETCH 1 BODY[]\r\n');
    const [, size, text = ''] = /\{(\d+)\}\r\n(.*)$/s.exec(await talk.ended()) ?? [];
    expect(text).toHaveLength(Number(size) >> 1);
    expect(running.server.mailbox.requests().at(-1)).toMatchObject({
      command: 'FETCH',
      result: 'NO',
      reason: 'The connection ended before the reply was complete.',
    });
  });

  test('a slow session waits before each reply, and the end of the server does not wait for it', async () => {
    await using running = await startImap();
    running.server.mailbox.addFault({ on: 'imap', kind: 'slow', delay: '1h' });
    const talk = await running.session();
    talk.send('a NOOP\r\n');
    let result = '';
    const answered = talk.until('a').then((replies) => {
      result = replies.result;
    });
    await expect.poll(() => [running.server.mailbox.clearFaults(), result]).toEqual([undefined, 'OK NOOP is done.']);
    await answered;
    talk.send('b NOOP\r\n');
  });

  test('a fault of an inbox leaves others alone, and one of an unknown inbox is refused', async () => {
    await using running = await startImap();
    const { mailbox } = running.server;
    mailbox.addFault({ on: 'imap', kind: 'login-refused', inbox: 'info@globex.test' });
    await running.session();
    expect(() => mailbox.addFault({ on: 'imap', kind: 'slow', inbox: 'nobody@acme.test' })).toThrow(
      'There is no inbox',
    );
    expect(() => mailbox.addFault({ on: 'imap', kind: 'wrong' as 'slow' })).toThrow('kind must be one of id-required');
  });
});
