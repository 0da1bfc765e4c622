import type { ServerResponse } from 'node:http';
import { performance } from '../basics/real-timers.ts';
import { showSize } from '../basics/size.ts';
import { ApiError } from '../contract/errors.ts';
import type { Environment } from '../world/environment.ts';
import { LIMITS, memoryForClients } from './server-limits.ts';

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

/** Whose bytes are counted, and how they are dropped. */
export interface CounterOptions {
  /** The names of the client, as `nameClient` returns them. The room of a name is shared by all of its connections. */
  readonly client: readonly string[];
  /**
   * Called when the request or mail loses its room to others. It must drop the bytes at once, and refuse the rest or
   * end the connection.
   */
  readonly onDropped: (refusal: ApiError) => void;
}

/** A request or mail of which bytes are counted. */
interface Entry extends CounterOptions {
  bytes: number;
  /** When its first bytes arrived; `undefined` before. */
  startedAt: number | undefined;
}

/**
 * Limits how much of all requests and mails that are arriving is in memory. Only bytes that have arrived are counted,
 * so that nobody can keep room by announcing a size. While there is room, any client may take it. If there is no room
 * for more bytes, others give up theirs, until there is:
 *
 * - A client that needs no more than its share of the room (`LIMITS.share`) gets it from those that have more than their
 *   share, at once. So one client cannot keep the others out, however many connections it has.
 * - Otherwise, a request or mail loses its room only if it began some time ago (`LIMITS.undisturbed`). So a few clients that stop
 *   in the middle do not keep everybody else out, and one that sends without a pause gets to its end.
 *
 * Of these requests and mails, the one that has kept the most room for the longest time (bytes multiplied by time) is
 * the first. If there is none, the one that needs more room is refused.
 */
export class Intake {
  readonly #maxBytes: number;
  readonly #shareBytes: number;
  readonly #nowMs: () => number;
  readonly #entries = new Set<Entry>();
  /** How many bytes are counted for each name of a client. */
  readonly #bytesByName = new Map<string, number>();
  #bytes = 0;

  constructor(environment: Pick<Environment, 'memory'>, nowMs = () => performance.now()) {
    this.#maxBytes = memoryForClients(environment);
    this.#shareBytes = this.#maxBytes * LIMITS.share.value;
    this.#nowMs = nowMs;
  }

  /** Creates the counter of one request or mail. */
  createCounter({ client, onDropped }: CounterOptions): ByteCounter {
    const entry: Entry = { client, onDropped, bytes: 0, startedAt: undefined };
    this.#entries.add(entry);
    return {
      add: (bytes) => {
        if (!this.#entries.has(entry)) return this.#createRefusal();
        entry.startedAt ??= this.#nowMs();
        while (this.#bytes + bytes > this.#maxBytes) {
          const dropped = this.#findToDrop(entry, bytes);
          if (!dropped) return this.#createRefusal();
          this.#remove(dropped);
          dropped.onDropped(this.#createRefusal());
          if (dropped === entry) return this.#createRefusal();
        }
        this.#count(entry, bytes);
        return undefined;
      },
      release: () => this.#remove(entry),
    };
  }

  #count(entry: Entry, bytes: number): void {
    entry.bytes += bytes;
    this.#bytes += bytes;
    for (const name of entry.client) {
      const sum = this.#bytesOf(name) + bytes;
      if (sum > 0) this.#bytesByName.set(name, sum);
      else this.#bytesByName.delete(name);
    }
  }

  #remove(entry: Entry): void {
    if (this.#entries.delete(entry)) this.#count(entry, -entry.bytes);
  }

  #bytesOf(name: string): number {
    return this.#bytesByName.get(name) ?? 0;
  }

  /** Finds the request or mail that loses its room to one that needs more bytes; `undefined` if there is none. */
  #findToDrop(needing: Entry, bytes: number): Entry | undefined {
    const now = this.#nowMs();
    const beyondShare = [...this.#entries].filter((entry) => this.#isBeyondShare(entry, needing, bytes));
    const mayLose = beyondShare.length > 0 ? beyondShare : [...this.#entries].filter(isOld);
    let [found, mostKept]: [Entry | undefined, number] = [undefined, 0];
    for (const entry of mayLose) {
      // What began just now has kept its bytes for a time, too.
      const kept = entry.bytes * Math.max(1, ageOf(entry));
      if (kept > mostKept) [found, mostKept] = [entry, kept];
    }
    return found;

    function ageOf({ startedAt = now }: Entry): number {
      return now - startedAt;
    }
    function isOld(entry: Entry): boolean {
      return ageOf(entry) > LIMITS.undisturbed.value;
    }
  }

  /**
   * Returns whether the client of an entry has more than its share, and that of the other entry would not have more
   * with so many more bytes. Names that both clients have say nothing about which of them has too much.
   */
  #isBeyondShare(entry: Entry, needing: Entry, bytes: number): boolean {
    const isTooMuch = (name: string) => !needing.client.includes(name) && this.#bytesOf(name) > this.#shareBytes;
    const isEnough = (name: string) => entry.client.includes(name) || this.#bytesOf(name) + bytes <= this.#shareBytes;
    return entry.client.some(isTooMuch) && needing.client.every(isEnough);
  }

  #createRefusal(): ApiError {
    return new ApiError(
      'STORAGE_FULL',
      `All clients together send more than ${showSize(this.#maxBytes)} at once, which is too much for the ` +
        'memory; try again later.',
    );
  }

  /**
   * Counts the bytes of the body of a request until its reply is sent, unless the request declares that the body is
   * small. `findClient` returns the names of the client. If the request loses its room when the whole body has arrived,
   * its connection is closed, so that its work ends.
   */
  countBody(
    body: AsyncIterable<Uint8Array>,
    declaredBytes: number,
    response: ServerResponse,
    findClient: () => readonly string[],
  ): AsyncIterable<Uint8Array> {
    return declaredBytes <= LIMITS.uncountedBody.value ? body : this.#countChunks(body, response, findClient);
  }

  async *#countChunks(body: AsyncIterable<Uint8Array>, response: ServerResponse, findClient: () => readonly string[]) {
    // While the next chunk is awaited, this function ends the wait with an error.
    let stopWaiting: ((refusal: ApiError) => void) | undefined = () => {};
    const counter = this.createCounter({
      client: findClient(),
      onDropped(refusal) {
        // The rest of the body may never come, so no further request can follow it.
        response.shouldKeepAlive = false;
        if (stopWaiting) stopWaiting(refusal);
        else response.destroy();
      },
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
      stopWaiting = undefined;
      // The end of the iterator is not awaited, because it waits for a chunk that is still awaited. If the body failed,
      // `next` has thrown the error.
      iterator.return?.().catch(() => undefined);
    }
  }
}
