/**
 * Splits bytes in UTF-8 into lines. The lines are the same however the bytes are cut into chunks, also within a
 * character or between CR and LF. Each byte is looked at once. A line ends with LF or CRLF.
 */
export class LineSplitter {
  readonly #decoder = new TextDecoder();
  readonly #maxLength: number;
  #line = '';

  /** What a line has beyond `maxLength` characters is dropped. */
  constructor(maxLength = Number.POSITIVE_INFINITY) {
    this.#maxLength = maxLength;
  }

  /** Reads a chunk and returns the lines that end in it. */
  read(chunk: Uint8Array): string[] {
    return this.#split(this.#decoder.decode(chunk, { stream: true }));
  }

  /** Returns the line without an end, after the last chunk. It may be empty. */
  readRest(): string {
    this.#append(this.#decoder.decode());
    return this.#line;
  }

  #split(text: string): string[] {
    const [first = '', ...others] = text.split('\n');
    const lines: string[] = [];
    this.#append(first);
    for (const piece of others) {
      lines.push(this.#line.endsWith('\r') ? this.#line.slice(0, -1) : this.#line);
      this.#line = '';
      this.#append(piece);
    }
    return lines;
  }

  #append(text: string): void {
    const room = this.#maxLength - this.#line.length;
    if (room > 0) this.#line += text.slice(0, room);
  }
}
