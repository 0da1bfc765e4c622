/** The longest command without its literals, and the largest literals of a command that stores no mail. */
export const MAX_LINE_BYTES = 64 * 1024;
const MAX_TEXT_LITERALS = 64 * 1024;

/** What a client sent: a command, the start of one whose literal it may send now, or one that is refused. */
export type ReadEvent =
  | { readonly kind: 'command'; readonly line: string; readonly literals: Uint8Array<ArrayBuffer>[] }
  | { readonly kind: 'continue' }
  | { readonly kind: 'refused'; readonly line: string; readonly reply: string };

/** Decides whether a literal may be stored; returns the reply if not. */
export type Admit = (line: string, bytes: number) => string | undefined;

/** Reads the commands of a client from pieces of any size. Each byte is looked at once. */
export class CommandReader {
  readonly #admit: Admit;
  #line = '';
  #literals: Uint8Array<ArrayBuffer>[] = [];
  /** The literal that arrives; `undefined` while its bytes are dropped. */
  #literal: Uint8Array<ArrayBuffer> | undefined;
  #missing = 0;
  #literalBytes = 0;
  #refusal: string | undefined;

  constructor(admit: Admit) {
    this.#admit = admit;
  }

  *read(chunk: Buffer): Generator<ReadEvent> {
    for (let at = 0; at < chunk.length; ) {
      if (this.#missing > 0) {
        const piece = chunk.subarray(at, at + this.#missing);
        this.#literal?.set(piece, this.#literal.length - this.#missing);
        this.#missing -= piece.length;
        at += piece.length;
        continue;
      }
      const end = chunk.indexOf(0x0a, at) + 1 || chunk.length;
      const piece = chunk.toString('latin1', at, end);
      at = end;
      if (this.#line.length + piece.length > MAX_LINE_BYTES) this.#refusal ??= 'BAD The command is too long.';
      else this.#line += piece;
      if (piece.endsWith('\n')) yield* this.#endLine(piece);
    }
  }

  *#endLine(piece: string): Generator<ReadEvent> {
    const [, size, plus] = /\{(\d{1,10})(\+?)\}\r?\n$/.exec(piece.slice(-20)) ?? [];
    const bytes = Number(size);
    if (size !== undefined && !this.#refusal) this.#refusal = this.#refuseLiteral(bytes);
    const isRefusedNow = this.#refusal !== undefined && plus !== '+';
    if (size === undefined || isRefusedNow) {
      yield this.#take();
      return;
    }
    this.#missing = bytes;
    this.#literal = this.#refusal === undefined ? new Uint8Array(bytes) : undefined;
    if (this.#literal) this.#literals.push(this.#literal);
    if (plus === '') yield { kind: 'continue' };
  }

  #refuseLiteral(bytes: number): string | undefined {
    this.#literalBytes += bytes;
    if (/^\S+ append /i.test(this.#line.slice(0, 300))) return this.#admit(this.#line, bytes);
    return this.#literalBytes > MAX_TEXT_LITERALS ? 'BAD The literals of the command are too long.' : undefined;
  }

  #take(): ReadEvent {
    const [line, literals, reply] = [this.#line.replace(/\r?\n$/, ''), this.#literals, this.#refusal];
    this.#line = '';
    this.#literals = [];
    this.#literal = undefined;
    this.#literalBytes = 0;
    this.#refusal = undefined;
    return reply === undefined ? { kind: 'command', line, literals } : { kind: 'refused', line, reply };
  }
}
