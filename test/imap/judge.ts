import assert from 'node:assert/strict';
import fc from 'fast-check';
import { createSample, samples } from '../../src/control/samples/index.ts';
import { type ImapTalk, readFetch, type Value } from '../support/imap-talk.ts';
import { Dovecot } from './dovecot.ts';
import { ODD_MAILS } from './odd-mails.ts';
import type { Running } from './packed.ts';

/** A point at which we answer otherwise than Dovecot, with the reason. */
const DIFFERENCES: readonly { readonly reason: string; isIt(item: string, ours: string, theirs: string): boolean }[] = [
  {
    reason:
      'Dovecot puts MISSING_DOMAIN, MISSING_MAILBOX or SYNTAX_ERROR into an address that lacks a part; we leave it empty.',
    isIt: (item, _, theirs) => item === 'ENVELOPE' && /MISSING_|SYNTAX_ERROR/.test(theirs),
  },
  {
    reason: 'Dovecot keeps white space at the end of a field; we remove it.',
    isIt: (item, ours, theirs) => item === 'ENVELOPE' && theirs.replace(/ +(?=")/g, '') === ours,
  },
  {
    reason:
      'A Content-Type without a subtype is text/plain for us (RFC 2045, section 5.2), and a type without a subtype for Dovecot.',
    isIt: (item, _, theirs) => item.startsWith('BODY') && /\["[^"]+","",/.test(theirs),
  },
  {
    reason: 'Dovecot writes the parameters that RFC 2231 splits into pieces behind the others.',
    isIt: (item, ours, theirs) => item.startsWith('BODY') && sorted(ours) === sorted(theirs),
  },
  {
    reason:
      'For Dovecot, the line break before a boundary belongs to that also where it is the end of an empty header.',
    isIt: (item, ours, theirs) => item.endsWith('.MIME]') && ours === '"\\r\\n"' && theirs === '""',
  },
  {
    reason: 'A header without an empty line gets one in HEADER.FIELDS.NOT, as it does in HEADER.FIELDS.',
    isIt: (item, ours, theirs) => item.includes('FIELDS.NOT') && ours === theirs.replace(/"$/, '\\r\\n"'),
  },
];

function sorted(text: string): string {
  return text
    .split(/[[\],]+/)
    .sort()
    .join();
}

const ITEMS = [
  ...[
    'ENVELOPE',
    'BODYSTRUCTURE',
    'BODY',
    'RFC822.SIZE',
    'RFC822.HEADER',
    'INTERNALDATE',
    'BODY.PEEK[]',
    'BODY.PEEK[TEXT]',
  ],
  ...['1', '2', '1.1', '2.1', '2.1.1', '1.MIME', '2.MIME', '2.HEADER', '2.TEXT', '2.1.MIME'].map(
    (part) => `BODY.PEEK[${part}]`,
  ),
  ...['BODY.PEEK[HEADER.FIELDS (Subject To)]', 'BODY.PEEK[HEADER.FIELDS.NOT (Subject To)]', 'BODY.PEEK[]<3.10>'],
];

// The dates of the sample odd-dates are read by some programs only, and FROM finds a letter of Dovecot's MISSING_DOMAIN.
const SEARCHES = [
  ...[
    'ALL',
    'UNSEEN',
    'SEEN',
    'FROM dana',
    'TO helpdesk',
    'SUBJECT order',
    'HEADER Message-ID customer',
    'HEADER X-None ""',
  ],
  ...[
    'BODY order',
    'TEXT friday',
    'SMALLER 500',
    'LARGER 100000',
    'SENTSINCE 7-Jan-2026',

    'NOT (OR 1:5 SUBJECT a)',
  ],
  ...['1:3,5', 'KEYWORD $Own', 'RETURN (MIN MAX COUNT) ALL'],
];

/** Compares what Dovecot and we answer about the same mails, and to the same commands. */
export async function judge(running: Running): Promise<void> {
  const mails = [
    ...samples.flatMap(({ name }) => createSample(name, { to: 'helpdesk@acme.test' }).mails.map(({ eml }) => eml)),
    ...ODD_MAILS,
  ];
  using dovecot = new Dovecot();
  using ours = await running.session();
  using theirs = await dovecot.connect();
  await empty(ours);
  await theirs.ok('SELECT INBOX');
  for (const mail of mails) {
    for (const talk of [ours, theirs]) await talk.ok('APPEND INBOX (\\Seen) "06-Jan-2026 10:00:00 +0000"', mail);
  }
  for (const talk of [ours, theirs]) await talk.ok('NOOP');
  const problems: string[] = [];
  for (const item of ITEMS) {
    const [own, other] = await Promise.all([ours, theirs].map((talk) => fetchAll(talk, item)));
    for (const [index, mail] of mails.entries()) {
      const [a = '', b = ''] = [own?.[index], other?.[index]];
      if (a === b || DIFFERENCES.some(({ isIt }) => isIt(item, a, b))) continue;
      problems.push(
        `${item} of ${JSON.stringify(Buffer.from(mail).toString('latin1').slice(0, 300))}\n  ours:   ${a.slice(0, 500)}\n  theirs: ${b.slice(0, 500)}`,
      );
    }
  }
  for (const keys of SEARCHES) {
    const [own = [], other = []] = await Promise.all([ours, theirs].map((talk) => searchFor(talk, keys)));
    const differing = [...own.filter((each) => !other.includes(each)), ...other.filter((each) => !own.includes(each))];
    if (differing.length > 0) problems.push(`SEARCH ${keys}: only one of us has ${differing.join(', ')}`);
  }
  assert.equal(problems.length, 0, `${problems.length} differences:\n${problems.slice(0, 30).join('\n')}`);
  await judgeSequences(running);
}

/** Returns what a search has found, and what it says of that. */
async function searchFor(talk: ImapTalk, keys: string): Promise<string[]> {
  const [found = ''] = (await talk.ok(`SEARCH ${keys}`)).filter((line) => /^E?SEARCH/.test(line));
  return found.replace(/\(TAG "\w+"\)/, '').split(' ');
}

async function fetchAll(talk: ImapTalk, item: string): Promise<string[]> {
  const lines = (await talk.ok(`FETCH 1:* (${item})`)).filter((line) => / FETCH /.test(line));
  return lines.map((line) => JSON.stringify(Object.values(readFetch(line))[0] as Value));
}

async function empty(talk: ImapTalk): Promise<void> {
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
// Only one of the two sessions changes something: Dovecot lets a session still read what another has removed, and we do not.
const sequence = fc.array(fc.tuple(fc.constant(0), command), { minLength: 5, maxLength: 15 });

/** Gives the same commands to Dovecot and to us, from two sessions on one folder. */
async function judgeSequences(running: Running): Promise<void> {
  const play = async (talks: readonly ImapTalk[], commands: readonly (readonly [number, string])[]) => {
    const told: string[] = [];
    for (const [who, text] of [
      ...commands,
      [0, 'NOOP'],
      [1, 'NOOP'],
      [0, 'UID FETCH 1:* FLAGS'],
      [1, 'UID FETCH 1:* FLAGS'],
    ] as const) {
      const { lines, result } = (await talks[who]?.command(text)) ?? { lines: [], result: '' };
      told.push(`${text}: ${result.split(' ')[0]} ${describe(lines, text)}`);
    }
    return told;
  };
  await fc.assert(
    fc.asyncProperty(sequence, async (commands) => {
      using dovecot = new Dovecot();
      using ours = await running.session();
      using ourSecond = await running.session();
      using theirs = await dovecot.connect();
      using theirSecond = await dovecot.connect();
      await empty(ours);
      await theirs.ok('CREATE Archive');
      for (let number = 1; number <= 5; number += 1) {
        for (const talk of [ours, theirs])
          await talk.ok('APPEND INBOX', Buffer.from(`Subject: ${number}\r\n\r\nx\r\n`));
      }
      const first = Number(/UIDNEXT (\d+)/.exec((await ours.ok('STATUS INBOX (UIDNEXT)')).join())?.[1]) - 5;
      for (const talk of [ours, ourSecond, theirs, theirSecond]) await talk.ok('SELECT INBOX');
      const shift = (text: string) =>
        text.startsWith('UID ') ? text.replace(/\d+/g, (uid) => String(Number(uid) + first - 1)) : text;
      const own = await play(
        [ours, ourSecond],
        commands.map(([who, text]) => [who, shift(text)]),
      );
      const other = await play([theirs, theirSecond], commands);
      const unshift = (line: string) => line.replace(/(?<=UID )\d+/g, (uid) => String(Number(uid) - first + 1));
      assert.deepEqual(own.map(unshift).map(withoutNumbers), other.map(withoutNumbers));
    }),
    { numRuns: 25 },
  );
}

/** The commands have other UIDs with us, and the numbers of SEARCH by UID too. */
function withoutNumbers(line: string): string {
  return line.replace(/^UID .*?: /, '').replace(/(?<=SEARCH)(?: \d+)+$/, '');
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
