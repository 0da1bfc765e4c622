import { foldPartOfAddress } from '../../basics/domain-name.ts';
import type { Work } from '../../basics/work.ts';
import { countStart } from '../../world/store/entries.ts';
import { bytesOf, decodeText } from '../mail/mime/decode.ts';
import { textOfString } from '../mail/mime/split-parts.ts';
import {
  type Argument,
  CommandError,
  epochDayOf,
  epochDayOfField,
  isList,
  needText,
  parseEpochDay,
  parseSequence,
  RefusedCommand,
  type Word,
} from './argument.ts';
import { threadIdOf, timeOf } from './fetch-items.ts';
import type { Item } from './folder.ts';
import type { MailReader } from './mail-reader.ts';
import { type EncodedPiece, readFields, readTexts, type TextsReader, toSearchable } from './read-texts.ts';
import { MAX_COMPARED } from './search-limit.ts';
import { envelopeFields } from './structure.ts';
import { TextMatcher } from './text-matcher.ts';
import type { FolderView } from './view.ts';

/** What a search reads from. */
interface SearchContext {
  readonly view: FolderView;
  readonly reader: MailReader;
}

/** A message that a search has found. */
export interface Found {
  readonly item: Item;
  readonly number: number;
}

/** How deep NOT, OR and parentheses may be nested. */
const MAX_DEPTH = 50;

/** What the test of a key costs that reads no text, in bytes. */
const TEST_COST = 50;

/**
 * Returns the items that match all keys of a search, with their sequence numbers. Each mail is decoded once, whatever
 * the number of keys, and only if it must be.
 *
 * @throws {CommandError} for a wrong key; {@link RefusedCommand} for an unknown charset, or too much work.
 */
export function* search(context: SearchContext, keys: readonly Argument[]): Work<Found[]> {
  const mail = new SearchedMail(context);
  const parser = new SearchParser(mail, withoutCharset(keys));
  const test = allOf(parser.parseAll());
  const testCost = TEST_COST * mail.testCount;
  const found: Found[] = [];
  for (const [index, item] of context.view.items.entries()) {
    yield;
    if (item.isGone) continue;
    mail.begin(item, index + 1);
    mail.count(testCost);
    // What a key needs of the mail is read only if the result depends on it.
    let isFound = test();
    if (isFound === undefined) {
      yield* mail.readHeader();
      isFound = test();
    }
    if (isFound === undefined) {
      yield* mail.readTexts();
      isFound = test();
    }
    if (isFound && !item.isGone) found.push({ item, number: index + 1 });
  }
  return found;
}

function withoutCharset(keys: readonly Argument[]): readonly Argument[] {
  const [first, charset, ...rest] = keys;
  if (first === undefined) throw new CommandError('The search has no key.');
  if (isList(first) || (first as Word).text.toUpperCase() !== 'CHARSET') return keys;
  if (/^(?:us-ascii|utf-8)$/i.test(needText(charset, 'The charset'))) return rest;
  throw new RefusedCommand('A search can be in US-ASCII or UTF-8.', 'BADCHARSET (US-ASCII UTF-8)');
}

/** Tests the mail that is searched. The result is `undefined` if it depends on what was not read yet. */
type Test = () => boolean | undefined;

function allOf(tests: readonly Test[]): Test {
  return () => {
    let result: boolean | undefined = true;
    for (const test of tests) {
      const each = test();
      if (each === false) return false;
      if (each === undefined) result = undefined;
    }
    return result;
  };
}

function not(test: Test): Test {
  return () => {
    const result = test();
    return result === undefined ? undefined : !result;
  };
}

/** How much is compared between two pauses. */
const PAUSE_COMPARED = 64 * 1024;

/** The mail that a search looks at, and what the search has read of it. */
class SearchedMail implements TextsReader {
  readonly context: SearchContext;
  /** How many keys read no text. */
  testCount = 0;
  needsSize = false;
  needsSentDay = false;
  item!: Item;
  number = 0;
  size = 0;
  /** The day in its Date field. */
  sentDay: number | undefined;
  /** Whether the size, the Date field and the fields that keys look for were read. */
  knowsHeader = false;
  knowsTexts = false;
  /** What keys look for: in fields and in the addresses of fields, by their names, in the whole mail, and in its body. */
  readonly #inFields = new Map<string, Map<string, TextMatcher>>();
  readonly #inAddresses = new Map<string, Map<string, TextMatcher>>();
  readonly #inMail = new Map<string, TextMatcher>();
  readonly #inBody = new Map<string, TextMatcher>();
  #flags: ReadonlySet<string> | undefined;
  #isNewText = true;
  #compared = 0;
  #comparedAtPause = 0;

  constructor(context: SearchContext) {
    this.context = context;
  }

  begin(item: Item, number: number): void {
    this.item = item;
    this.number = number;
    this.knowsHeader = false;
    this.knowsTexts = false;
    this.#flags = undefined;
  }

  hasFlag(flag: string): boolean {
    const { inbox } = this.context.view;
    this.#flags ??= new Set(Array.from(inbox.flagsOf(this.item), (each) => each.toLowerCase()));
    return this.#flags.has(flag);
  }

  /**
   * Returns the test whether a text is in one of the fields with a name, or in their addresses. An empty text is in each
   * field.
   */
  findInFields(name: string, word: string, isOfAddresses = false): Test {
    const key = name.toLowerCase();
    const fields = isOfAddresses ? this.#inAddresses : this.#inFields;
    const matchers = fields.get(key) ?? new Map<string, TextMatcher>();
    fields.set(key, matchers);
    const matcher = matcherOf(matchers, word);
    // The addresses are read with both forms of their domains, but the mail may have only the ASCII form.
    const asciiMatcher = isOfAddresses ? matcherOf(matchers, word, foldPartOfAddress) : matcher;
    return () => (this.knowsHeader ? matcher.isFound || asciiMatcher.isFound : undefined);
  }

  /** Returns the test whether a text is in the body or, if `where` is `mail`, also in the header. */
  findInTexts(where: 'mail' | 'body', word: string): Test {
    const matcher = matcherOf(where === 'mail' ? this.#inMail : this.#inBody, word);
    return () => (this.knowsTexts ? matcher.isFound : undefined);
  }

  *readHeader(): Work<void> {
    const { reader } = this.context;
    const source = reader.find(this.item);
    if (source && this.needsSize) this.size = yield* reader.sizeOf(source);
    if (source && (this.needsSentDay || this.#inFields.size + this.#inAddresses.size > 0)) {
      const header = yield* reader.headerOf(source);
      this.sentDay = this.needsSentDay ? epochDayOfField(envelopeFields(header).date) : undefined;
      for (const matchers of [...this.#inFields.values(), ...this.#inAddresses.values()]) {
        for (const matcher of matchers.values()) matcher.reset();
      }
      const { length } = header;
      yield* readFields(textOfString(header), 0, length, (name, pieces) => this.#readField(name, pieces));
    }
    this.knowsHeader = true;
  }

  *#readField(name: string, pieces: readonly EncodedPiece[]): Work<void> {
    const matchers = this.#inFields.get(name);
    const addressMatchers = this.#inAddresses.get(name);
    if (matchers) yield* this.#readPieces(matchers, pieces, ({ decode }) => decode());
    if (addressMatchers) yield* this.#readPieces(addressMatchers, pieces, ({ decodeAddresses }) => decodeAddresses());
  }

  *#readPieces(
    matchers: ReadonlyMap<string, TextMatcher>,
    pieces: readonly EncodedPiece[],
    decode: (piece: EncodedPiece) => string,
  ): Work<void> {
    this.endText();
    yield* this.#match(matchers, '');
    for (const piece of pieces) {
      yield* this.#match(matchers, decode(piece));
      if (pieces.length > 1) yield;
    }
  }

  *readTexts(): Work<void> {
    const { reader } = this.context;
    const source = reader.find(this.item);
    for (const matchers of [this.#inMail, this.#inBody]) for (const matcher of matchers.values()) matcher.reset();
    this.endText();
    yield* this.read('', true);
    if (source) yield* readTexts(reader, source, this);
    this.knowsTexts = true;
  }

  *read(piece: string, isInBody: boolean): Work<void> {
    const isNewText = this.#isNewText;
    yield* this.#match(this.#inMail, piece);
    this.#isNewText = isNewText;
    if (isInBody) yield* this.#match(this.#inBody, piece);
    this.#isNewText = false;
  }

  endText(): void {
    this.#isNewText = true;
  }

  isDone(): boolean {
    for (const matchers of [this.#inMail, this.#inBody]) {
      for (const matcher of matchers.values()) if (!matcher.isFound) return false;
    }
    return true;
  }

  /** Adds work to that of the search. @throws {RefusedCommand} if it is too much. */
  count(compared: number): void {
    this.#compared += compared;
    if (this.#compared <= MAX_COMPARED) return;
    const rule = 'the texts that it reads, multiplied by the number of keys that look for something in them';
    throw new RefusedCommand(`One SEARCH may compare at most 256 MiB: ${rule}.`, 'LIMIT');
  }

  *#match(matchers: ReadonlyMap<string, TextMatcher>, piece: string): Work<void> {
    for (const matcher of matchers.values()) {
      if (matcher.isFound) continue;
      matcher.read(piece, this.#isNewText);
      this.count(piece.length + TEST_COST);
      if (this.#compared - this.#comparedAtPause < PAUSE_COMPARED) continue;
      yield;
      this.#comparedAtPause = this.#compared;
    }
    this.#isNewText = false;
  }
}

/** Returns what looks for a word, or for what `change` makes of it. Keys with the same word share it. */
function matcherOf(
  matchers: Map<string, TextMatcher>,
  word: string,
  change: (text: string) => string = (text) => text,
): TextMatcher {
  const wanted = toSearchable(change(decodeText(bytesOf(word))));
  const matcher = matchers.get(wanted) ?? new TextMatcher(wanted);
  matchers.set(wanted, matcher);
  return matcher;
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
    readonly mail: SearchedMail,
    readonly keys: readonly Argument[],
    readonly depth = 0,
  ) {}

  parseAll(): Test[] {
    const tests: Test[] = [];
    while (this.#at < this.keys.length) tests.push(this.#parseKey(this.depth));
    if (tests.length === 0) throw new CommandError('The search has no key.');
    return tests;
  }

  #next(what: string): string {
    const text = needText(this.keys[this.#at], what);
    this.#at += 1;
    return text;
  }

  #parseKey(depth: number): Test {
    if (depth > MAX_DEPTH) throw new CommandError(`A search can be nested at most ${MAX_DEPTH} times.`);
    const key = this.keys[this.#at];
    const { mail } = this;
    if (isList(key)) {
      this.#at += 1;
      return allOf(new SearchParser(mail, key, depth + 1).parseAll());
    }
    mail.testCount += 1;
    const text = this.#next('A search key');
    if (/^[\d*]/.test(text)) {
      const isIn = contains(parseSequence(text, mail.context.view.items.length));
      return () => isIn(mail.number);
    }
    const name = text.toUpperCase();
    const parse = KEYS[name];
    if (parse) return parse({ mail, next: (what) => this.#next(what), key: () => this.#parseKey(depth + 1) });
    const flag = FLAG_KEYS[name];
    if (flag) return byFlag(mail, flag);
    const unset = name.startsWith('UN') ? FLAG_KEYS[name.slice(2)] : undefined;
    if (unset) return not(byFlag(mail, unset));
    throw new CommandError(`There is no search key ${text.slice(0, 100)}.`);
  }
}

/** What a search key is parsed from: the words or the keys after it. */
interface KeyInput {
  readonly mail: SearchedMail;
  next(what: string): string;
  key(): Test;
}

const KEYS: Readonly<Record<string, (input: KeyInput) => Test>> = {
  ALL: () => () => true,
  NOT: ({ key }) => not(key()),
  OR({ key }) {
    const [one, other] = [not(key()), not(key())];
    return not(allOf([one, other]));
  },
  KEYWORD: ({ mail, next }) => byFlag(mail, next('The keyword')),
  UNKEYWORD: ({ mail, next }) => not(byFlag(mail, next('The keyword'))),
  RECENT: ({ mail }) => byRecent(mail),
  OLD: ({ mail }) => not(byRecent(mail)),
  NEW: ({ mail }) => allOf([byRecent(mail), not(byFlag(mail, '\\Seen'))]),
  UID({ mail, next }) {
    const isIn = contains(parseSequence(next('The UIDs'), mail.context.view.items.at(-1)?.uid ?? 0));
    return () => isIn(mail.item.uid);
  },
  EMAILID({ mail, next }) {
    const wanted = next('The EMAILID');
    return () => mail.item.id === wanted;
  },
  THREADID({ mail, next }) {
    const wanted = next('The THREADID');
    return () => threadIdOf(mail.context.view.inbox, mail.item) === wanted;
  },
  BEFORE: byDay((day, wanted) => day < wanted),
  ON: byDay((day, wanted) => day === wanted),
  SINCE: byDay((day, wanted) => day >= wanted),
  SENTBEFORE: bySentDay((day, wanted) => day < wanted),
  SENTON: bySentDay((day, wanted) => day === wanted),
  SENTSINCE: bySentDay((day, wanted) => day >= wanted),
  LARGER: bySize((size, wanted) => size > wanted),
  SMALLER: bySize((size, wanted) => size < wanted),
  FROM: byField('from', true),
  TO: byField('to', true),
  CC: byField('cc', true),
  BCC: byField('bcc', true),
  SUBJECT: byField('subject'),
  HEADER: ({ mail, next }) => mail.findInFields(next('The name of the field'), next('The text')),
  BODY: ({ mail, next }) => mail.findInTexts('body', next('The text')),
  TEXT: ({ mail, next }) => mail.findInTexts('mail', next('The text')),
};

function byFlag(mail: SearchedMail, flag: string): Test {
  const wanted = flag.toLowerCase();
  return () => mail.hasFlag(wanted);
}

function byRecent(mail: SearchedMail): Test {
  return () => mail.context.view.recent.has(mail.item);
}

type Compare = (value: number, wanted: number) => boolean;

function byDay(compare: Compare) {
  return ({ mail, next }: KeyInput): Test => {
    const wanted = readDay(next('The date'));
    return () => compare(epochDayOf(timeOf(mail.context.view.inbox, mail.item)), wanted);
  };
}

function bySentDay(compare: Compare) {
  return ({ mail, next }: KeyInput): Test => {
    const wanted = readDay(next('The date'));
    mail.needsSentDay = true;
    return () => {
      if (!mail.knowsHeader) return undefined;
      return mail.sentDay !== undefined && compare(mail.sentDay, wanted);
    };
  };
}

function readDay(text: string): number {
  const day = parseEpochDay(text);
  if (day !== undefined) return day;
  throw new CommandError('A date must be written as 7-Feb-2026.');
}

function bySize(compare: Compare) {
  return ({ mail, next }: KeyInput): Test => {
    const word = next('The size');
    if (!/^\d{1,15}$/.test(word)) throw new CommandError('A size must be a number of bytes.');
    mail.needsSize = true;
    return () => (mail.knowsHeader ? compare(mail.size, Number(word)) : undefined);
  };
}

function byField(name: string, isOfAddresses = false) {
  return ({ mail, next }: KeyInput): Test => mail.findInFields(name, next('The text'), isOfAddresses);
}

/** Returns a function that checks whether a number is in one of the ranges. The ranges must be in ascending order. */
export function contains(ranges: readonly (readonly [number, number])[]): (number: number) => boolean {
  return (number) => {
    const [from] = ranges[countStart(ranges, ([, to]) => to < number)] ?? [Number.POSITIVE_INFINITY];
    return from <= number;
  };
}
