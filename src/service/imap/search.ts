import { formatAddress, toAddressText } from '../../contract/email-address.ts';
import { type ListedAddress, readAddressList } from '../../contract/email-address-list.ts';
import { countStart } from '../../world/store/entries.ts';
import { bytesOf, decodeBody, decodeText, decodeWords, escapeWordBytes } from '../mail/mime/decode.ts';
import type { MailPart } from '../mail/mime/split-parts.ts';
import {
  type Argument,
  CommandError,
  epochDayOf,
  epochDayOfField,
  isList,
  parseEpochDay,
  parseSequence,
  RefusedCommand,
  textOf,
  type Word,
} from './argument.ts';
import { threadIdOf, timeOf } from './fetch-items.ts';
import type { Item } from './folder.ts';
import type { MailReader, OpenMail } from './mail-reader.ts';
import { envelopeFields } from './structure.ts';
import type { FolderView } from './view.ts';

/** A test of a mail, and the cost of this test. */
interface Criterion {
  readonly cost: 0 | 1 | 2 | 3;
  matches(item: Item, number: number): boolean;
}

/** What a search reads from. */
interface SearchContext {
  readonly view: FolderView;
  readonly reader: MailReader;
}

/** How deep NOT, OR and parentheses may be nested. */
const MAX_DEPTH = 50;

/**
 * Returns the items that match all keys of a search, with their sequence numbers.
 *
 * @throws {CommandError} for a wrong key; {@link RefusedCommand} for an unknown charset.
 */
export function search(context: SearchContext, keys: readonly Argument[]): { item: Item; number: number }[] {
  const parser = new SearchParser(context, withoutCharset(keys));
  const criterion = allOf(parser.parseAll());
  return context.view.items.flatMap((item, index) =>
    !item.isGone && criterion.matches(item, index + 1) ? [{ item, number: index + 1 }] : [],
  );
}

function withoutCharset(keys: readonly Argument[]): readonly Argument[] {
  const [first, charset, ...rest] = keys;
  if (first === undefined) throw new CommandError('The search has no key.');
  if (isList(first) || (first as Word).text.toUpperCase() !== 'CHARSET') return keys;
  if (/^(?:us-ascii|utf-8)$/i.test(textOf(charset, 'The charset'))) return rest;
  throw new RefusedCommand('A search can be in US-ASCII or UTF-8.', 'BADCHARSET (US-ASCII UTF-8)');
}

/** Returns a criterion that matches if all of the given criteria match. The cheapest tests run first. */
function allOf(criteria: readonly Criterion[]): Criterion {
  const sorted = criteria.toSorted((a, b) => a.cost - b.cost);
  return {
    cost: sorted.at(-1)?.cost ?? 0,
    matches: (item, number) => sorted.every((each) => each.matches(item, number)),
  };
}

/** The search keys that ask for one flag. */
const FLAG_KEYS: Readonly<Record<string, string>> = {
  ANSWERED: '\\Answered',
  DELETED: '\\Deleted',
  DRAFT: '\\Draft',
  FLAGGED: '\\Flagged',
  SEEN: '\\Seen',
};

class SearchParser {
  #at = 0;

  constructor(
    readonly context: SearchContext,
    readonly keys: readonly Argument[],
    readonly depth = 0,
  ) {}

  parseAll(): Criterion[] {
    const criteria: Criterion[] = [];
    while (this.#at < this.keys.length) criteria.push(this.#parseKey(this.depth));
    if (criteria.length === 0) throw new CommandError('The search has no key.');
    return criteria;
  }

  #next(what: string): string {
    const text = textOf(this.keys[this.#at], what);
    this.#at += 1;
    return text;
  }

  #parseKey(depth: number): Criterion {
    if (depth > MAX_DEPTH) throw new CommandError(`A search can be nested at most ${MAX_DEPTH} times.`);
    const key = this.keys[this.#at];
    if (isList(key)) {
      this.#at += 1;
      return allOf(new SearchParser(this.context, key, depth + 1).parseAll());
    }
    const text = this.#next('A search key');
    if (/^[\d*]/.test(text)) {
      const isIn = contains(parseSequence(text, this.context.view.items.length));
      return { cost: 0, matches: (_, number) => isIn(number) };
    }
    const name = text.toUpperCase();
    const parse = KEYS[name];
    if (parse)
      return parse({ ...this.context, next: (what) => this.#next(what), key: () => this.#parseKey(depth + 1) });
    const flag = FLAG_KEYS[name];
    if (flag) return byFlag(this.context, flag);
    const unset = name.startsWith('UN') ? FLAG_KEYS[name.slice(2)] : undefined;
    if (unset) return not(byFlag(this.context, unset));
    throw new CommandError(`There is no search key ${text.slice(0, 100)}.`);
  }
}

/** What a search key is parsed from: the words or the keys after it. */
interface KeyInput extends SearchContext {
  next(what: string): string;
  key(): Criterion;
}

const KEYS: Readonly<Record<string, (input: KeyInput) => Criterion>> = {
  ALL: () => ({ cost: 0, matches: () => true }),
  NOT: ({ key }) => not(key()),
  OR({ key }) {
    const [one, other] = [key(), key()];
    const cost = Math.max(one.cost, other.cost) as Criterion['cost'];
    return { cost, matches: (item, number) => one.matches(item, number) || other.matches(item, number) };
  },
  KEYWORD: (input) => byFlag(input, input.next('The keyword')),
  UNKEYWORD: (input) => not(byFlag(input, input.next('The keyword'))),
  RECENT: byRecent,
  OLD: (input) => not(byRecent(input)),
  NEW: (input) => allOf([byRecent(input), not(byFlag(input, '\\Seen'))]),
  UID: by(0, 'The UIDs', (text, { view }) => {
    const isIn = contains(parseSequence(text, view.items.at(-1)?.uid ?? 0));
    return ({ uid }) => isIn(uid);
  }),
  EMAILID: by(
    0,
    'The EMAILID',
    (wanted) =>
      ({ id }) =>
        id === wanted,
  ),
  THREADID: by(
    1,
    'The THREADID',
    (wanted, { view }) =>
      (item) =>
        threadIdOf(view.inbox, item) === wanted,
  ),
  BEFORE: byDay((day, wanted) => day < wanted),
  ON: byDay((day, wanted) => day === wanted),
  SINCE: byDay((day, wanted) => day >= wanted),
  SENTBEFORE: bySentDay((day, wanted) => day < wanted),
  SENTON: bySentDay((day, wanted) => day === wanted),
  SENTSINCE: bySentDay((day, wanted) => day >= wanted),
  LARGER: bySize((size, wanted) => size > wanted),
  SMALLER: bySize((size, wanted) => size < wanted),
  FROM: byField('from', decodeAddresses),
  TO: byField('to', decodeAddresses),
  CC: byField('cc', decodeAddresses),
  BCC: byField('bcc', decodeAddresses),
  SUBJECT: byField('subject'),
  HEADER: (input) => byField(input.next('The name of the field'))(input),
  BODY: byText((mail) => bodyOf(mail)),
  TEXT: byText((mail) => `${decodeHeader(mail.text.slice(0, mail.root.bodyStart))}\n${bodyOf(mail)}`),
};

function not({ cost, matches }: Criterion): Criterion {
  return { cost, matches: (item, number) => !matches(item, number) };
}

function byFlag({ view }: SearchContext, flag: string): Criterion {
  const wanted = flag.toLowerCase();
  const isFlag = (each: string) => each.toLowerCase() === wanted;
  return { cost: 0, matches: (item) => [...view.inbox.flagsOf(item)].some(isFlag) };
}

function byRecent({ view }: SearchContext): Criterion {
  return { cost: 0, matches: (item) => view.recent.has(item) };
}

/** Returns the parser of a key with one word. Errors call the word `what`. `create` creates the test for the word. */
function by(
  cost: Criterion['cost'],
  what: string,
  create: (word: string, context: SearchContext) => (item: Item) => boolean,
) {
  return (input: KeyInput): Criterion => ({ cost, matches: create(input.next(what), input) });
}

type Compare = (value: number, wanted: number) => boolean;

function byDay(compare: Compare) {
  return by(0, 'The date', (word, { view }) => {
    const wanted = readDay(word);
    return (item) => compare(epochDayOf(timeOf(view.inbox, item)), wanted);
  });
}

function bySentDay(compare: Compare) {
  return by(2, 'The date', (word, { reader }) => {
    const wanted = readDay(word);
    return (item) => {
      const day = epochDayOfField(envelopeFields(reader.headerOf(item)).date);
      return day !== undefined && compare(day, wanted);
    };
  });
}

function readDay(text: string): number {
  const day = parseEpochDay(text);
  if (day !== undefined) return day;
  throw new CommandError('A date must be written as 7-Feb-2026.');
}

function bySize(compare: Compare) {
  return by(1, 'The size', (word, { reader }) => {
    if (!/^\d{1,15}$/.test(word)) throw new CommandError('A size must be a number of bytes.');
    return (item) => compare(Number(reader.sizeOf(item)), Number(word));
  });
}

/**
 * Returns the parser of a key that searches the fields with a name, as `read` decodes them. An empty text matches if
 * there is such a field.
 */
function byField(name: string, read = decodeHeader) {
  const start = `${name.toLowerCase()}:`;
  return by(2, 'The text', (word, { reader }) => {
    const wanted = toSearchable(decodeText(bytesOf(word)));
    const matches = (line: string) =>
      line.toLowerCase().startsWith(start) &&
      (wanted === '' || toSearchable(read(line.slice(start.length))).includes(wanted));
    return (item) => linesOf(reader.headerOf(item)).some(matches);
  });
}

function byText(read: (mail: OpenMail) => string) {
  return by(3, 'The text', (word, { reader }) => {
    const wanted = toSearchable(decodeText(bytesOf(word)));
    return (item) => {
      const mail = reader.read(item);
      return mail !== undefined && toSearchable(read(mail)).includes(wanted);
    };
  });
}

/** Splits a header into its fields. */
function linesOf(header: string): string[] {
  return header.split(/\r?\n(?![ \t])/);
}

/** Returns a text in a form in which letter case and the kind of white space do not matter. */
function toSearchable(text: string): string {
  return text.toLowerCase().replace(/\s+/g, ' ');
}

/** Decodes a header in which one character stands for each byte. Encoded words are decoded, too. */
function decodeHeader(header: string): string {
  const text = decodeText(bytesOf(escapeWordBytes(header)));
  return text.includes('=?') ? linesOf(text).map(decodeWords).join('\n') : text;
}

/** Decodes a field of addresses, and writes each address in the form in which people search for it. */
function decodeAddresses(field: string): string {
  const { entries } = readAddressList(decodeText(bytesOf(escapeWordBytes(field))));
  const write = (entry: ListedAddress) =>
    formatAddress({ name: decodeWords(entry.name), address: toAddressText(entry) });
  return entries
    .map((entry) =>
      'members' in entry ? `${decodeWords(entry.name)}: ${entry.members.map(write).join(', ')};` : write(entry),
    )
    .join(', ');
}

/** Returns the decoded texts of a mail, including the texts of the mails within it. */
function bodyOf({ text, root }: OpenMail): string {
  const texts: string[] = [];
  const pending: MailPart[] = [root];
  for (let part = pending.pop(); part; part = pending.pop()) {
    const { type, fields, bodyStart, bodyEnd, message, parts } = part;
    if (message) {
      texts.push(decodeHeader(text.slice(message.headerStart, message.bodyStart)));
      pending.push(message);
    } else if (parts.length > 0) pending.push(...parts);
    else if (type === 'text' || type === 'multipart') {
      const body = text.slice(bodyStart, bodyEnd).replaceAll('\r\n', '\n');
      texts.push(decodeText(decodeBody({ fields, body }), part.parameters.charset));
    }
  }
  return texts.join('\n');
}

/** Returns a function that checks whether a number is in one of the ranges. The ranges must be in ascending order. */
export function contains(ranges: readonly (readonly [number, number])[]): (number: number) => boolean {
  return (number) => {
    const [from] = ranges[countStart(ranges, ([, to]) => to < number)] ?? [Number.POSITIVE_INFINITY];
    return from <= number;
  };
}
