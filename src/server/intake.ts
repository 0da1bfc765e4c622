import type { ServerResponse } from 'node:http';
import { performance } from '../basics/real-timers.ts';
import { MAX_MAIL_BYTES, showSize } from '../basics/size.ts';
import { ApiError } from '../contract/errors.ts';

/** Counts the bytes of one request or mail, as they arrive, until it has been handled. */
export interface ByteCounter {
  /**
   * Counts bytes that have arrived. If there is no room for them, returns an error and does not count them. Returns the
   * same error if this request or mail has lost its room to others.
   */
  add(bytes: number): ApiError | undefined;
  /** Removes all bytes of this request or mail from the count, and refuses further bytes. */
  release(): void;
}

/** A request or mail of which bytes are counted. */
interface Entry {
  bytes: number;
  readonly startedAt: number;
  /** Called when the request or mail loses its room; its bytes must then be dropped. */
  readonly onDropped: ((refusal: ApiError) => void) | undefined;
}

/** Bodies up to this size are not counted. */
const SMALL_BYTES = 64 * 1024;

/** A request or mail that arrives in this time never loses its room to others. */
const UNDISTURBED_MS = 10_000;

/**
 * Limits how much of all requests and mails that are arriving is in memory. Only bytes that have arrived are counted,
 * so that nobody can keep room by announcing a size. If there is no room for more bytes, the request or mail that has
 * kept the most room for the longest time (bytes multiplied by time) loses it, if it began more than ten seconds ago:
 * so a few clients that stop in the middle do not keep everybody else out. If there is none, the one that needs more
 * room is refused.
 */
export class Intake {
  readonly #maxBytes: number;
  readonly #nowMs: () => number;
  readonly #entries = new Set<Entry>();
  #bytes = 0;

  /** The limit is half of the memory for mail, but at least the size of one mail in base64. */
  constructor(memoryForMail: number, nowMs = () => performance.now()) {
    this.#maxBytes = Math.max(memoryForMail / 2, 2 * MAX_MAIL_BYTES);
    this.#nowMs = nowMs;
  }

  /** Creates the counter of one request or mail. Without `onDropped`, it never loses its room to others. */
  createCounter(onDropped?: (refusal: ApiError) => void): ByteCounter {
    const entry: Entry = { bytes: 0, startedAt: this.#nowMs(), onDropped };
    this.#entries.add(entry);
    return {
      add: (bytes) => {
        if (!this.#entries.has(entry)) return this.#createRefusal();
        while (this.#bytes + bytes > this.#maxBytes) {
          const dropped = this.#findToDrop();
          if (!dropped) return this.#createRefusal();
          this.#remove(dropped);
          dropped.onDropped?.(this.#createRefusal());
          if (dropped === entry) return this.#createRefusal();
        }
        entry.bytes += bytes;
        this.#bytes += bytes;
        return undefined;
      },
      release: () => this.#remove(entry),
    };
  }

  #remove(entry: Entry): void {
    if (this.#entries.delete(entry)) this.#bytes -= entry.bytes;
  }

  /** Finds the request or mail that has kept the most room for the longest time. */
  #findToDrop(): Entry | undefined {
    const now = this.#nowMs();
    let [found, mostKept]: [Entry | undefined, number] = [undefined, 0];
    for (const entry of this.#entries) {
      const ageMs = now - entry.startedAt;
      const kept = entry.bytes * ageMs;
      if (entry.onDropped && ageMs > UNDISTURBED_MS && kept > mostKept) [found, mostKept] = [entry, kept];
    }
    return found;
  }

  #createRefusal(): ApiError {
    return new ApiError(
      'STORAGE_FULL',
      `All clients together send more than ${showSize(this.#maxBytes)} at once, which is too much for the ` +
        'memory; try again later.',
    );
  }

  /** Counts the bytes of a body until the reply is sent, unless the request declares that the body is small. */
  count(body: AsyncIterable<Uint8Array>, declaredBytes: number, response: ServerResponse): AsyncIterable<Uint8Array> {
    return declaredBytes <= SMALL_BYTES ? body : this.#count(body, response);
  }

  async *#count(body: AsyncIterable<Uint8Array>, response: ServerResponse) {
    // While the next chunk is awaited, this function ends the wait with an error.
    let stopWaiting = (_: ApiError) => {};
    const counter = this.createCounter((refusal) => {
      // The rest of the body may never come, so no further request can follow it.
      response.shouldKeepAlive = false;
      stopWaiting(refusal);
    });
    response.once('close', counter.release);
    if (response.closed) counter.release();
    const iterator = body[Symbol.asyncIterator]();
    try {
      for (;;) {
        const { done, value } = await new Promise<IteratorResult<Uint8Array>>((resolve, reject) => {
          stopWaiting = reject;
          iterator.next().then(resolve, reject);
        });
        if (done) return;
        const refusal = counter.add(value.byteLength);
        if (refusal) throw refusal;
        yield value;
      }
    } finally {
      // The end of the iterator is not awaited, because it waits for a chunk that is still awaited. If the body failed,
      // `next` has thrown the error.
      iterator.return?.().catch(() => undefined);
    }
  }
}
