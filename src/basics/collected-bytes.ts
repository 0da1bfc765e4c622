/**
 * Collects bytes that arrive in pieces of any size. Each piece is copied at once, because a client may send a million
 * pieces of one byte, and each piece that is kept takes a hundred times as much memory. At most twice as much as has
 * arrived is reserved.
 */
export class CollectedBytes {
  #bytes = new Uint8Array();
  #length = 0;

  /** How many bytes have been added. */
  get length(): number {
    return this.#length;
  }

  /** Adds a piece. No more than `maxLength` bytes are reserved for all pieces, unless more are added. */
  add(piece: Uint8Array, maxLength = Number.POSITIVE_INFINITY): void {
    const length = this.#length + piece.length;
    if (length > this.#bytes.length) {
      // The first piece is often the only one.
      const wanted = this.#length === 0 ? length : 2 * length;
      const enlarged = new Uint8Array(Math.max(length, Math.min(wanted, maxLength)));
      enlarged.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = enlarged;
    }
    this.#bytes.set(piece, this.#length);
    this.#length = length;
  }

  /** Returns all bytes, and begins anew. */
  take(): Uint8Array<ArrayBuffer> {
    const bytes = this.#length === this.#bytes.length ? this.#bytes : this.#bytes.slice(0, this.#length);
    this.#bytes = new Uint8Array();
    this.#length = 0;
    return bytes;
  }
}
