import { bytesOf, decodeBody, decodeText, decodeWords } from '../mail/mime/split-parts.ts';
import { type Argument, CommandError, isList, parseSequence, RefusedCommand, textOf, type Word } from './argument.ts';
import { epochDayOf, epochDayOfField, parseEpochDay } from './dates.ts';
import { threadIdOf, timeOf } from './fetch-items.ts';
import { firstFrom, type Item } from './folder.ts';
import { envelopeFields, type MailPart } from './mail-parts.ts';
import type { MailReader, OpenMail } from './mail-reader.ts';
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

/** Returns the criterion that all criteria match. The cheapest tests run first. */
function allOf(criteria: readonly Criterion[]): Criterion {
  const sorted = criteria.toSorted((a, b) => a.cost - b.cost);
  return {
    cost: sorted.at(-1)?.cost ?? 0,
    matches: (item, number) => sorted.every((each) => each.matches(item, number)),
  };
}

/** The search keys that ask for one flag. */
const FLAG_KEYS: Readonly<Record<string, string>> = {
  ...{ ANSWERED: '\\Answered', DELETED: '\\Deleted', DRAFT: '\\Draft', FLAGGED: '\\Flagged', SEEN: '\\Seen' },
};

class SearchParser {
  readonly #context: SearchContext;
  readonly #keys: readonly Argument[];
  readonly #depth: number;
  #at = 0;

  constructor(context: SearchContext, keys: readonly Argument[], depth = 0) {
    this.#context = context;
    this.#keys = keys;
    this.#depth = depth;
  }

  parseAll(): Criterion[] {
    const criteria: Criterion[] = [];
    while (this.#at < this.#keys.length) criteria.push(this.#parseKey(this.#depth));
    if (criteria.length === 0) throw new CommandError('The search has no key.');
    return criteria;
  }

  #next(what: string): string {
    const text = textOf(this.#keys[this.#at], what);
    this.#at += 1;
    return text;
  }

  #parseKey(depth: number): Criterion {
    if (depth > MAX_DEPTH) throw new CommandError(`A search can be nested at most ${MAX_DEPTH} times.`);
    const key = this.#keys[this.#at];
    if (isList(key)) {
      this.#at += 1;
      return allOf(new SearchParser(this.#context, key, depth + 1).parseAll());
    }
    const text = this.#next('A search key');
    if (/^[\d*]/.test(text)) {
      const isIn = contains(parseSequence(text, this.#context.view.items.length));
      return { cost: 0, matches: (_, number) => isIn(number) };
    }
    const name = text.toUpperCase();
    const parse = KEYS[name];
    if (parse)
      return parse({ ...this.#context, next: (what) => this.#next(what), key: () => this.#parseKey(depth + 1) });
    const flag = FLAG_KEYS[name];
    if (flag) return byFlag(this.#context, flag);
    const unset = name.startsWith('UN') ? FLAG_KEYS[name.slice(2)] : undefined;
    if (unset) return not(byFlag(this.#context, unset));
    throw new CommandError(`There is no search key ${text.slice(0, 100)}.`);
  }
}

/** What a key reads: the words after it, or another key. */
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
  UID({ next, view }) {
    const isIn = contains(parseSequence(next('The UIDs'), view.items.at(-1)?.uid ?? 0));
    return { cost: 0, matches: ({ uid }) => isIn(uid) };
  },
  EMAILID({ next }) {
    const wanted = next('The EMAILID');
    return { cost: 0, matches: ({ id }) => id === wanted };
  },
  THREADID({ next, view }) {
    const wanted = next('The THREADID');
    return { cost: 1, matches: (item) => threadIdOf(view.inbox, item) === wanted };
  },
  ...{ BEFORE: byDay((day, wanted) => day < wanted), ON: byDay((day, wanted) => day === wanted) },
  SINCE: byDay((day, wanted) => day >= wanted),
  ...{ SENTBEFORE: bySentDay((day, wanted) => day < wanted), SENTON: bySentDay((day, wanted) => day === wanted) },
  SENTSINCE: bySentDay((day, wanted) => day >= wanted),
  LARGER: bySize((size, wanted) => size > wanted),
  SMALLER: bySize((size, wanted) => size < wanted),
  ...{ FROM: byField('from'), TO: byField('to'), CC: byField('cc'), BCC: byField('bcc'), SUBJECT: byField('subject') },
  HEADER: (input) => byField(input.next('The name of the field'))(input),
  BODY: byText((mail) => bodyOf(mail)),
  TEXT: byText((mail) => `${decodeHeader(mail.text.slice(0, mail.root.bodyAt))}\n${bodyOf(mail)}`),
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

function byDay(compare: (day: number, wanted: number) => boolean) {
  return ({ next, view }: KeyInput): Criterion => {
    const wanted = readDay(next('The date'));
    return { cost: 0, matches: (item) => compare(epochDayOf(timeOf(view.inbox, item)), wanted) };
  };
}

function bySentDay(compare: (day: number, wanted: number) => boolean) {
  return ({ next, reader }: KeyInput): Criterion => {
    const wanted = readDay(next('The date'));
    const matches = (item: Item) => {
      const day = epochDayOfField(envelopeFields(reader.headerOf(item)).date);
      return day !== undefined && compare(day, wanted);
    };
    return { cost: 2, matches };
  };
}

function readDay(text: string): number {
  const day = parseEpochDay(text);
  if (day !== undefined) return day;
  throw new CommandError('A date must be written as 7-Feb-2026.');
}

function bySize(compare: (size: number, wanted: number) => boolean) {
  return ({ next, reader }: KeyInput): Criterion => {
    const text = next('The size');
    if (!/^\d{1,15}$/.test(text)) throw new CommandError('A size must be a number of bytes.');
    return { cost: 1, matches: (item) => compare(Number(reader.sizeOf(item)), Number(text)) };
  };
}

/** Finds a text in the header fields with a name; with an empty text, the field must exist. */
function byField(name: string) {
  return ({ next, reader }: KeyInput): Criterion => {
    const wanted = toSearchable(decodeText(bytesOf(next('The text'))));
    const start = `${name.toLowerCase()}:`;
    const matches = (item: Item) =>
      reader
        .headerOf(item)
        .split(/\r?\n(?![ \t])/)
        .some((line) => {
          if (!line.toLowerCase().startsWith(start)) return false;
          return wanted === '' || toSearchable(decodeHeader(line.slice(start.length))).includes(wanted);
        });
    return { cost: 2, matches };
  };
}

function byText(read: (mail: OpenMail) => string) {
  return ({ next, reader }: KeyInput): Criterion => {
    const wanted = toSearchable(decodeText(bytesOf(next('The text'))));
    return {
      cost: 3,
      matches(item) {
        const mail = reader.read(item);
        return mail !== undefined && toSearchable(read(mail)).includes(wanted);
      },
    };
  };
}

/** Makes letter case and the kind of white space irrelevant. */
function toSearchable(text: string): string {
  return text.toLowerCase().replace(/\s+/g, ' ');
}

/** Decodes a header, in which one character stands for each byte; encoded words, too. */
function decodeHeader(header: string): string {
  const text = decodeText(bytesOf(header));
  return text.includes('=?')
    ? text
        .split(/\r?\n(?![ \t])/)
        .map(decodeWords)
        .join('\n')
    : text;
}

/** Returns the decoded texts of a mail, with those of mails in it. */
function bodyOf({ text, root }: OpenMail): string {
  const texts: string[] = [];
  const pending: MailPart[] = [root];
  for (let part = pending.pop(); part; part = pending.pop()) {
    const { type, fields, bodyAt, to, message, parts } = part;
    if (message) {
      texts.push(decodeHeader(text.slice(message.from, message.bodyAt)));
      pending.push(message);
    } else if (parts.length > 0) pending.push(...parts);
    else if (type === 'text' || type === 'multipart') {
      const body = text.slice(bodyAt, to).replaceAll('\r\n', '\n');
      texts.push(decodeText(decodeBody({ fields, body }), part.parameters.charset));
    }
  }
  return texts.join('\n');
}

/** Returns a function that returns whether a number is in one of the ranges, which are in order. */
export function contains(ranges: readonly (readonly [number, number])[]): (number: number) => boolean {
  return (number) => {
    const [from] = ranges[firstFrom(ranges, number, ([, to]) => to)] ?? [Number.POSITIVE_INFINITY];
    return from <= number;
  };
}
