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
});
