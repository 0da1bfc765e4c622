import type { Work } from '../../basics/work.ts';
import { eachField, type MailPart, textOfBytes } from '../mail/mime/split-parts.ts';
import type { Argument, Word } from './argument.ts';
import { CommandError, formatInternalDate, isList, itemsOf, needText, writeString } from './argument.ts';
import { type FetchedMail, type FieldPlace, findPart } from './fetched-mail.ts';
import type { Item } from './folder.ts';
import type { ImapInbox } from './imap-inbox.ts';
import { noteSection } from './shown-section.ts';

/** Texts and bytes that are sent one after the other. In a text, one character stands for each byte. */
export type Output = (string | Uint8Array)[];

/** Writes output piece by piece. It pauses where it yields nothing. */
export type Writing = Generator<Output | undefined, void, undefined>;

/** One item that a FETCH asks for, such as `FLAGS` or `BODY[TEXT]`. */
export interface FetchItem {
  /** The name of the item in the reply, with the length of its range. Items with the same key have the same value. */
  readonly key: string;
  /** Whether it reads a section of the mail. The journal names the mail then, also if the section is empty. */
  readonly readsContent: boolean;
  /** Whether it marks the mail as read. */
  readonly marksRead: boolean;
  write(mail: FetchedMail): Writing;
}

const MACROS: Readonly<Record<string, readonly string[]>> = {
  ALL: ['FLAGS', 'INTERNALDATE', 'RFC822.SIZE', 'ENVELOPE'],
  FAST: ['FLAGS', 'INTERNALDATE', 'RFC822.SIZE'],
  FULL: ['FLAGS', 'INTERNALDATE', 'RFC822.SIZE', 'ENVELOPE', 'BODY'],
};

/** The items that do not read the content of a mail, by their names. */
const SIMPLE_ITEMS: Readonly<Record<string, (mail: FetchedMail) => string | Work<string>>> = {
  UID: ({ source }) => String(source.item.uid),
  FLAGS: ({ flags }) => flags,
  INTERNALDATE: ({ source }) => writeString(formatInternalDate(source.message.receivedAt)),
  *'RFC822.SIZE'({ source, reader }) {
    return String(yield* reader.sizeOf(source));
  },
  ENVELOPE: ({ source, reader }) => reader.envelopeOf(source),
  EMAILID: ({ source }) => `(${source.message.id})`,
  THREADID: ({ source }) => (source.message.threadId === '' ? 'NIL' : `(${source.message.threadId})`),
};

/** The section that each item with an older name reads. */
const OLDER_ITEMS: Readonly<Record<string, string>> = { RFC822: '', 'RFC822.HEADER': 'HEADER', 'RFC822.TEXT': 'TEXT' };

/** How much of a long text or of the content of a mail is sent at once. */
const PIECE_LENGTH = 64 * 1024;

/** Returns when a message arrived, or when a draft was changed. */
export function timeOf(inbox: ImapInbox, item: Item): string {
  return inbox.messageOf(item)?.receivedAt ?? inbox.draftOf(item)?.updatedAt ?? '1970-01-01T00:00:00.000Z';
}

/** Returns the id of the thread of a message, or of the message that a draft replies to. */
export function threadIdOf(inbox: ImapInbox, item: Item): string | undefined {
  const repliesTo = inbox.draftOf(item)?.replyToMessageId ?? '';
  return (inbox.messageOf(item) ?? inbox.world.messages.get(repliesTo))?.threadId;
}

/** What a FETCH asks for. */
export interface FetchPlan {
  /** The items, each once. */
  readonly items: readonly FetchItem[];
  /** The names of the header fields that the items select, in lower case. */
  readonly fieldNames: ReadonlySet<string>;
}

/** Parses what a FETCH asks for. The UID is among the items if `isUid` is true. @throws {CommandError} */
export function parseFetch(argument: Argument | undefined, isUid: boolean): FetchPlan {
  const [only, ...rest] = itemsOf(argument, 'What to fetch');
  const macro =
    rest.length === 0 && !isList(argument) ? MACROS[needText(only, 'What to fetch').toUpperCase()] : undefined;
  const fieldNames = new Set<string>();
  const parse = (each: Argument) => parseItem(each, fieldNames);
  const parsed = macro?.map(createSimpleItem) ?? [...(only === undefined ? [] : [only]), ...rest].map(parse);
  const items = new Map<string, FetchItem>();
  for (const item of isUid ? [createSimpleItem('UID'), ...parsed] : parsed) {
    const same = items.get(item.key);
    items.set(item.key, same?.marksRead ? same : item);
  }
  return { items: [...items.values()], fieldNames };
}

export function createSimpleItem(name: string): FetchItem {
  const read = SIMPLE_ITEMS[name];
  if (name === 'BODY' || name === 'BODYSTRUCTURE') return createStructureItem(name);
  if (!read) throw new CommandError(`There is no FETCH item ${name.slice(0, 100)}.`);
  return {
    key: name,
    readsContent: false,
    marksRead: false,
    *write(mail) {
      const value = read(mail);
      yield [`${name} `, typeof value === 'string' ? value : yield* value];
      if (name === 'ENVELOPE') mail.shown.parts.add('headers');
    },
  };
}

/** Matches a parameter with the name of a file in a structure. */
const NAME_PARAMETER = /"name\*?" /i;

function createStructureItem(name: 'BODY' | 'BODYSTRUCTURE'): FetchItem {
  return {
    key: name,
    readsContent: false,
    marksRead: false,
    *write({ source, reader, inbox, shown }) {
      yield [`${name} `];
      for (let start = 0, end = 1; start < end; start += PIECE_LENGTH) {
        // It is not kept here while the client reads the pieces before, because it can be long.
        const structure = yield* reader.structureOf(source, name === 'BODYSTRUCTURE');
        end = structure.length;
        yield [structure.slice(start, start + PIECE_LENGTH)];
      }
      if (inbox.world.attachments.by('messageId', source.item.id).length === 0) return;
      // Without the extension data, the name of a file is there only as a parameter of its media type.
      const hasNames = name === 'BODYSTRUCTURE' || NAME_PARAMETER.test(yield* reader.structureOf(source, false));
      if (hasNames) shown.parts.add('fileNames');
    },
  };
}

function parseItem(argument: Argument, fieldNames: Set<string>): FetchItem {
  const name = needText(argument, 'The FETCH item').toUpperCase();
  const { section, partial } = argument as Word;
  const older = OLDER_ITEMS[name];
  if (older !== undefined) {
    const isHeader = name === 'RFC822.HEADER';
    return createSectionItem({ label: name, section: [{ text: older, isAtom: true }], isPeek: isHeader }, fieldNames);
  }
  if (section === undefined) return createSimpleItem(name);
  if (name !== 'BODY' && name !== 'BODY.PEEK')
    throw new CommandError(`There is no FETCH item ${name.slice(0, 100)}[].`);
  const shown = section.map((each) =>
    isList(each) ? `(${each.map((field) => writeName(needText(field, 'A name'))).join(' ')})` : needText(each, ''),
  );
  const range = partial?.split('.').map(Number);
  const label = `BODY[${shown.join(' ').toUpperCase()}]${range ? `<${range[0]}>` : ''}`;
  return createSectionItem({ label, section, isPeek: name === 'BODY.PEEK', range }, fieldNames);
}

/** Writes the name of a header field as an atom or, if it has other characters, as a string. */
function writeName(name: string): string {
  return /^[!#$&'+-Z^-z|}~]+$/.test(name) ? name : writeString(name);
}

/** An item that reads a section of a mail. */
interface SectionItem {
  /** How the reply names it. */
  readonly label: string;
  readonly section: readonly Argument[];
  readonly isPeek: boolean;
  /** The first byte and the number of bytes, if only a range is wanted. */
  readonly range?: readonly number[] | undefined;
}

function createSectionItem({ label, section, isPeek, range }: SectionItem, fieldNames: Set<string>): FetchItem {
  const { find, note } = parseSection(section, fieldNames);
  return {
    key: `${label}${range?.[1] ?? ''}`,
    readsContent: true,
    marksRead: !isPeek,
    *write(mail) {
      const found = yield* find(mail);
      if (!found) {
        yield [`${label} NIL`];
        return;
      }
      const { start = 0, end = 0 } = found instanceof Uint8Array ? { end: found.length } : found;
      const from = Math.min(start + (range?.[0] ?? 0), end);
      const to = Math.min(from + (range?.[1] ?? end), end);
      yield [`${label} {${to - from}}\r\n`];
      for (let at = from; at < to; at += PIECE_LENGTH) {
        const bytes = found instanceof Uint8Array ? found : yield* mail.reader.bytesOf(mail.source);
        yield [bytes.subarray(at, Math.min(at + PIECE_LENGTH, to))];
      }
      if (from === start && to === end) yield* note(mail);
      else if (from < to) mail.shown.parts.add('snippet');
    },
  };
}

/** Where the section of a mail is, or the bytes of a section that is written anew. */
type Section = { readonly start: number; readonly end: number } | Uint8Array;

const SECTION = /^((?:[1-9]\d{0,4}(?:\.(?=.)|$))*)(HEADER(?:\.FIELDS(?:\.NOT)?)?|TEXT|MIME)?$/i;

/** A section such as `1.2.HEADER.FIELDS (Subject)`. */
interface ParsedSection {
  /** Finds it in a mail; `undefined` if the mail has no such part. */
  readonly find: (mail: FetchedMail) => Work<Section | undefined>;
  /** Notes what it shows of a mail, if all of it is sent. */
  readonly note: (mail: FetchedMail) => Work<void>;
}

/** Parses a section. Adds the names of the fields to `fieldNames`. */
function parseSection([specifier, list]: readonly Argument[], fieldNames: Set<string>): ParsedSection {
  const text = specifier === undefined ? '' : needText(specifier, 'The section');
  const [match, path = '', name = ''] = SECTION.exec(text) ?? [];
  const numbers = path.split('.').filter(Boolean).map(Number);
  const what = name.toUpperCase();
  const hasFields = what.startsWith('HEADER.FIELDS');
  const isWrong = match === undefined || hasFields !== isList(list) || (what === 'MIME' && numbers.length === 0);
  if (isWrong) throw new CommandError(`There is no section [${text.slice(0, 100)}].`);
  const names = new Set(
    hasFields ? itemsOf(list, 'The fields').map((each) => needText(each, 'A name').toLowerCase()) : [],
  );
  for (const each of names) fieldNames.add(each);
  function* find(mail: FetchedMail): Work<Section | undefined> {
    const { reader, source } = mail;
    if (text === '') return { start: 0, end: yield* reader.sizeOf(source) };
    const root = yield* reader.rootOf(source);
    const part = findPart(root, numbers);
    if (what === '') return part && { start: part.bodyStart, end: part.bodyEnd };
    if (what === 'MIME') return part && { start: part.headerStart, end: part.bodyStart };
    const message = numbers.length === 0 ? root : part?.message;
    if (!message) return undefined;
    if (what === 'TEXT') return { start: message.bodyStart, end: message.bodyEnd };
    if (what === 'HEADER') return { start: message.headerStart, end: message.bodyStart };
    return yield* selectFields(mail, message, names, what === 'HEADER.FIELDS.NOT');
  }
  return { find, note: (mail) => noteSection(mail, { numbers, what, names }) };
}

/** How much of a header is searched for fields. The header of a mail is not longer, but those of mails within it may be. */
const MAX_HEADER_LENGTH = 512 * 1024;

/** Returns header fields as they are written, and the empty line after them: those with the names, or all others. */
function* selectFields(
  mail: FetchedMail,
  { headerStart, bodyStart }: MailPart,
  names: ReadonlySet<string>,
  isNegated: boolean,
): Work<Uint8Array> {
  const bytes = yield* mail.reader.bytesOf(mail.source);
  const headerEnd = Math.min(bodyStart, headerStart + MAX_HEADER_LENGTH);
  const places = yield* findFields(mail, bytes, headerStart, headerEnd);
  const pieces: Uint8Array[] = [];
  let at = headerStart;
  for (const { name, start, end } of places) {
    const isNamed = names.has(name);
    // A line that is no field is left out also if all fields but some are wanted.
    const isLeftOut = isNegated && (isNamed || name === '');
    if (isLeftOut && at < start) pieces.push(bytes.subarray(at, start));
    if (isNamed && !isNegated) pieces.push(bytes.subarray(start, end));
    if (isLeftOut) at = end;
  }
  if (isNegated && at < headerEnd) pieces.push(bytes.subarray(at, headerEnd));
  pieces.push(EMPTY_LINE);
  return joinBytes(pieces);
}

const EMPTY_LINE = new TextEncoder().encode('\r\n');

function joinBytes(pieces: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(pieces.reduce((size, { length }) => size + length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

/** Finds the fields that the FETCH names, and the lines that are no fields. A header is read once for all items. */
function* findFields(mail: FetchedMail, bytes: Uint8Array, from: number, to: number): Work<FieldPlace[]> {
  const known = mail.fields.get(from);
  if (known) return known;
  const places: FieldPlace[] = [];
  yield* eachField(textOfBytes(bytes), from, to, (name, start, end) => {
    if (name === '' || mail.fieldNames.has(name)) places.push({ name, start, end });
    return undefined;
  });
  mail.fields.set(from, places);
  return places;
}
