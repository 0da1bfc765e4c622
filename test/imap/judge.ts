import assert from 'node:assert/strict';
import { createSample, samples } from '../../src/testing/samples/index.ts';
import { type ImapTalk, readFetch, type Value } from '../support/imap-talk.ts';
import { createMailCorpus, type DovecotDifference } from '../support/mail-corpus.ts';
import { Dovecot } from './dovecot.ts';
import { empty, judgeSequences } from './judge-sequences.ts';
import { ODD_MAILS } from './odd-mails.ts';
import type { Running } from './packed.ts';

/** A point at which we answer otherwise than Dovecot, with the reason. */
const DIFFERENCES: readonly {
  readonly reason: string;
  isIt(item: string, ours: string, theirs: string, mail: Uint8Array): boolean;
}[] = [
  {
    reason:
      'Dovecot puts MISSING_DOMAIN or MISSING_MAILBOX into an address that lacks a part, and shows an address between two commas; we leave the part empty, and the address out.',
    isIt: (item, ours, theirs) =>
      (item === 'ENVELOPE' || item.startsWith('BODY')) && withoutMissing(theirs) === withoutMissing(ours),
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
  {
    reason: 'A part that is not there is NIL for us (RFC 3501, section 6.4.5), and empty for Dovecot.',
    isIt: (item, ours, theirs) => /^BODY\.PEEK\[\d/.test(item) && ours === 'null' && theirs === '""',
  },
  {
    reason: 'We unfold a Date with one space for each fold; Dovecot keeps all white space of it.',
    isIt: (item, ours, theirs) => item === 'ENVELOPE' && theirs.replace(/ +/g, ' ') === ours,
  },
  {
    reason:
      'If a boundary ends the header of a mail within the mail, Dovecot counts the line break before it as content.',
    isIt: (item, ours, theirs) =>
      (/^BODY(?:STRUCTURE)?$/.test(item) && ours.includes('rfc822') && withoutSizes(ours) === withoutSizes(theirs)) ||
      (/^BODY\.PEEK\[\d\]/.test(item) && theirs === ours.replace(/"$/, '\\r\\n"')),
  },
  {
    reason:
      'A multipart in which no part is found has one part with its text for us, as the service shows it; for Dovecot, that part is empty.',
    isIt: (item, ours, theirs, mail) =>
      /^BODY(?:STRUCTURE)?$/.test(item)
        ? theirs === ours.replace(/(?<=,"7bit",)"\d+","\d+"/, '"0","0"')
        : /^BODY\.PEEK\[1[.\]]/.test(item) && theirs === '""' && !/^--/m.test(Buffer.from(mail).toString('latin1')),
  },
];

function withoutSizes(text: string): string {
  return text.replace(/"\d+"/g, '"1"');
}

function withoutMissing(text: string): string {
  return text
    .replace(/"MISSING_(?:DOMAIN|MAILBOX)"/g, '""')
    .replaceAll('[null,null,"",""],', '')
    .replaceAll(',[null,null,"",""]]', ']')
    .replaceAll('[[null,null,"",""]]', 'null');
}

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
  ...[
    '1',
    '2',
    '3',
    '4',
    '1.1',
    '2.1',
    '2.1.1',
    '1.MIME',
    '2.MIME',
    '3.MIME',
    '1.HEADER',
    '2.HEADER',
    '3.HEADER',
    '2.TEXT',
    '3.TEXT',
    '2.1.MIME',
    '9',
  ].map((part) => `BODY.PEEK[${part}]`),
  ...[
    'BODY.PEEK[HEADER.FIELDS (Subject To)]',
    'BODY.PEEK[HEADER.FIELDS.NOT (Subject To)]',
    'BODY.PEEK[]<3.10>',
    'BODY.PEEK[1]<2.5>',
    'BODY.PEEK[TEXT]<0.7>',
    'BODY.PEEK[]<100000.5>',
    'BODY.PEEK[3.HEADER.FIELDS (Subject)]',
  ],
];

/** The differences that mails of the corpus name, with their reasons. */
const CORPUS_DIFFERENCES: Readonly<Record<DovecotDifference, string>> = {
  'reads on':
    'Dovecot ends a field of addresses, or an address, where the grammar is broken, and reads no space after a dot before the `@` (RFC 5322, obs-local-part); we read on, so that no address is lost.',
  'white space': 'Dovecot keeps white space at the beginning of a field that begins on its second line; we remove it.',
  'CR alone': 'A mail whose lines end with CR alone is one line for Dovecot; we serve it with CRLF.',
  'no media type': 'A Content-Type that cannot be read is text/plain for us (RFC 2045, section 5.2).',
  'no end of quotes': 'A parameter whose quotes do not end is left out by Dovecot.',
  'no type, no encoding': 'Without a Content-Type, Dovecot shows 7bit whatever Content-Transfer-Encoding says.',
};

// For Dovecot, a mail without a date is from 1970. The dates of the sample odd-dates are read by some programs only, and FROM finds a letter of Dovecot's MISSING_DOMAIN.
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
    'HEADER Date 13 SENTBEFORE 1-Jan-1971',
    'SENTON 13-Feb-2026',
    'SENTON 21-Nov-1997',
    ...['text', 'status', 'inner', 'feedback', 'partial', 'calendar', 'file', 'quoted', 'cut', 'coded'].flatMap(
      (word) => [`BODY needle-${word}`, `TEXT needle-${word}`],
    ),
    'BODY named.txt',
    'TEXT named.txt',
    'BODY Reporting-MTA',
    'NOT BODY needle',
    'OR BODY needle-text SUBJECT date',
    'HEADER Date 1997',
    'LARGER 500',
    'BODY zz',
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
      if (a === b || DIFFERENCES.some(({ isIt }) => isIt(item, a, b, mail))) continue;
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
  problems.push(...(await judgeCorpus(ours, theirs, mails.length)));
  assert.equal(problems.length, 0, `${problems.length} differences:\n${problems.slice(0, 30).join('\n')}`);
  await judgeSequences(running);
}

/**
 * Compares ENVELOPE and BODYSTRUCTURE of the corpus, whose mails come after others. Returns each difference without a
 * reason, and each reason without a difference.
 */
async function judgeCorpus(ours: ImapTalk, theirs: ImapTalk, mailsBefore: number): Promise<string[]> {
  // Dovecot takes no mail with NUL.
  const corpus = createMailCorpus().filter(({ bytes }) => !bytes.includes(0));
  for (const { bytes } of corpus) {
    for (const talk of [ours, theirs]) await talk.ok('APPEND INBOX', bytes);
  }
  for (const talk of [ours, theirs]) await talk.ok('NOOP');
  const problems: string[] = [];
  const explained = new Set<string>();
  for (const item of ['ENVELOPE', 'BODYSTRUCTURE', 'BODY']) {
    const [own, other] = await Promise.all([ours, theirs].map((talk) => fetchAll(talk, item)));
    for (const [index, { title, dovecot, bytes }] of corpus.entries()) {
      const [a = '', b = ''] = [own?.[mailsBefore + index], other?.[mailsBefore + index]];
      if (a === b || DIFFERENCES.some(({ isIt }) => isIt(item, a, b, bytes))) continue;
      if (dovecot && CORPUS_DIFFERENCES[dovecot] !== '') explained.add(title);
      else problems.push(`${item} of ${title}\n  ours:   ${a.slice(0, 500)}\n  theirs: ${b.slice(0, 500)}`);
    }
  }
  const stale = corpus.filter(({ title, dovecot }) => dovecot && !explained.has(title));
  return [
    ...problems,
    ...stale.map(({ title, dovecot }) => `${title} has the reason "${dovecot}", and no difference.`),
  ];
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
