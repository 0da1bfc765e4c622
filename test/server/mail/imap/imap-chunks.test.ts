import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ImapTestServer, startImap } from '../../../support/imap-server.ts';
import { longSessions, type RecordedSession, shortSessions } from '../../../support/recorded-imap.ts';
import { cutAt, play, resultsOf } from '../../../support/replayed-imap.ts';

const SHORT = Object.keys(shortSessions({ user: '', password: '' }));
const LONG = Object.keys(longSessions({ user: '', password: '' }));

async function sessionOf({ server, login }: ImapTestServer, name: string): Promise<RecordedSession> {
  server.mailbox.reset();
  const session = { ...shortSessions(login), ...longSessions(login) }[name];
  if (!session) throw new Error(`There is no session ${name}.`);
  return session;
}

describe('IMAP commands in chunks', () => {
  test.for([...SHORT, ...LONG])('%s: every way of cutting the bytes gives the same replies and mail', async (name) => {
    await using running = await startImap();
    const { bytes, results } = await sessionOf(running, name);
    const whole = await play(running, [bytes]);
    expect(resultsOf(JSON.parse(whole)[0])).toEqual(results);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 20 }), async (positions) => {
        expect(await play(running, cutAt(bytes, positions))).toBe(whole);
      }),
      { numRuns: LONG.includes(name) ? 10 : 20 },
    );
    if (bytes.length > 2_000) return;
    expect(
      await play(
        running,
        Array.from(bytes, (_, at) => bytes.subarray(at, at + 1)),
      ),
    ).toBe(whole);
  });

  test('a mail full of commands is stored as it is, wherever its bytes are cut in two', async () => {
    await using running = await startImap();
    const { bytes } = await sessionOf(running, 'a mail full of commands');
    const whole = await play(running, [bytes]);
    for (let at = 1; at < bytes.length; at += 1)
      expect([at, await play(running, cutAt(bytes, [at]))]).toEqual([at, whole]);
  });
});
