import { finish, type Work } from '../../../basics/work.ts';
import { ApiError } from '../../../contract/errors.ts';
import { bytesOf, decodeText, toBinary } from './decode.ts';
import { type HeaderField, splitFields } from './header.ts';

/**
 * A mail or a part of a mail. Its positions count characters in the text of the whole mail, in which one character
 * stands for each byte.
 */
export interface MailPart {
  /** The `multipart` or the `message/rfc822` that contains this part; `undefined` for the whole mail. */
  readonly parent: MailPart | undefined;
  readonly headerStart: number;
  bodyStart: number;
  bodyEnd: number;
  /** The media type, in lower case, such as `text` and `plain`. */
  type: string;
  subtype: string;
  /** The header fields by lower-case name, unfolded. If several have the same name, the first is used. */
  fields: Readonly<Record<string, string>>;
  /** Whether the header names the media type. */
  hasMediaType: boolean;
  /** The parameters of the media type. */
  parameters: Readonly<Record<string, string>>;
  /** The parts of a `multipart`. */
  readonly parts: MailPart[];
  /** Whether the boundary of a `multipart` was found. */
  isSplit: boolean;
  /** The mail in a `message/rfc822`. */
  message?: MailPart;
}

/** The characters of a mail, one for each byte. */
export interface MailText {
  readonly length: number;
  /** Returns the code of a character, which is NaN or `undefined` outside of the mail. */
  codeAt(index: number): number | undefined;
  slice(from: number, to: number): string;
}

/** Reads a string in which one character stands for each byte. */
export function textOfString(text: string): MailText {
  return {
    length: text.length,
    codeAt: (index) => text.charCodeAt(index),
    slice: (from, to) => text.slice(from, to),
  };
}

/** Reads bytes as a text. Only what is sliced becomes a string, because that takes more memory than the bytes. */
export function textOfBytes(bytes: Uint8Array): MailText {
  return {
    length: bytes.length,
    codeAt: (index) => bytes[index],
    slice: (from, to) => toBinary(bytes.subarray(from, to)),
  };
}

/** How a mail is split into parts. A part beyond a limit is not split off, but stays in the body that contains it. */
interface SplitOptions {
  readonly maxDepth: number;
  readonly maxParts: number;
  /** Whether mails within the mail are split, too. */
  readonly splitsMessages: boolean;
  /** Whether a header ends before the line break that belongs to the boundary after it. */
  readonly endsHeaderBeforeBoundary: boolean;
  /** Matches the line that ends a header. */
  readonly emptyLine: RegExp;
  listFields(text: MailText, from: number, to: number): HeaderField[];
}

/** A part whose end has not been read yet. Only a `multipart` has a `boundary`. */
interface OpenPart {
  readonly part: MailPart;
  isInHeader: boolean;
  boundary?: string;
}

const [TAB, LF, CR, SPACE, DASH] = [0x09, 0x0a, 0x0d, 0x20, 0x2d];

/** How many characters are read between two pauses. */
const PAUSE_LENGTH = 16 * 1024;

/** Creates a part of which nothing has been read: an empty text without a header. */
function createPart(start: number, parent: MailPart | undefined): MailPart {
  return {
    parent,
    headerStart: start,
    bodyStart: start,
    bodyEnd: start,
    type: 'text',
    subtype: 'plain',
    hasMediaType: false,
    fields: {},
    parameters: {},
    parts: [],
    isSplit: false,
  };
}

/** Splits a mail into its parts. Each line is read once, however deep the parts are nested. */
class MailSplitter {
  readonly #text: MailText;
  readonly #options: SplitOptions;
  readonly #openParts: OpenPart[] = [];
  readonly #boundaries = new Set<string>();
  #longestBoundary = 0;
  #partCount = 0;
  /** Where the latest boundary ends. */
  #boundaryEnd = -1;

  constructor(text: MailText, options: SplitOptions) {
    this.#text = text;
    this.#options = options;
  }

  *split(): Work<MailPart> {
    const text = this.#text;
    const { length } = text;
    const root = this.#open(0, undefined);
    let pauseAt = PAUSE_LENGTH;
    for (let start = 0; start < length; ) {
      let end = start;
      for (; end < length && text.codeAt(end) !== LF; end += 1) {
        if (end < pauseAt) continue;
        yield;
        pauseAt = end + PAUSE_LENGTH;
      }
      end = Math.min(end + 1, length);
      this.#readLine(start, end);
      start = end;
      if (!this.#openParts.at(-1)?.isInHeader) {
        // In a body, only a line that begins with two dashes can be a boundary.
        for (start = end - 1; start < length && !this.#isBeforeDashes(start); start += 1) {
          if (start < pauseAt) continue;
          yield;
          pauseAt = start + PAUSE_LENGTH;
        }
        start += 1;
      }
      if (start < pauseAt) continue;
      yield;
      pauseAt = start + PAUSE_LENGTH;
    }
    this.#close(0, length);
    return root;
  }

  /** Returns whether there is a line break, after which a line begins with two dashes. */
  #isBeforeDashes(index: number): boolean {
    const text = this.#text;
    return text.codeAt(index) === LF && text.codeAt(index + 1) === DASH && text.codeAt(index + 2) === DASH;
  }

  #open(start: number, parent: MailPart | undefined): MailPart {
    const part = createPart(start, parent);
    this.#partCount += 1;
    this.#openParts.push({ part, isInHeader: true });
    return part;
  }

  #readLine(start: number, end: number): void {
    const text = this.#text;
    const hasDashes = text.codeAt(start) === DASH && text.codeAt(start + 1) === DASH;
    if (hasDashes && this.#boundaries.size > 0 && this.#readBoundary(start, end)) return;
    const open = this.#openParts.at(-1);
    if (!open?.isInHeader) return;
    const isMaybeEmpty = text.codeAt(start) === LF || text.codeAt(start) === CR;
    if (isMaybeEmpty && this.#options.emptyLine.test(text.slice(start, end))) this.#endHeader(open, start, end);
  }

  /** Reads a line that begins with two dashes. Returns whether the line is a boundary. */
  #readBoundary(start: number, end: number): boolean {
    const nameEnd = this.#findTextEnd(start + 2, end);
    if (nameEnd - start - 2 > this.#longestBoundary + 2) return false;
    const line = this.#text.slice(start + 2, nameEnd);
    const isEnd = !this.#boundaries.has(line) && line.endsWith('--');
    const name = isEnd ? line.slice(0, -2) : line;
    if (!this.#boundaries.has(name)) return false;
    if (!isEnd && this.#partCount >= this.#options.maxParts) return false;
    const level = this.#openParts.findLastIndex(({ boundary }) => boundary === name);
    const owner = this.#openParts[level];
    if (!owner) return false;
    owner.part.isSplit = true;
    // If one boundary follows directly on another, the line break between them belongs to the first boundary.
    const breakLength = this.#text.codeAt(start - 2) === CR && this.#text.codeAt(start - 1) === LF ? 2 : 1;
    this.#close(level + 1, start === this.#boundaryEnd ? start : Math.max(0, start - breakLength));
    this.#boundaryEnd = end;
    if (isEnd) this.#removeBoundary(owner);
    else owner.part.parts.push(this.#open(end, owner.part));
    return true;
  }

  /** Returns where the white space at the end of a line begins. */
  #findTextEnd(start: number, end: number): number {
    let textEnd = end;
    for (; textEnd > start; textEnd -= 1) {
      const code = this.#text.codeAt(textEnd - 1) ?? 0;
      // The characters that `trimEnd` removes, among the first 256.
      if (code !== SPACE && code !== 0xa0 && (code < TAB || code > CR)) break;
    }
    return textEnd;
  }

  #removeBoundary(open: OpenPart): void {
    const { boundary } = open;
    delete open.boundary;
    if (boundary !== undefined && !this.#openParts.some((other) => other.boundary === boundary)) {
      this.#boundaries.delete(boundary);
    }
  }

  /** Closes the open parts of this level and of the levels below it. */
  #close(level: number, at: number): void {
    for (const open of this.#openParts.splice(level).reverse()) {
      const { part } = open;
      if (open.isInHeader) this.#readHeader(part, at, at);
      if (this.#options.endsHeaderBeforeBoundary)
        part.bodyStart = Math.max(part.headerStart, Math.min(part.bodyStart, at));
      part.bodyEnd = Math.max(at, part.bodyStart);
      this.#removeBoundary(open);
    }
  }

  /** Reads the header of a part. Returns the boundary of a `multipart`, or an empty text. */
  #readHeader(part: MailPart, headerEnd: number, bodyStart: number): string {
    part.bodyStart = Math.max(bodyStart, part.headerStart);
    // What is longer is not read, and `splitParts` refuses it.
    const readEnd = Math.min(headerEnd, part.headerStart + MAX_HEADER_BYTES);
    part.fields = firstByName(this.#options.listFields(this.#text, part.headerStart, readEnd));
    const { value, parameters } = parseParameters(part.fields['content-type']);
    const [, type, subtype] = /^([^/\s]+)\/([^/\s]+)$/.exec(value) ?? [];
    const isInDigest = part.parent?.subtype === 'digest';
    part.type = type ?? (isInDigest ? 'message' : 'text');
    part.subtype = subtype ?? (isInDigest ? 'rfc822' : 'plain');
    part.hasMediaType = subtype !== undefined;
    part.parameters = part.hasMediaType ? parameters : {};
    return value.startsWith('multipart/') ? (parameters.boundary?.trimEnd() ?? '') : '';
  }

  #endHeader(open: OpenPart, start: number, end: number): void {
    const { maxDepth, maxParts, splitsMessages } = this.#options;
    const { part } = open;
    const boundary = this.#readHeader(part, start, end);
    open.isInHeader = false;
    if (this.#openParts.length >= maxDepth || this.#partCount >= maxParts) return;
    if (boundary !== '') {
      open.boundary = boundary;
      this.#boundaries.add(boundary);
      this.#longestBoundary = Math.max(this.#longestBoundary, boundary.length);
    } else if (splitsMessages && part.type === 'message' && part.subtype === 'rfc822')
      part.message = this.#open(end, part);
  }
}

/** The fields of a part that IMAP shows, or needs to find its parts. */
const CONTENT_FIELDS: ReadonlySet<string> = new Set([
  'content-type',
  'content-id',
  'content-description',
  'content-transfer-encoding',
  'content-md5',
  'content-disposition',
  'content-language',
  'content-location',
]);

/**
 * Splits a mail and the mails within it into parts, as IMAP shows them. Only the fields about the content are read.
 *
 * IMAP has no `multipart` without a part and no `message/rfc822` without a mail (RFC 3501, section 9). Where a
 * mail has one, because no boundary was found or the limits are reached, it contains one part without a header, which
 * has all of its text.
 */
export function* splitMail(mail: MailText): Work<MailPart> {
  const options: SplitOptions = {
    maxDepth: 100,
    maxParts: 10_000,
    splitsMessages: true,
    endsHeaderBeforeBoundary: true,
    emptyLine: /^\r?\n$/,
    listFields: (text, from, to) => listNamedFields(text, from, to, CONTENT_FIELDS),
  };
  const root = yield* new MailSplitter(mail, options).split();
  for (const part of listParts(root)) {
    if (part.type === 'multipart' && part.parts.length === 0) part.parts.push(createOnlyPart(part));
    if (part.type === 'message' && part.subtype === 'rfc822') part.message ??= createOnlyPart(part);
  }
  return root;
}

/** Creates the part of a container in which no part was found. What is around a boundary is not the text of a part. */
function createOnlyPart(parent: MailPart): MailPart {
  const start = parent.isSplit ? parent.bodyEnd : parent.bodyStart;
  return { ...createPart(start, parent), bodyEnd: parent.bodyEnd };
}

/** How long a line is searched for the name of a field. */
const MAX_NAME_LENGTH = 200;

/**
 * Calls a function for each field of a header, with its name in lower case, which is empty if it has none. What the
 * function returns is done before the next field is read.
 */
export function* eachField(
  text: MailText,
  from: number,
  to: number,
  take: (name: string, start: number, end: number) => Work<void> | undefined,
): Work<void> {
  let pauseAt = from + PAUSE_LENGTH;
  for (let start = from; start < to; ) {
    const name = readName(text, start, to);
    let end = start;
    do {
      for (; end < to && text.codeAt(end) !== LF; end += 1) {
        if (end < pauseAt) continue;
        yield;
        pauseAt = end + PAUSE_LENGTH;
      }
      end += 1;
    } while (end < to && isBlank(text.codeAt(end)));
    end = Math.min(end, to);
    const work = take(name, start, end);
    if (work) yield* work;
    start = end;
    if (start < pauseAt) continue;
    yield;
    pauseAt = start + PAUSE_LENGTH;
  }
}

function isBlank(code: number | undefined): boolean {
  return code === SPACE || code === TAB;
}

/** Returns the name of the field that begins here, in lower case, or an empty text. */
function readName(text: MailText, start: number, to: number): string {
  let end = start;
  const last = Math.min(to, start + MAX_NAME_LENGTH);
  while (end < last && isNameCode(text.codeAt(end))) end += 1;
  let colon = end;
  while (colon < to && isBlank(text.codeAt(colon))) colon += 1;
  return text.codeAt(colon) === COLON ? text.slice(start, end).toLowerCase() : '';
}

const COLON = 0x3a;

/** Returns whether a character may stand in the name of a field: visible ASCII without the colon. */
function isNameCode(code = 0): boolean {
  return code > SPACE && code < 0x7f && code !== COLON;
}

/** How many fields with certain names are read. */
const MAX_NAMED_FIELDS = 1_000;

/** Lists the unfolded fields of a header that have one of the names, in order: at most the first 1,000. */
export function listNamedFields(text: MailText, from: number, to: number, names: ReadonlySet<string>): HeaderField[] {
  const fields: HeaderField[] = [];
  const take = (name: string, start: number, end: number) => {
    if (fields.length < MAX_NAMED_FIELDS && names.has(name)) fields.push(...listUnfoldedFields(text.slice(start, end)));
    return undefined;
  };
  finish(eachField(text, from, to, take));
  return fields;
}

/** Returns the header fields, each on one line. */
export function listUnfoldedFields(header: string): HeaderField[] {
  return listFields(header.replace(/\r?\n[ \t]+/g, ' ').replaceAll('\r\n', '\n'));
}

/** How large the header of a mail or of a part may be, how deep parts may be nested, and how many parts are read. */
const MAX_HEADER_BYTES = 256 * 1024;
const MAX_DEPTH = 256;
const MAX_PARTS = 1_000;

/**
 * The options of `splitParts`. The limits are a little higher than those of `splitParts`, so that `splitParts` can
 * detect a mail that exceeds them.
 */
const RAW_OPTIONS: SplitOptions = {
  maxDepth: MAX_DEPTH + 2,
  maxParts: MAX_PARTS + 2,
  splitsMessages: false,
  endsHeaderBeforeBoundary: false,
  emptyLine: /^\r*\n$/,
  listFields: (text, from, to) => listFields(toLfLines(text.slice(from, to))),
};

/**
 * Lists the mail and at most the first 1,000 of its parts; each `multipart` comes before its parts. Mails within
 * the mail are not split.
 *
 * @throws {ApiError} VALIDATION_ERROR if a header is too large or parts are nested too deeply.
 */
export function splitParts(mail: string): MailPart[] {
  const root = finish(new MailSplitter(textOfString(mail), RAW_OPTIONS).split());
  // A boundary at the end of the mail begins a part only if a line break follows it.
  const parts = listParts(root).filter((part) => !part.parent || part.headerStart < mail.length || mail.endsWith('\n'));
  if (parts.some((part) => part.bodyStart - part.headerStart > MAX_HEADER_BYTES || depthOf(part) > MAX_DEPTH)) {
    const problem = 'its headers are too large or its parts are nested too deeply';
    throw new ApiError('VALIDATION_ERROR', `The message cannot be parsed: ${problem}.`);
  }
  return parts.slice(0, MAX_PARTS + 1);
}

/** Lists a mail, its parts, and those of the mails within it: each before what it contains. */
export function listParts(root: MailPart): MailPart[] {
  const list: MailPart[] = [];
  const pending = [root];
  for (let part = pending.pop(); part; part = pending.pop()) {
    list.push(part);
    if (part.message) pending.push(part.message);
    pending.push(...part.parts.toReversed());
  }
  return list;
}

function depthOf({ parent }: MailPart): number {
  let depth = 0;
  for (let container = parent; container; container = container.parent) depth += 1;
  return depth;
}

/** Returns the header of a part as it is written, but each line ends with `\n`. */
export function headOf(mail: string, { headerStart, bodyStart }: MailPart): string {
  return toLfLines(mail.slice(headerStart, bodyStart));
}

/**
 * Returns the body of a part in its encoding. Each line of the body ends with `\n`. A body without any line is empty,
 * and so is the body of a part that was split into parts.
 */
export function encodedBodyOf(mail: string, { bodyStart, bodyEnd, isSplit }: MailPart): string {
  if (isSplit) return '';
  if (bodyStart === bodyEnd && !/^\n\r*\n/.test(mail.slice(bodyEnd - 1, bodyEnd + 100))) return '';
  const isAtMailEnd = bodyEnd === mail.length && mail.endsWith('\n');
  return toLfLines(mail.slice(bodyStart, isAtMailEnd ? bodyEnd - 1 : bodyEnd));
}

/** Ends each line with `\n`, also the last one. */
function toLfLines(text: string): string {
  return `${text}\n`.replace(/(?<!\r)\r+\n/g, '\n');
}

/** Parses the fields of a header in which each line ends with `\n`, in order. */
export function listFields(head: string): HeaderField[] {
  return splitFields(head.split(/\n(?![ \t])/));
}

function firstByName(fields: readonly HeaderField[]): Record<string, string> {
  return Object.fromEntries(fields.toReversed().map(({ name, value }) => [name.toLowerCase(), value]));
}

/** The value of a header field such as Content-Type. */
interface ParameterisedValue {
  /** The text before the parameters, in lower case. */
  readonly value: string;
  /** The parameters by lower-case name, joined from their pieces. If several have the same name, the first is used. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** A piece of a parameter, because RFC 2231 splits long parameters. */
interface Piece {
  readonly text: string;
  readonly index: number;
  readonly isEncoded: boolean;
}

/** Matches a quoted text, or a comment in a place where a comment is allowed. */
const QUOTED_OR_COMMENT = /"(?:[^"\\]|\\.)*"?|(?<![^\s;])\((?:[^()\\]|\\.)*\)/gs;

/** Matches a parameter after the value of a field. The value of the parameter is in quotes or a token. */
const PARAMETER = /;\s*([^\s=;"]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"?|([^;"]*))/gs;

function withoutComments(field: string): string {
  return field.replace(QUOTED_OR_COMMENT, (found) => (found.startsWith('"') ? found : ''));
}

/** Lists the parameters after the value of a field as they are written, but without quotes. */
export function listParameters(field: string): [name: string, value: string][] {
  return parametersIn(withoutComments(field));
}

function parametersIn(text: string): [name: string, value: string][] {
  return Array.from(text.matchAll(PARAMETER), ([, name = '', quoted, token = '']) => {
    return [name, quoted?.replace(/\\(.)/gs, '$1') ?? token.trim()];
  });
}

/** Reads a value with parameters (RFC 2045, section 5.1), which may be encoded and in pieces (RFC 2231). */
export function parseParameters(field = ''): ParameterisedValue {
  const text = withoutComments(field);
  const plain = new Map<string, string>();
  const pieces = new Map<string, Piece[]>();
  for (const [writtenName, value] of parametersIn(text)) {
    const [, name = writtenName, index = '0', asterisk] = /^([^*]+)(?=\*)(?:\*(\d+))?(\*)?$/.exec(writtenName) ?? [];
    const key = name.toLowerCase();
    const list = pieces.get(key) ?? [];
    if (name === writtenName) plain.set(key, plain.get(key) ?? value);
    else pieces.set(key, list);
    list.push({ text: value, index: Number(index), isEncoded: asterisk !== undefined });
  }
  const joined = Array.from(pieces, ([name, list]) => [name, joinPieces(list)] as const);
  return {
    value: /^[^\s;(]*/.exec(text.trimStart())?.[0].toLowerCase() ?? '',
    parameters: Object.fromEntries([...plain, ...joined]),
  };
}

function joinPieces(pieces: readonly Piece[]): string {
  const sorted = pieces.toSorted((a, b) => a.index - b.index);
  const isEncoded = sorted.some((piece) => piece.isEncoded);
  if (!isEncoded) return sorted.map(({ text }) => text).join('');
  const whole = sorted.map((piece) => (piece.isEncoded ? piece.text : encodeURIComponent(piece.text))).join('');
  const [, charset = '', encoded = whole] = (sorted[0]?.isEncoded && /^([^']*)'[^']*'(.*)$/s.exec(whole)) || [];
  const binary = encoded.replace(/%([\dA-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return decodeText(bytesOf(binary), charset || 'utf-8');
}
