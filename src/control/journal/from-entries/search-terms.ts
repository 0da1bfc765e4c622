import { addressContains } from '../../../basics/domain-name.ts';

/** A mail, and what a search looks at beside it. */
export interface SearchedMail {
  /** The fields of the mail as control calls return them. */
  readonly mail: {
    readonly from: string;
    readonly to: readonly string[];
    readonly cc: readonly string[];
    readonly bcc: readonly string[];
    readonly subject: string;
    readonly plainBody: string;
    readonly htmlBody: string | null;
    readonly isRead: boolean;
  };
  /** Every address of its inbox, and the id of the inbox. */
  readonly inboxNames: readonly string[];
  /** The sandbox that it belongs to; undefined for a mail of another tenant. */
  readonly sandbox: { readonly id: string; readonly name: string | null; readonly domain: string } | undefined;
  /** How many files it has. */
  readonly fileCount: number;
  /** Whether a sample created it. */
  readonly isSample: boolean;
}

/** A word of a search that has a meaning of its own. */
interface SearchWord {
  /** How it is written in a search. */
  readonly example: string;
  /** What mail it finds. */
  readonly finds: string;
  /** Whether its text is marked where a mail contains it. */
  readonly isMarked: boolean;
  /** Returns whether a mail matches. The text is in lower case; it is empty for a word that takes no text. */
  matches(found: SearchedMail, text: string): boolean;
}

const isIn = (text: string, whole: string | null) => whole?.toLowerCase().includes(text) ?? false;

const isInAddress = (text: string, addresses: readonly string[]) =>
  addresses.some((address) => addressContains(address, text));

/** The words of a search that have a meaning of their own. A word that ends with a colon takes a text. */
export const SEARCH_WORDS = {
  'from:': {
    example: 'from:dana',
    finds: 'mail from an address, or from a name, that contains the text',
    isMarked: true,
    matches: ({ mail: { from } }, text) => addressContains(from, text),
  },
  'to:': {
    example: 'to:lee',
    finds: 'mail with such an address in To, Cc or Bcc',
    isMarked: true,
    matches: ({ mail: { to, cc, bcc } }, text) =>
      isInAddress(text, to) || isInAddress(text, cc) || isInAddress(text, bcc),
  },
  'subject:': {
    example: 'subject:"order 1042"',
    finds: 'mail whose subject contains the text',
    isMarked: true,
    matches: ({ mail: { subject } }, text) => isIn(text, subject),
  },
  'inbox:': {
    example: 'inbox:helpdesk',
    finds: 'mail of the inboxes that have an address that contains the text, or this id',
    isMarked: false,
    matches: ({ inboxNames }, text) => inboxNames.some((name) => isIn(text, name)),
  },
  'sandbox:': {
    example: 'sandbox:checkout',
    finds: 'mail of the sandboxes whose name contains the text, or whose domain or id begins with it',
    isMarked: false,
    matches({ sandbox }, text) {
      if (!sandbox) return false;
      return isIn(text, sandbox.name) || sandbox.domain.startsWith(text) || sandbox.id.startsWith(text);
    },
  },
  'has:attachment': {
    example: 'has:attachment',
    finds: 'mail with a file',
    isMarked: false,
    matches: ({ fileCount }) => fileCount > 0,
  },
  'is:unread': {
    example: 'is:unread',
    finds: 'mail that no client has marked as read',
    isMarked: false,
    matches: ({ mail }) => !mail.isRead,
  },
  'is:sample': {
    example: 'is:sample',
    finds: 'mail of the samples that were delivered',
    isMarked: false,
    matches: ({ isSample }) => isSample,
  },
} as const satisfies Readonly<Record<string, SearchWord>>;

/** Every other word of a search, and each text in quotation marks. */
const PLAIN_WORD: SearchWord = {
  example: 'invoice "order 1042"',
  finds: 'mail with the word, or with words that follow each other, in an address, the subject or a body',
  isMarked: true,
  // There is one for each word of a search, so it makes no list of the texts.
  matches: ({ mail: { from, to, cc, bcc, subject, plainBody, htmlBody } }, text) =>
    isIn(text, subject) ||
    isIn(text, plainBody) ||
    addressContains(from, text) ||
    isInAddress(text, to) ||
    isInAddress(text, cc) ||
    isInAddress(text, bcc) ||
    isIn(text, htmlBody),
};

/** A word in `SEARCH_WORDS`. */
export type SearchWordName = keyof typeof SEARCH_WORDS;

const NAMES = Object.keys(SEARCH_WORDS) as SearchWordName[];

/** Every word of a search, as it is written, and what it finds: for a help, a schema or a page. */
export const SEARCH_HELP: readonly Pick<SearchWord, 'example' | 'finds'>[] = [
  PLAIN_WORD,
  ...NAMES.map((name) => SEARCH_WORDS[name]),
];

/** What a search may contain, in one sentence. */
export const SEARCH_HINT = `Words in any order, and ${NAMES.map((name) => SEARCH_WORDS[name].example).join(' ')}`;

/** One condition of a search. All conditions must match. */
export interface SearchTerm {
  /** The word with a meaning of its own; undefined for any other word, and for a text in quotation marks. */
  readonly name: SearchWordName | undefined;
  /** What to look for, in lower case; empty if `name` takes no text. */
  readonly text: string;
  /** As it is written in the search, such as `from:"Dana Reyes"`. */
  readonly written: string;
  /** Where it begins in the search. */
  readonly index: number;
}

const takesText = (name: string) => name.endsWith(':');

/**
 * Matches a part of a search: a name with its text, a name that takes no text, a text in quotation marks, which may
 * contain what looks like a name, or a word.
 */
const PART = new RegExp(
  `(${NAMES.filter(takesText).join('|')})("[^"]*"?|\\S+)` +
    `|(${NAMES.filter((name) => !takesText(name)).join('|')})(?!\\S)` +
    '|("[^"]*"|\\S+)',
  'gi',
);

/** Splits a search into its conditions, each once, in the order in which they are written. */
export function parseSearch(search: string): SearchTerm[] {
  const terms = new Map<string, SearchTerm>();
  for (const { 0: written, 1: field, 2: fieldText, 3: flag, 4: word = '', index } of search.matchAll(PART)) {
    const name = (field ?? flag)?.toLowerCase() as SearchWordName | undefined;
    const text = (fieldText ?? word).toLowerCase().replaceAll('"', '').trim();
    const key = `${name ?? ''} ${text}`;
    if (terms.has(key) || (text === '' && flag === undefined)) continue;
    terms.set(key, { name, text, written, index });
  }
  return [...terms.values()];
}

/** Returns whether a mail matches every condition of a search. */
export function matchesSearch(found: SearchedMail, terms: readonly SearchTerm[]): boolean {
  return terms.every(({ name, text }) => wordOf(name).matches(found, text));
}

/** Returns the texts of a search that are marked where a mail contains them. */
export function wordsToMark(terms: readonly SearchTerm[]): string[] {
  return terms.flatMap(({ name, text }) => (wordOf(name).isMarked ? text : []));
}

function wordOf(name: SearchWordName | undefined): SearchWord {
  return name === undefined ? PLAIN_WORD : SEARCH_WORDS[name];
}

/** Returns a search without one of its conditions. */
export function removeTerm(search: string, { written, index }: SearchTerm): string {
  return (search.slice(0, index) + search.slice(index + written.length)).replace(/\s+/g, ' ').trim();
}
