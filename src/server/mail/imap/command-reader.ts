/** The longest command without its literals, and the largest literals of a command that stores no mail, in bytes. */
const MAX_LINE_BYTES = 64 * 1024;
const MAX_LITERAL_BYTES = 64 * 1024;

/** A command that a client sent. */
interface ReadCommand {
  line: string;
  readonly literals: Uint8Array<ArrayBuffer>[];
  /** The reply, if it is refused. */
  refusal: string | undefined;
}

/** What a client sent: a command, or the start of one whose literal it may send now. */
export type ReadEvent = Readonly<ReadCommand> | 'continue';

/** Reads the commands of a client from pieces of any size. Each byte is looked at once. */
export class CommandReader {
  /** Returns the reply that refuses the literal of a mail; `undefined` if it may be stored. */
  readonly #admit: (bytes: number) => string | undefined;
  #command: ReadCommand = { line: '', literals: [], refusal: undefined };
  /** The literal that is being received; `undefined` if its bytes are dropped. */
  #literal: Uint8Array<ArrayBuffer> | undefined;
  #missingBytes = 0;
  #literalBytes = 0;

  constructor(admit: (bytes: number) => string | undefined) {
    this.#admit = admit;
  }

  *read(chunk: Buffer): Generator<ReadEvent> {
    for (let at = 0; at < chunk.length; ) {
      if (this.#missingBytes > 0) {
        const piece = chunk.subarray(at, at + this.#missingBytes);
        this.#literal?.set(piece, this.#literal.length - this.#missingBytes);
        this.#missingBytes -= piece.length;
        at += piece.length;
        continue;
      }
      const end = chunk.indexOf(0x0a, at) + 1 || chunk.length;
      const piece = chunk.toString('latin1', at, end);
      at = end;
      const command = this.#command;
      if (command.line.length + piece.length > MAX_LINE_BYTES) command.refusal ??= 'BAD The command is too long.';
      else command.line += piece;
      const event = piece.endsWith('\n') ? this.#endLine(piece) : undefined;
      if (event) yield event;
    }
  }

  #endLine(piece: string): ReadEvent | undefined {
    const command = this.#command;
    const [, size, plus] = /\{(\d{1,10})(\+?)\}\r?\n$/.exec(piece.slice(-20)) ?? [];
    const bytes = Number(size);
    if (size !== undefined) command.refusal ??= this.#refuseLiteral(bytes);
    const isRefusedNow = command.refusal !== undefined && plus !== '+';
    if (size === undefined || isRefusedNow) {
      this.#command = { line: '', literals: [], refusal: undefined };
      this.#literal = undefined;
      this.#literalBytes = 0;
      return { ...command, line: command.line.replace(/\r?\n$/, '') };
    }
    this.#missingBytes = bytes;
    this.#literal = command.refusal === undefined ? new Uint8Array(bytes) : undefined;
    if (this.#literal) command.literals.push(this.#literal);
    return plus === '' ? 'continue' : undefined;
  }

  #refuseLiteral(bytes: number): string | undefined {
    this.#literalBytes += bytes;
    if (/^\S+ append /i.test(this.#command.line.slice(0, 300))) return this.#admit(bytes);
    return this.#literalBytes > MAX_LITERAL_BYTES ? 'BAD The literals of the command are too long.' : undefined;
  }
}
