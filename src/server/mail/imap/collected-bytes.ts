/** The size of the largest block in which bytes are collected, and of the smallest. */
const MAX_BLOCK_BYTES = 64 * 1024;
const MIN_BLOCK_BYTES = 512;

/** Collects bytes that arrive in pieces of any size. Reserves at most as much again as has arrived. */
export class CollectedBytes {
  readonly #full: Uint8Array[] = [];
  #block = new Uint8Array();
  #used = 0;
  #bytes = 0;

  /** Adds a piece. `expected` is the number of bytes from this piece on, if it is known. */
  add(piece: Uint8Array, expected = Number.POSITIVE_INFINITY): void {
    let rest = piece;
    for (;;) {
      const part = rest.subarray(0, this.#block.length - this.#used);
      this.#block.set(part, this.#used);
      this.#used += part.length;
      this.#bytes += part.length;
      rest = rest.subarray(part.length);
      if (rest.length === 0) return;
      if (this.#used > 0) this.#full.push(this.#block);
      const growth = Math.min(Math.max(this.#bytes, MIN_BLOCK_BYTES), MAX_BLOCK_BYTES);
      this.#block = new Uint8Array(Math.min(expected - (piece.length - rest.length), Math.max(rest.length, growth)));
      this.#used = 0;
    }
  }

  /** Returns all bytes, and begins anew. */
  take(): Uint8Array<ArrayBuffer> {
    let bytes = this.#block;
    if (bytes.length !== this.#bytes) {
      bytes = new Uint8Array(this.#bytes);
      let at = 0;
      for (const block of [...this.#full, this.#block.subarray(0, this.#used)]) {
        bytes.set(block, at);
        at += block.length;
      }
    }
    this.#full.length = 0;
    this.#block = new Uint8Array();
    this.#used = 0;
    this.#bytes = 0;
    return bytes;
  }

  /** Returns all bytes and a last piece as a text with one character for each byte, and begins anew. */
  takeText(last: Buffer): string {
    const text = this.#bytes === 0 ? '' : Buffer.from(this.take().buffer).toString('latin1');
    return text + last.toString('latin1');
  }
}
