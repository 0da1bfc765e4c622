import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type ImapTalk, readFetch } from '../support/imap-talk.ts';
import { Dovecot } from './dovecot.ts';
import type { Running } from './packed.ts';

/** Removes all messages that a client can remove. */
export async function empty(talk: ImapTalk): Promise<void> {
  for (const folder of ['Archive', 'Trash', 'INBOX']) {
    await talk.ok(`SELECT ${folder}`);
    if ((await talk.ok('SEARCH ALL'))[0] === 'SEARCH') continue;
    await talk.ok('STORE 1:* +FLAGS.SILENT (\\Deleted)');
    await talk.ok('EXPUNGE');
  }
}

const SETS = ['1', '2', '1:2', '3:*', '1,3', '9'];
const flags = fc
  .subarray(['\\Seen', '\\Flagged', '\\Answered', '\\Draft', '$Own'], { minLength: 1 })
  .map((each) => each.join(' '));
const set = fc.constantFrom(...SETS);
const command = fc.oneof(
  fc
    .tuple(fc.constantFrom('FLAGS', '+FLAGS', '-FLAGS', '+FLAGS.SILENT'), set, flags)
    .map(([how, on, list]) => `STORE ${on} ${how} (${list})`),
  fc
    .tuple(fc.constantFrom('MOVE', 'UID MOVE'), set, fc.constantFrom('Archive', 'Nowhere'))
    .map((each) => each.join(' ')),
  set.map((on) => `STORE ${on} +FLAGS (\\Deleted)`),
  fc.constantFrom(
    'EXPUNGE',
    'UID EXPUNGE 2:4',
    'NOOP',
    'CHECK',
    'SEARCH UNSEEN',
    'SEARCH 1:2',
    'FETCH 1 (FLAGS UID)',
    'UID FETCH 1:* FLAGS',
    'UID SEARCH ALL',
  ),
);
const sequence = fc.array(fc.tuple(fc.constantFrom(0, 1), command), { minLength: 5, maxLength: 15 });

/** A reply in which we differ from Dovecot, with the reason. */
const DIFFERENCES: readonly {
  readonly reason: string;
  isIt(command: string, ours: string, theirs: string): boolean;
}[] = [
  {
    reason:
      'A folder that does not exist is refused also if none of the UIDs exists (RFC 3501, section 6.4.7); Dovecot ' +
      'looks for the folder only if there is something to move.',
    isIt: (text, ours, theirs) => /UID MOVE .* Nowhere$/.test(text) && ours.startsWith('NO') && theirs.startsWith('OK'),
  },
];

/** What a session was told: by its own command, or when it asked by NOOP. */
interface Told {
  readonly command: string;
  readonly told: string;
}

/**
 * Gives the same commands to Dovecot and to us, from two sessions on one folder. After each command, the other session
 * asks for changes: until then, Dovecot lets it read what was removed, and we do not.
 */
export async function judgeSequences(
  running: Running,
  parameters: fc.Parameters<[[number, string][]]> = {},
): Promise<void> {
  using ours = await running.session();
  using ourSecond = await running.session();
  using dovecot = new Dovecot();
  using theirs = await dovecot.connect();
  using theirSecond = await dovecot.connect();
  for (const name of ['Archive', 'Trash']) await theirs.ok(`CREATE ${name}`);
  await fc.assert(
    fc.asyncProperty(sequence, async (commands) => {
      for (const talk of [ours, theirs]) await empty(talk);
      for (let number = 1; number <= 5; number += 1) {
        for (const talk of [ours, theirs])
          await talk.ok('APPEND INBOX', Buffer.from(`Subject: ${number}\r\n\r\nx\r\n`));
      }
      const [ownShift = 0, otherShift = 0] = await Promise.all([ours, theirs].map(countUids));
      for (const talk of [ours, ourSecond, theirs, theirSecond]) await talk.ok('SELECT INBOX');
      const own = await play([ours, ourSecond], commands, ownShift);
      const other = await play([theirs, theirSecond], commands, otherShift);
      const isKnown = ({ command, told }: Told, index: number) =>
        DIFFERENCES.some(({ isIt }) => isIt(command, told, other[index]?.told ?? ''));
      assert.deepEqual(
        own.map((each, index) => (isKnown(each, index) ? other[index] : each)),
        other,
      );
    }),
    { numRuns: 100, ...parameters },
  );
}

/** Returns the number of UIDs in INBOX before the five mails that it has. */
async function countUids(talk: ImapTalk): Promise<number> {
  const lines = await talk.ok('STATUS INBOX (UIDNEXT)');
  return Number(/UIDNEXT (\d+)/.exec(lines.join())?.[1]) - 6;
}

/** Gives commands to the sessions. The UIDs in commands and replies are as if the first mail had the UID 1. */
async function play(
  talks: readonly ImapTalk[],
  commands: readonly (readonly [number, string])[],
  shift: number,
): Promise<Told[]> {
  const told: Told[] = [];
  const give = async (who: number, command: string) => {
    const isUid = command.startsWith('UID ');
    const shifted = isUid ? command.replace(/\d+/g, (uid) => String(Number(uid) + shift)) : command;
    const { lines, result } = (await talks[who]?.command(shifted)) ?? { lines: [], result: '' };
    const unshift = (number: string) => String(Number(number) - shift);
    const plain = lines.map((line) => {
      const isFound = isUid && line.startsWith('SEARCH');
      return isFound ? line.replace(/\d+/g, unshift) : line.replace(/(?<=UID )\d+/g, unshift);
    });
    told.push({ command: `${who}: ${command}`, told: `${result.split(' ')[0]} ${describe(plain, command)}` });
  };
  for (const [who, command] of commands) {
    await give(who, command);
    await give(1 - who, 'NOOP');
  }
  for (const who of [0, 1]) await give(who, 'NOOP');
  for (const who of [0, 1]) await give(who, 'UID FETCH 1:* FLAGS');
  return told;
}

/** Describes the untagged replies without what is left to the server: their order, \Recent and further FETCH. */
function describe(lines: readonly string[], command: string): string {
  const kept = lines.filter((line) => / (?:EXPUNGE|EXISTS)$/.test(line) || line.startsWith('SEARCH'));
  const isFetch = command.includes('FETCH');
  const fetched = lines
    .filter((line) => isFetch && / FETCH /.test(line))
    .map((line) => {
      const { UID: uid, FLAGS: list } = readFetch(line);
      return `${line.split(' ')[0]} UID ${uid} ${
        Array.isArray(list)
          ? list
              .filter((flag) => flag !== '\\Recent')
              .sort()
              .join(' ')
          : ''
      }`;
    });
  // A server may tell removals from the first or from the last on.
  const expunged = kept.filter((line) => line.endsWith('EXPUNGE')).length;
  return [...new Set(kept.filter((line) => !line.endsWith('EXPUNGE'))), `${expunged} removed`, ...new Set(fetched)]
    .sort()
    .join('; ');
}
