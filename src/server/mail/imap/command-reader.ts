import { CollectedBytes } from '../../../basics/collected-bytes.ts';
import { LIMITS } from '../../server-limits.ts';
import { badLine, type LastLine, refusalLine } from './last-line.ts';

const MAX_COMMAND_BYTES = LIMITS.imapCommand.value;

/**
 * ID is no small command, because its 30 fields with values of 1,024 octets (RFC 2971, section 3.3) need more. Small
 * commands are not counted, so that a stranger takes no room from others.
 */
const SMALL_COMMAND_BYTES = LIMITS.imapSmallCommand.value;

/** How many of the first characters of a command are looked at for its name. */
const HEAD_LENGTH = 300;

/** The largest number of the protocol (RFC 3501, section 9). */
const MAX_NUMBER = 0xffff_ffff;

/** How much is kept of the line of a command that was dropped. */
const KEPT_LINE_BYTES = 1024;

/** How many of the last characters of a line are looked at for the size of a literal. */
const TAIL_LENGTH = 32;

/** A command that a client sent. */
interface ReadCommand {
  line: string;
  literals: Uint8Array<ArrayBuffer>[];
  /** The reply that refuses the command; `undefined` if the command is accepted. */
  refusal: LastLine | undefined;
}

/** What the rules for a command depend on besides its bytes. */
export interface ReaderRules {
  isLoggedIn(): boolean;
  /** Counts bytes that are kept until the command has been handled. Returns an error if there is no room for them. */
  count(bytes: number): Error | undefined;
}

/** A complete command; `continue` if the client may now send a literal; `lost` if the next command cannot be found. */
export type ReadEvent = Readonly<ReadCommand> | 'continue' | 'lost';

/**
 * Reads the commands of a client. The result depends only on the bytes, and not on the chunks in which they arrive.
 * Each byte is read only once, and takes memory only from when it arrives.
 */
export class CommandReader {
  readonly #rules: ReaderRules;
  /** The bytes that were given by `push`, and how many of them have been read. */
  #chunk: Buffer = Buffer.alloc(0);
  #position = 0;
  #command: ReadCommand = { line: '', literals: [], refusal: undefined };
  /** The bytes of the command that are kept, in its line and its literals. */
  #keptBytes = 0;
  /** The present line of the command. After a literal, a new line begins. */
  #line = new CollectedBytes();
  #lineBytes = 0;
  #tail = '';
  /** The first characters of the command, up to its first line break. */
  #head = '';
  /** The literal that is being received; `undefined` if the command is refused, so that the bytes are not kept. */
  #literal: CollectedBytes | undefined;
  /** The number of bytes of the literal that have not arrived yet. */
  #missingBytes = 0;
  /** The size of all literals of the command so far. */
  #literalBytes = 0;

  constructor(rules: ReaderRules) {
    this.#rules = rules;
  }

  /** Whether a command has begun and is not complete. */
  get isInCommand(): boolean {
    return this.#lineBytes > 0;
  }

  /** Whether the command is so large that its bytes are counted. */
  get takesRoom(): boolean {
    return this.#keptBytes > SMALL_COMMAND_BYTES;
  }

  /**
   * Drops what is kept of a command that has not arrived completely, because others need the room, and refuses the
   * command when it ends.
   */
  drop(reason: Error): void {
    this.#refuse(toRefusal(reason));
    // The reply needs only the beginning of the line. It is copied, because a part of a text keeps the whole text.
    const line = this.#command.line + this.#takeLine();
    this.#command.line = Buffer.from(line.slice(0, KEPT_LINE_BYTES), 'latin1').toString('latin1');
  }

  /** Adds bytes that have arrived. The bytes before them must have been read: `next` returned `undefined`. */
  push(chunk: Buffer): void {
    this.#chunk = chunk;
    this.#position = 0;
  }

  /** Returns the bytes that were not read. */
  takeRest(): Buffer {
    const rest = this.#chunk.subarray(this.#position);
    this.#position = this.#chunk.length;
    return rest;
  }

  /** Returns the next event; `undefined` if more bytes are needed for it. */
  next(): ReadEvent | undefined {
    const chunk = this.#chunk;
    while (this.#position < chunk.length) {
      if (this.#missingBytes > 0) this.#readLiteral();
      else {
        const end = chunk.indexOf(0x0a, this.#position) + 1;
        const kept = this.#readLine(chunk.subarray(this.#position, end || chunk.length));
        this.#position = end || chunk.length;
        this.#line.add(kept);
        const event = end === 0 ? undefined : this.#endLine(this.#takeLine());
        if (event) return event;
      }
    }
    return undefined;
  }

  #readLiteral(): void {
    const piece = this.#chunk.subarray(this.#position, this.#position + this.#missingBytes);
    this.#position += piece.length;
    this.#missingBytes -= piece.length;
    if (this.#literal && this.#count(piece.length))
      this.#literal.add(piece, this.#literal.length + piece.length + this.#missingBytes);
    if (this.#missingBytes > 0 || !this.#literal) return;
    this.#command.literals.push(this.#literal.take());
    this.#literal = undefined;
  }

  /** Reads a piece of a line, and returns how much of it is kept. */
  #readLine(piece: Buffer): Buffer {
    if (this.#command.line === '') this.#head += piece.toString('latin1', 0, HEAD_LENGTH - this.#head.length);
    const room = Math.max(0, this.#maxBytes() - this.#lineBytes);
    this.#lineBytes += piece.length;
    this.#tail = (this.#tail + piece.toString('latin1', Math.max(0, piece.length - TAIL_LENGTH))).slice(-TAIL_LENGTH);
    const kept = piece.subarray(0, this.#count(Math.min(piece.length, room)) ? room : 0);
    if (piece.length > room) this.#refuse(badLine('The command is too long.'));
    return kept;
  }

  /** Returns what is kept of the present line, with one character for each byte, and begins the next line. */
  #takeLine(): string {
    return Buffer.from(this.#line.take().buffer).toString('latin1');
  }

  #endLine(line: string): ReadEvent | undefined {
    const command = this.#command;
    command.line += line;
    const size = readLiteralSize(this.#tail);
    this.#tail = '';
    if (size) {
      // A quoted text ends in its line. If it does not, the client and the server would disagree about what follows.
      const refusal = endsInQuotes(line) ? badLine('A quoted text has no end.') : this.#findRefusal(size.bytes);
      if (refusal !== undefined) this.#refuse(refusal);
    }
    // After a size such as `{5+}`, the client sends the bytes without waiting for a reply, so they must be read anyway.
    if (size && (size.isSent || command.refusal === undefined)) {
      if (size.bytes > MAX_NUMBER) return 'lost';
      this.#missingBytes = size.bytes;
      this.#literal = command.refusal === undefined ? new CollectedBytes() : undefined;
      if (size.bytes === 0) this.#readLiteral();
      return size.isSent ? undefined : 'continue';
    }
    this.#command = { line: '', literals: [], refusal: undefined };
    this.#head = '';
    this.#keptBytes = 0;
    this.#lineBytes = 0;
    this.#literalBytes = 0;
    return { ...command, line: command.line.replace(/\r?\n$/, '') };
  }

  /** Counts bytes that are to be kept, and returns whether they may be. */
  #count(bytes: number): boolean {
    if (this.#command.refusal !== undefined) return false;
    const before = this.#keptBytes;
    this.#keptBytes += bytes;
    if (this.#keptBytes <= SMALL_COMMAND_BYTES) return true;
    const refusal = this.#rules.count(before <= SMALL_COMMAND_BYTES ? this.#keptBytes : bytes);
    if (refusal) this.#refuse(toRefusal(refusal));
    return !refusal;
  }

  /** Refuses the command when it ends. Its bytes are still read, but only the beginning of its line is kept. */
  #refuse(refusal: LastLine): void {
    this.#command.refusal ??= refusal;
    this.#command.literals = [];
    this.#literal = undefined;
  }

  /** Counts a literal, and returns the reply that refuses it; `undefined` if the client may send it. */
  #findRefusal(bytes: number): LastLine | undefined {
    this.#literalBytes += bytes;
    if (!this.#isCommand('append')) {
      return this.#literalBytes > this.#maxBytes() ? badLine('The literals of the command are too long.') : undefined;
    }
    if (!this.#rules.isLoggedIn()) return refusalLine('Log in first.');
    // The name of the folder may be a literal, too.
    const isTooLarge =
      bytes > LIMITS.mailBytes.value || this.#literalBytes > LIMITS.mailBytes.value + MAX_COMMAND_BYTES;
    return isTooLarge ? refusalLine('The message is larger than 10 MiB.', 'TOOBIG') : undefined;
  }

  #maxBytes(): number {
    return this.#rules.isLoggedIn() || this.#isCommand('id') ? MAX_COMMAND_BYTES : SMALL_COMMAND_BYTES;
  }

  /** Returns whether the command has this name, which is in lower case. */
  #isCommand(name: string): boolean {
    const [, found] = /^\S{1,200} (\w+) /.exec(this.#head) ?? [];
    return found?.toLowerCase() === name;
  }
}

/** Writes the reply to a command for which there is no room. */
function toRefusal({ message }: Error): LastLine {
  return refusalLine(message, 'UNAVAILABLE');
}

/** Reads the size of the literal that follows a line, and whether the client sends it without waiting for a reply. */
function readLiteralSize(tail: string): { readonly bytes: number; readonly isSent: boolean } | undefined {
  const [written, start, digits, plus] = /(^|\{)(\d{1,32})(\+?)\}\r?\n$/.exec(tail) ?? [];
  if (written === undefined) return undefined;
  // If the tail begins within the digits, the number has more digits than any size that is allowed.
  if (start === '' && tail.length < TAIL_LENGTH) return undefined;
  return { bytes: start === '' ? Number.POSITIVE_INFINITY : Number(digits), isSent: plus === '+' };
}

/** Returns whether a line ends within a quoted text. */
function endsInQuotes(line: string): boolean {
  let isQuoted = false;
  for (let at = 0; at < line.length; at += 1) {
    if (line[at] === '"') isQuoted = !isQuoted;
    else if (isQuoted && line[at] === '\\') at += 1;
  }
  return isQuoted;
}
