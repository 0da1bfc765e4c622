import { bytesOf, splitHeader } from '../mail/mime/decode.ts';
import type { MailPart } from '../mail/mime/split-parts.ts';
import type { Argument, Word } from './argument.ts';
import { CommandError, formatInternalDate, isList, itemsOf, textOf, writeString } from './argument.ts';
import type { Item } from './folder.ts';
import type { ImapInbox } from './imap-inbox.ts';
import type { MailReader, OpenMail } from './mail-reader.ts';

/** Texts and bytes that are sent one after the other. In a text, one character stands for each byte. */
export type Output = (string | Uint8Array)[];

/** One item that a FETCH asks for, such as `FLAGS` or `BODY[TEXT]`. */
export interface FetchItem {
  /** The name of the item in the reply. */
  readonly name: string;
  /** Whether it reads the content of the mail. The journal names the mail only then. */
  readonly readsContent: boolean;
  /** Whether it marks the mail as read. */
  readonly marksRead: boolean;
  write(item: Item, context: FetchContext): Output;
}

/** What the items of a FETCH are read from. */
export interface FetchContext {
  readonly inbox: ImapInbox;
  readonly reader: MailReader;
  writeFlags(item: Item): string;
}

const MACROS: Readonly<Record<string, readonly string[]>> = {
  ALL: ['FLAGS', 'INTERNALDATE', 'RFC822.SIZE', 'ENVELOPE'],
  FAST: ['FLAGS', 'INTERNALDATE', 'RFC822.SIZE'],
  FULL: ['FLAGS', 'INTERNALDATE', 'RFC822.SIZE', 'ENVELOPE', 'BODY'],
};

/** The items that do not read the content of a mail, by their names. */
const SIMPLE_ITEMS: Readonly<Record<string, (item: Item, context: FetchContext) => string>> = {
  UID: ({ uid }) => String(uid),
  FLAGS: (item, { writeFlags }) => writeFlags(item),
  INTERNALDATE: (item, { inbox }) => writeString(formatInternalDate(timeOf(inbox, item))),
  'RFC822.SIZE': (item, { reader }) => reader.sizeOf(item),
  ENVELOPE: (item, { reader }) => reader.envelopeOf(item),
  BODYSTRUCTURE: (item, { reader }) => reader.structureOf(item, true),
  BODY: (item, { reader }) => reader.structureOf(item, false),
  EMAILID: ({ id }) => `(${id})`,
  THREADID: (item, { inbox }) => {
    const threadId = threadIdOf(inbox, item);
    return threadId === undefined ? 'NIL' : `(${threadId})`;
  },
};

/** The section that each item with an older name reads. */
const OLDER_ITEMS: Readonly<Record<string, string>> = { RFC822: '', 'RFC822.HEADER': 'HEADER', 'RFC822.TEXT': 'TEXT' };

/** Returns when a message arrived, or when a draft was changed. */
export function timeOf(inbox: ImapInbox, item: Item): string {
  return inbox.messageOf(item)?.receivedAt ?? inbox.draftOf(item)?.updatedAt ?? '1970-01-01T00:00:00.000Z';
}

/** Returns the id of the thread of a message, or of the message that a draft replies to. */
export function threadIdOf(inbox: ImapInbox, item: Item): string | undefined {
  const repliesTo = inbox.draftOf(item)?.replyToMessageId ?? '';
  return (inbox.messageOf(item) ?? inbox.world.messages.get(repliesTo))?.threadId;
}

/** Parses what a FETCH asks for. @throws {CommandError} */
export function parseFetch(argument: Argument | undefined): FetchItem[] {
  const [only, ...rest] = itemsOf(argument, 'What to fetch');
  const macro =
    rest.length === 0 && !isList(argument) ? MACROS[textOf(only, 'What to fetch').toUpperCase()] : undefined;
  if (macro) return macro.map(createSimpleItem);
  return [...(only === undefined ? [] : [only]), ...rest].map(parseItem);
}

export function createSimpleItem(name: string): FetchItem {
  const write = SIMPLE_ITEMS[name];
  if (!write) throw new CommandError(`There is no FETCH item ${name.slice(0, 100)}.`);
  return { name, readsContent: false, marksRead: false, write: (item, context) => [`${name} ${write(item, context)}`] };
}

function parseItem(argument: Argument): FetchItem {
  const name = textOf(argument, 'The FETCH item').toUpperCase();
  const { section, partial } = argument as Word;
  const older = OLDER_ITEMS[name];
  if (older !== undefined) return createSectionItem(name, [{ text: older, isAtom: true }], name === 'RFC822.HEADER');
  if (section === undefined) return createSimpleItem(name);
  if (name !== 'BODY' && name !== 'BODY.PEEK')
    throw new CommandError(`There is no FETCH item ${name.slice(0, 100)}[].`);
  const shown = section.map((each) =>
    isList(each) ? `(${each.map((field) => textOf(field, 'A name')).join(' ')})` : textOf(each, ''),
  );
  const range = partial?.split('.').map(Number);
  const label = `BODY[${shown.join(' ').toUpperCase()}]${range ? `<${range[0]}>` : ''}`;
  return createSectionItem(label, section, name === 'BODY.PEEK', range);
}

function createSectionItem(
  label: string,
  section: readonly Argument[],
  isPeek: boolean,
  range?: readonly number[],
): FetchItem {
  const select = parseSection(section);
  return {
    name: label,
    readsContent: true,
    marksRead: !isPeek,
    write(item, { reader }) {
      const mail = reader.read(item);
      const bytes = (mail && select(mail)) ?? new Uint8Array();
      const [from = 0, length = bytes.length] = range ?? [];
      const part = bytes.subarray(from, from + length);
      return [`${label} {${part.length}}\r\n`, part];
    },
  };
}

const SECTION = /^((?:[1-9]\d{0,4}(?:\.(?=.)|$))*)(HEADER(?:\.FIELDS(?:\.NOT)?)?|TEXT|MIME)?$/i;

/** Parses a section such as `1.2.HEADER.FIELDS (Subject)`. Returns a function that selects its bytes from a mail. */
function parseSection([specifier, list]: readonly Argument[]): (mail: OpenMail) => Uint8Array | undefined {
  const text = specifier === undefined ? '' : textOf(specifier, 'The section');
  const [match, path = '', name = ''] = SECTION.exec(text) ?? [];
  const numbers = path.split('.').filter(Boolean).map(Number);
  const what = name.toUpperCase();
  const hasFields = what.startsWith('HEADER.FIELDS');
  const isWrong = match === undefined || hasFields !== isList(list) || (what === 'MIME' && numbers.length === 0);
  if (isWrong) throw new CommandError(`There is no section [${text.slice(0, 100)}].`);
  const names = new Set(
    hasFields ? itemsOf(list, 'The fields').map((each) => textOf(each, 'A name').toLowerCase()) : [],
  );
  const isWanted = (field: string) => names.has(field) !== (what === 'HEADER.FIELDS.NOT');
  return (mail) => {
    const part = findPart(mail.root, numbers);
    if (text === '') return mail.bytes;
    if (what === '') return part && mail.bytes.subarray(part.bodyStart, part.bodyEnd);
    if (what === 'MIME') return part && mail.bytes.subarray(part.headerStart, part.bodyStart);
    return readMessage(mail, numbers.length === 0 ? mail.root : part?.message, what, isWanted);
  };
}

/** Returns the text, the header, or some header fields of `message`: the whole mail, or a mail within it. */
function readMessage(
  { bytes, text }: OpenMail,
  message: MailPart | undefined,
  what: string,
  isWanted: (name: string) => boolean,
): Uint8Array | undefined {
  if (!message) return undefined;
  if (what === 'TEXT') return bytes.subarray(message.bodyStart, message.bodyEnd);
  if (what === 'HEADER') return bytes.subarray(message.headerStart, message.bodyStart);
  return selectFields(text.slice(message.headerStart, message.bodyStart), isWanted);
}

/** Returns the wanted fields of a header as they are written, and the empty line after them. */
function selectFields(header: string, isWanted: (name: string) => boolean): Uint8Array {
  const fields = splitHeader(header).filter((field) => {
    const [, name] = /^([!-9;-~]+)[ \t]*:/.exec(field) ?? [];
    return name !== undefined && isWanted(name.toLowerCase());
  });
  return bytesOf(`${fields.join('')}\r\n`);
}

/**
 * Finds a part by its numbers, such as `1.2` for the second part of the first part. If a mail or a part contains no
 * parts, its part 1 is itself.
 */
export function findPart(root: MailPart, numbers: readonly number[]): MailPart | undefined {
  let found: MailPart | undefined;
  let container: MailPart | undefined = root;
  for (const number of numbers) {
    const isWhole: boolean = container?.type !== 'multipart' && number === 1;
    found = isWhole ? container : container?.parts[number - 1];
    container = found?.message ?? (isWhole ? undefined : found);
  }
  return found;
}
