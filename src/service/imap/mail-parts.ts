import { listFields, parseParameters } from '../mail/mime/split-parts.ts';

/** How deep parts may be nested, and how many are read; what is beyond stays in the body of its part. */
const MAX_DEPTH = 100;
const MAX_PARTS = 10_000;

/** A mail or a part of it, by its place in the text of the mail, in which one character stands for each byte. */
export interface MailPart {
  /** Where its header begins, where its body begins, and where that ends. */
  readonly from: number;
  bodyAt: number;
  to: number;
  /** The media type, in lower case, such as `text` and `plain`. */
  type: string;
  subtype: string;
  /** The header fields by lower-case name, unfolded; of fields with one name, the first. */
  fields: Readonly<Record<string, string>>;
  /** Whether its header names the media type, and the parameters of that. */
  isTyped: boolean;
  parameters: Readonly<Record<string, string>>;
  /** The parts of a `multipart`. */
  readonly parts: MailPart[];
  /** The mail in a `message/rfc822`. */
  message?: MailPart;
}

/** A part that has not ended. `boundary` is that of a `multipart`. */
interface OpenPart {
  readonly part: MailPart;
  isInHeader: boolean;
  readonly isInDigest: boolean;
  boundary?: string;
}

/** Splits a mail into its parts. Each line is read once, however deep the parts are nested. */
export function splitMail(text: string): MailPart {
  return new MailSplitter(text).root;
}

class MailSplitter {
  readonly root: MailPart;
  readonly #text: string;
  readonly #open: OpenPart[] = [];
  readonly #boundaries = new Set<string>();
  #count = 0;
  /** Where the latest boundary ends. */
  #boundaryEnd = -1;

  constructor(text: string) {
    this.#text = text;
    this.root = this.#start(0);
    for (let at = 0; at < text.length; ) {
      const next = text.indexOf('\n', at) + 1 || text.length;
      this.#readLine(at, next);
      at = next;
    }
    this.#end(0, text.length);
  }

  #start(from: number, isInDigest = false): MailPart {
    const part: MailPart = {
      ...{ from, bodyAt: from, to: from, type: 'text', subtype: 'plain' },
      ...{ isTyped: false, fields: {}, parameters: {}, parts: [] },
    };
    this.#count += 1;
    this.#open.push({ part, isInHeader: true, isInDigest });
    return part;
  }

  #readLine(at: number, next: number): void {
    if (this.#text.startsWith('--', at) && this.#boundaries.size > 0 && this.#readBoundary(at, next)) return;
    const open = this.#open.at(-1);
    if (!open?.isInHeader) return;
    const isEmpty = next - at <= 2 && /^\r?\n$/.test(this.#text.slice(at, next));
    if (isEmpty) this.#endHeader(open, at, next);
  }

  /** Reads a line that begins with two dashes. Returns whether it is a boundary. */
  #readBoundary(at: number, next: number): boolean {
    const line = this.#text.slice(at + 2, next).trimEnd();
    const isEnd = !this.#boundaries.has(line) && line.endsWith('--');
    const name = isEnd ? line.slice(0, -2) : line;
    if (!this.#boundaries.has(name)) return false;
    const level = this.#open.findLastIndex(({ boundary }) => boundary === name);
    const owner = this.#open[level];
    if (!owner || (!isEnd && this.#count >= MAX_PARTS)) return false;
    // The line break between two boundaries is that of the first.
    this.#end(level + 1, at === this.#boundaryEnd ? at : lineEndBefore(this.#text, at));
    this.#boundaryEnd = next;
    if (isEnd) this.#forget(owner);
    else owner.part.parts.push(this.#start(next, owner.part.subtype === 'digest'));
    return true;
  }

  #forget(open: OpenPart): void {
    const { boundary } = open;
    delete open.boundary;
    if (boundary !== undefined && !this.#open.some((other) => other.boundary === boundary)) {
      this.#boundaries.delete(boundary);
    }
  }

  /** Ends the open parts from a level on. */
  #end(level: number, at: number): void {
    for (const open of this.#open.splice(level).reverse()) {
      if (open.isInHeader) this.#readHeader(open, at, at);
      open.part.to = Math.max(at, open.part.bodyAt);
      this.#forget(open);
    }
  }

  #readHeader({ part, isInDigest }: OpenPart, headerEnd: number, bodyAt: number): void {
    const end = Math.max(headerEnd, part.from);
    part.bodyAt = Math.max(bodyAt, part.from);
    part.fields = firstFields(this.#text.slice(part.from, end));
    const { value, parameters } = parseParameters(part.fields['content-type']);
    const [, type, subtype] = /^([^/\s]+)\/([^/\s]+)$/.exec(value) ?? [];
    part.type = type ?? (isInDigest ? 'message' : 'text');
    part.subtype = subtype ?? (isInDigest ? 'rfc822' : 'plain');
    part.isTyped = subtype !== undefined;
    part.parameters = part.isTyped ? parameters : {};
  }

  #endHeader(open: OpenPart, at: number, next: number): void {
    this.#readHeader(open, at, next);
    open.isInHeader = false;
    const { part } = open;
    const boundary = part.parameters.boundary?.trimEnd();
    if (this.#open.length >= MAX_DEPTH || this.#count >= MAX_PARTS) return;
    if (part.type === 'multipart' && boundary) {
      open.boundary = boundary;
      this.#boundaries.add(boundary);
    } else if (part.type === 'message' && part.subtype === 'rfc822') part.message = this.#start(next);
  }
}

/** Returns the header fields, each on one line. */
function unfold(header: string): ReturnType<typeof listFields> {
  return listFields(header.replace(/\r?\n[ \t]+/g, ' ').replaceAll('\r\n', '\n'));
}

/** Returns the header fields by lower-case name; of fields with one name, the first. */
function firstFields(header: string): Record<string, string> {
  return Object.fromEntries(
    unfold(header)
      .reverse()
      .map(({ name, value }) => [name.toLowerCase(), value]),
  );
}

/** The fields whose addresses go together if there are several. */
const LISTS: ReadonlySet<string> = new Set(['from', 'sender', 'reply-to', 'to', 'cc', 'bcc']);

/** Returns what an ENVELOPE is written from: all addresses of each field, and the last of each other field. */
export function envelopeFields(header: string): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const { name, value } of unfold(header)) {
    const key = name.toLowerCase();
    fields[key] = LISTS.has(key) && fields[key] !== undefined ? `${fields[key]}, ${value}` : value;
  }
  return fields;
}

/** Returns where the line before a position ends, without its line break. */
function lineEndBefore(text: string, at: number): number {
  return text.startsWith('\r\n', at - 2) ? at - 2 : Math.max(0, at - 1);
}

/**
 * Finds a part by its numbers, such as `1.2`: in a `multipart` they count its parts, and what has no parts is its own
 * part 1.
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
