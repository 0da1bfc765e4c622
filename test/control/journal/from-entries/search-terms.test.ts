import { expect, test } from 'vitest';
import {
  matchesSearch,
  parseSearch,
  removeTerm,
  type SEARCH_WORDS,
  type SearchedMail,
  wordsToMark,
} from '../../../../src/control/journal/from-entries/search-terms.ts';

test.for([
  ['invoice overdue', []],
  ['"from:dana" x', []],
  ['from:dana invoice', [['from:dana', 'invoice']]],
  ['a inbox:billing  b', [['inbox:billing', 'a b']]],
  [
    'from:"Dana Reyes" is:sample',
    [
      ['from:"Dana Reyes"', 'is:sample'],
      ['is:sample', 'from:"Dana Reyes"'],
    ],
  ],
  ['is:unread is:unread', [['is:unread', 'is:unread']]],
  ['is:unreadable has:photos', []],
] as const)('the search %j has the conditions %j', ([search, conditions], { expect }) => {
  const named = parseSearch(search).filter(({ name }) => name !== undefined);
  expect(named.map((term) => [term.written, removeTerm(search, term)])).toEqual(conditions);
});

test.for([
  ['Invoice "Two Words" overdue', ['invoice', 'two words', 'overdue']],
  ['inbox:Billing sandbox:"My Shop" is:sample', ['inbox: billing', 'sandbox: my shop', 'is:sample']],
  ['from:"" "" x', ['x']],
  ['from:a FROM:A a', ['from: a', 'a']],
  ['from: "open quotes', ['from:', 'open', 'quotes']],
] as const)('the search %j has the parts %j', ([search, parts], { expect }) => {
  expect(parseSearch(search).map(({ name = '', text }) => `${name} ${text}`.trim())).toEqual(parts);
});

/** A mail that matches no word of a search. */
const PLAIN: SearchedMail = {
  mail: { from: '', to: [], cc: [], bcc: [], subject: '', plainBody: '', htmlBody: null, isRead: true },
  inboxNames: [],
  sandbox: undefined,
  fileCount: 0,
  isSample: false,
};

/** For each word of a search: a search, and a mail that it finds. */
const FOUND: Readonly<Record<keyof typeof SEARCH_WORDS, readonly [search: string, found: SearchedMail]>> = {
  'from:': ['from:dana', { ...PLAIN, mail: { ...PLAIN.mail, from: 'Dana <d@customer.test>' } }],
  'to:': ['to:münchen.test', { ...PLAIN, mail: { ...PLAIN.mail, bcc: ['x@xn--mnchen-3ya.test'] } }],
  'subject:': ['subject:"order 1042"', { ...PLAIN, mail: { ...PLAIN.mail, subject: 'Your Order 1042' } }],
  'inbox:': ['inbox:help', { ...PLAIN, inboxNames: ['sales@acme.test', 'Helpdesk@acme.test'] }],
  'sandbox:': ['sandbox:box-1', { ...PLAIN, sandbox: { id: 'f00', name: null, domain: 'box-1.test' } }],
  'has:attachment': ['has:attachment', { ...PLAIN, fileCount: 1 }],
  'is:unread': ['is:unread', { ...PLAIN, mail: { ...PLAIN.mail, isRead: false } }],
  'is:sample': ['is:sample', { ...PLAIN, isSample: true }],
};

test.for(Object.entries(FOUND))('%s finds a mail that has it, and no other', ([name, [search, found]], { expect }) => {
  const terms = parseSearch(search);
  expect(terms.map((term) => term.name)).toEqual([name]);
  const others = Object.entries(FOUND).filter(([other]) => other !== name);
  expect([found, PLAIN, ...others.map(([, [, other]]) => other)].filter((each) => matchesSearch(each, terms))).toEqual([
    found,
  ]);
});

test.for(['from', 'subject', 'plainBody', 'htmlBody'] as const)(
  'a plain word is looked for in %s',
  (field, { expect }) => {
    const mail = { ...PLAIN.mail, [field]: 'An INVOICE of May' };
    expect(matchesSearch({ ...PLAIN, mail }, parseSearch('may invoice'))).toBe(true);
    expect(matchesSearch({ ...PLAIN, mail }, parseSearch('"may invoice"'))).toBe(false);
  },
);

test.for(['to', 'cc', 'bcc'] as const)('a plain word is looked for in %s', (field, { expect }) => {
  const mail = { ...PLAIN.mail, [field]: ['Eva <eva@shop.test>', 'lee@shop.test'] };
  expect(matchesSearch({ ...PLAIN, mail }, parseSearch('lee eva'))).toBe(true);
  expect(matchesSearch({ ...PLAIN, mail }, parseSearch('"eva lee"'))).toBe(false);
});

test('only what can be seen in a mail is marked', () => {
  const search =
    'from:Dana to:lee subject:"order 1" inbox:helpdesk sandbox:x is:sample is:unread has:attachment "A b" c';
  expect(wordsToMark(parseSearch(search))).toEqual(['dana', 'lee', 'order 1', 'a b', 'c']);
});
