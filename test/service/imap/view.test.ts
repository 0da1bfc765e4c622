import { describe, expect, test } from 'vitest';
import { type ImapTestServer, startImap } from '../../support/imap-server.ts';
import { readFetch } from '../../support/imap-talk.ts';

/** Opens INBOX in a new session, and returns what it says of recent mails: how many there are, and which. */
async function recentIn(running: ImapTestServer): Promise<[string | undefined, unknown[]]> {
  const talk = await running.session();
  const lines = await talk.ok('SELECT INBOX');
  const fetched = await talk.ok('UID FETCH 1:* FLAGS');
  const recent = fetched.map(readFetch).filter(({ FLAGS }) => (FLAGS as string[]).includes('\\Recent'));
  return [lines.find((line) => line.endsWith(' RECENT')), recent.map(({ UID }) => UID)];
}

describe('flags over IMAP', () => {
  test('the first mail after a session is recent in the next one, and in no other', async () => {
    await using running = await startImap();
    expect((await recentIn(running))[0]).toBe('2 RECENT');
    expect(await recentIn(running)).toEqual(['0 RECENT', []]);
    await running.receive('First');
    expect(await recentIn(running)).toEqual(['1 RECENT', ['3']]);
    expect(await recentIn(running)).toEqual(['0 RECENT', []]);
  });

  test('STORE tells the new flags, and STORE with .SILENT tells them only to others', async () => {
    await using running = await startImap();
    const [talk, other] = [await running.session('INBOX'), await running.session('INBOX')];
    expect(await talk.ok('STORE 1 +FLAGS (\\Flagged)')).toEqual([
      expect.stringMatching(/^1 FETCH \(.*FLAGS \(.*\\Flagged/),
    ]);
    expect(await talk.ok('STORE 1 -FLAGS.SILENT (\\Flagged)')).toEqual([]);
    expect(await talk.ok('NOOP')).toEqual([]);
    const told = await other.ok('NOOP');
    expect(told).toEqual([expect.stringMatching(/^1 FETCH \(.*FLAGS/)]);
    expect(told[0]).not.toContain('\\Flagged');
  });

  test('STATUS of the open folder counts what the session has been told, and of another folder all', async () => {
    await using running = await startImap();
    const [talk, other] = [await running.session('INBOX'), await running.session()];
    const status = async (asked: typeof talk) => {
      const [line = '', ...told] = await asked.ok('STATUS INBOX (MESSAGES UIDNEXT UNSEEN RECENT)');
      const numbers = Object.fromEntries(
        Array.from(line.matchAll(/([A-Z]+) (\d+)/g), ([, name, n]) => [name, Number(n)]),
      );
      return { numbers, told };
    };
    const before = await status(talk);
    await running.receive('Not told yet');
    const { numbers, told } = await status(talk);
    expect(numbers).toEqual(before.numbers);
    expect(told).toContain(`${Number(before.numbers.MESSAGES) + 1} EXISTS`);
    const after = {
      MESSAGES: Number(before.numbers.MESSAGES) + 1,
      UIDNEXT: Number(before.numbers.UIDNEXT) + 1,
      UNSEEN: Number(before.numbers.UNSEEN) + 1,
      RECENT: Number(before.numbers.RECENT) + 1,
    };
    expect((await status(talk)).numbers).toEqual(after);
    expect((await status(other)).numbers).toEqual({ ...after, RECENT: 0 });
    await running.receive('Seen by the other session at once');
    expect((await status(other)).numbers).toMatchObject({ MESSAGES: after.MESSAGES + 1, RECENT: 1 });
  });
});
