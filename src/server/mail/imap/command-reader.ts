/** The longest command, without its literals, in bytes. */
const MAX_LINE_BYTES = 64 * 1024;

/** The size of all literals of a command that stores no mail, in bytes. */
const MAX_LITERAL_BYTES = 64 * 1024;

/** A command that a client sent. */
interface ReadCommand {
  line: string;
  readonly literals: Uint8Array<ArrayBuffer>[];
  /** The reply that refuses the command; `undefined` if the command is accepted. */
  refusal: string | undefined;
}

/** A complete command, or `continue` if the client may now send the literal of a command. */
export type ReadEvent = Readonly<ReadCommand> | 'continue';

/** Reads the commands of a client from chunks of any size. Reads each byte only once. */
export class CommandReader {
  /** Returns the reply that refuses a literal with a mail; `undefined` if the mail may be stored. */
  readonly #findMailRefusal: (bytes: number) => string | undefined;
  #command: ReadCommand = { line: '', literals: [], refusal: undefined };
  /** The literal that is being received; `undefined` if the command is refused, so that the bytes are not kept. */
  #literal: Uint8Array<ArrayBuffer> | undefined;
  /** The number of bytes of the literal that have not arrived yet. */
  #missingBytes = 0;
  /** The size of all literals of the command so far. */
  #literalBytes = 0;

  constructor(findMailRefusal: (bytes: number) => string | undefined) {
    this.#findMailRefusal = findMailRefusal;
  }

  *read(chunk: Buffer): Generator<ReadEvent> {
    for (let position = 0; position < chunk.length; ) {
      if (this.#missingBytes > 0) {
        const piece = chunk.subarray(position, position + this.#missingBytes);
        this.#literal?.set(piece, this.#literal.length - this.#missingBytes);
        this.#missingBytes -= piece.length;
        position += piece.length;
        continue;
      }
      const end = chunk.indexOf(0x0a, position) + 1 || chunk.length;
      const piece = chunk.toString('latin1', position, end);
      position = end;
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
    if (size !== undefined) command.refusal ??= this.#findRefusal(bytes);
    // After a size such as `{5+}`, the client sends the bytes without waiting for a reply, so they must be read anyway.
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

  /** Counts a literal, and returns the reply that refuses it; `undefined` if the client may send it. */
  #findRefusal(bytes: number): string | undefined {
    this.#literalBytes += bytes;
    if (/^\S+ append /i.test(this.#command.line.slice(0, 300))) return this.#findMailRefusal(bytes);
    return this.#literalBytes > MAX_LITERAL_BYTES ? 'BAD The literals of the command are too long.' : undefined;
  }
}
