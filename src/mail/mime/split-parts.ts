import { ApiError } from '../../contract/errors.ts';
import { parseParameters } from './parameters.ts';
import { type HeaderField, splitFields } from './read-headers.ts';

/** A mail or a part of it, as it is written: one character stands for each byte, and lines end with `\n`. */
export interface RawPart {
  /** The `multipart` that contains it. */
  readonly parent: RawPart | undefined;
  /** The header lines. */
  readonly head: string;
  /** The header fields by lower-case name, unfolded; of fields with one name, the first. */
  readonly fields: Readonly<Record<string, string>>;
  /** The content, in its encoding; empty if it was split into parts. */
  readonly body: string;
}

/** How large the header of a mail or of a part may be, how deep parts may be nested, and how many are read. */
const MAX_HEADER_BYTES = 256 * 1024;
const MAX_DEPTH = 256;
const MAX_PARTS = 1_000;

/**
 * Lists the mail and its parts, at most the first 1,000; each `multipart` comes before what it contains. Mails within
 * the mail are not split. Each line is looked at once, however deep the parts are nested.
 *
 * @throws {ApiError} VALIDATION_ERROR if a header is too large or parts are nested too deeply.
 */
export function splitParts(mail: string): RawPart[] {
  const reader = new PartReader(mail);
  let at = mail.indexOf('\n--');
  for (; at >= 0 && reader.parts.length < MAX_PARTS; at = mail.indexOf('\n--', at + 1)) reader.readLine(at);
  // What follows the last part that is read is left out.
  reader.endPart(at >= 0 ? at : mail.length - (mail.endsWith('\n') ? 1 : 0));
  return reader.parts;
}

class PartReader {
  readonly parts: { -readonly [Key in keyof RawPart]: RawPart[Key] }[] = [];
  readonly #mail: string;
  /** Each `multipart` that has not ended, from the outermost, and all boundaries so far. */
  readonly #open: { readonly part: RawPart; readonly boundary: string }[] = [];
  readonly #boundaries = new Set<string>();
  /** Where the header and the content of the current part begin. After the end of a multipart, there is none. */
  #headAt: number | undefined = 0;
  #bodyAt: number | undefined;
  /** The latest empty line that was found: from the line break before it to its end. */
  #emptyLine = { from: -2, to: -2 };

  constructor(mail: string) {
    this.#mail = mail;
  }

  /** Reads the line that begins with two dashes after the line break at this position. */
  readLine(at: number): void {
    const end = this.#mail.indexOf('\n', at + 1);
    const line = this.#mail.slice(at + 3, end < 0 ? undefined : end).trimEnd();
    this.#readHead(at);
    const isEnd = !this.#boundaries.has(line) && line.endsWith('--');
    const name = isEnd ? line.slice(0, -2) : line;
    const level = this.#boundaries.has(name) ? this.#open.findLastIndex(({ boundary }) => boundary === name) : -1;
    if (level < 0) return;
    this.endPart(at, this.#open[level]?.part);
    this.#open.length = isEnd ? level : level + 1;
    this.#headAt = isEnd || end < 0 ? undefined : end + 1;
  }

  /** Ends the current part before the line break at this position; `owner` is the multipart whose boundary follows. */
  endPart(at: number, owner?: RawPart): void {
    this.#readHead(at);
    if (this.#headAt !== undefined && this.#bodyAt === undefined) this.#addPart(at, at + 1);
    const part = this.parts.at(-1);
    if (part && this.#bodyAt !== undefined && this.#bodyAt <= at && part !== owner) {
      part.body = linesOf(this.#mail.slice(this.#bodyAt, at));
    }
    this.#headAt = undefined;
    this.#bodyAt = undefined;
  }

  /** Reads the header of the current part if it ends before the line break at this position. */
  #readHead(at: number): void {
    if (this.#headAt === undefined || this.#bodyAt !== undefined) return;
    // An empty line that is still ahead is not searched again, because many parts may have none.
    if (this.#emptyLine.from < this.#headAt - 1) {
      const search = /(?:^|\n)\r*\n/g;
      search.lastIndex = Math.max(0, this.#headAt - 1);
      const { index, 0: found } = search.exec(this.#mail) ?? { index: Number.POSITIVE_INFINITY, 0: '' };
      this.#emptyLine = { from: index, to: index + found.length };
    }
    const { from, to } = this.#emptyLine;
    if (to <= at + 1) this.#addPart(from, to);
  }

  #addPart(headEnd: number, bodyAt: number): void {
    const written = this.#mail.slice(this.#headAt, Math.max(this.#headAt ?? 0, headEnd));
    if (written.length > MAX_HEADER_BYTES || this.#open.length > MAX_DEPTH) {
      throw new ApiError(
        'VALIDATION_ERROR',
        'The message cannot be parsed: its headers are too large or its parts are nested too deeply.',
      );
    }
    const head = linesOf(written);
    const part = { parent: this.#open.at(-1)?.part, head, fields: firstOf(listFields(head)), body: '' };
    const { value, parameters } = parseParameters(part.fields['content-type']);
    const boundary = parameters.boundary?.trimEnd() ?? '';
    this.parts.push(part);
    this.#bodyAt = bodyAt;
    if (boundary === '' || !value.startsWith('multipart/')) return;
    this.#open.push({ part, boundary });
    this.#boundaries.add(boundary);
  }
}

/** Makes `\n` the end of each line. */
function linesOf(text: string): string {
  return `${text}\n`.replace(/(?<!\r)\r+\n/g, '\n');
}

/** Returns the fields of such a header, in order. */
export function listFields(head: string): HeaderField[] {
  return splitFields(head.split(/\n(?![ \t])/));
}

function firstOf(fields: readonly HeaderField[]): Record<string, string> {
  return Object.fromEntries(fields.toReversed().map(({ name, value }) => [name.toLowerCase(), value]));
}
