import { expect, test } from 'vitest';
import { startImap } from '../../../support/imap-server.ts';
import { send } from '../../../support/send.ts';

const MIB = 1024 * 1024;

test('a command that loses its room to another client is refused when it ends, and the session goes on', async () => {
  // The room for what is arriving is 20 MiB.
  const memory = () => ({ heapBytes: 160 * MIB, allBytes: Number.POSITIVE_INFINITY });
  await using served = await startImap({ environment: { memory } });
  const [one, two] = [await served.session(), await served.session()];
  const size = 10_380_000;
  const begin = 'Subject: Large\r\n\r\n'.padEnd(size, 'x');
  for (const [session, tag] of [[one, 'a'] as const, [two, 'b'] as const]) {
    session.send(`${tag} APPEND INBOX {${size + 5}}\r\n`);
    expect(await session.next()).toBe('+ Send the literal.');
    session.send(begin);
  }
  const mail = { to: served.login.user, from: 'a@b.test', plainBody: 'x'.repeat(400_000) };
  const control = `${served.server.control}/messages`;
  const replies = await Promise.all(Array.from({ length: 5 }, () => send(control, 'POST', { json: mail })));
  expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  const results: string[] = [];
  for (const [session, tag] of [[one, 'a'] as const, [two, 'b'] as const]) {
    session.send('x'.repeat(5));
    session.send('\r\n');
    results.push((await session.until(tag)).result.slice(0, 16));
    await session.ok('NOOP');
  }
  expect(results.every((result) => /^OK|^NO \[UNAVAILABLE/.test(result))).toBe(true);
  expect(results.filter((result) => result.startsWith('NO')).length).toBeLessThanOrEqual(1);
});
