import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { showSize } from '../basics/size.ts';
import { type Environment, startTimer } from '../world/environment.ts';
import { LIMITS, memoryForClients } from './server-limits.ts';
import type { Log } from './server-log.ts';

/** The limits of what waits until clients read it. */
export interface OutputLimits {
  /** How many bytes may wait for all clients together. */
  readonly maxBytes: number;
  /** How long bytes may wait for a client that takes none of them. */
  readonly stalledMs: number;
  /** The interval between two checks of the clients for which bytes wait. */
  readonly checkMs: number;
}

/** The interval between two checks of the clients for which bytes wait. */
const CHECK_MS = 1_000;

/** A connection for which bytes wait, or may wait. */
interface Entry {
  /** What the log calls the client, such as `imap`. */
  readonly protocol: string;
  /** Whether the connection is looked at even if nothing is known to wait. */
  isWatched: boolean;
  /** The bytes that were counted for the connection at the latest look. */
  bytes: number;
  /** Counts the bytes of a reply that are not written to the socket yet, but are in memory. */
  countHeldBytes: () => number;
  /** What `progressOf` returned at the latest check. */
  progress: number;
  /** At how many checks, one after another, the client had taken nothing. */
  idleChecks: number;
}

/**
 * Limits what waits in memory until clients read it. This is the rule for the clients of every protocol:
 *
 * - A reply is produced piece by piece: the next piece when the client has taken the earlier ones (`untilTaken`). What
 *   cannot be produced so, such as an event for a WebSocket, has a limit for each connection, at its own place.
 * - A connection for which bytes wait, and whose client takes none of them for a time (`LIMITS.stalled`), is closed.
 * - If too many bytes wait for all clients together, connections are closed until there is room again. The first one
 *   is that whose bytes multiplied by the time since the client last took one are the most. So a client that reads is
 *   never closed in the place of one that does not.
 *
 * Whoever writes to a socket calls `written` afterwards. A client that takes its bytes at once costs nothing more. A
 * socket to which a library writes is watched instead.
 */
export class WaitingOutput {
  readonly #startTimer: typeof startTimer;
  readonly #log: Log | undefined;
  readonly #limits: OutputLimits;
  readonly #entries = new Map<Socket, Entry>();
  #bytes = 0;
  #isCheckPlanned = false;

  /**
   * The checks repeat as long as bytes wait, so they use real timers, unless a test of this class runs them itself: the
   * timers of the environment may be those of a user's test, which fire at once.
   */
  constructor(
    environment: Pick<Environment, 'memory'>,
    log: Log | undefined,
    limits: Partial<OutputLimits> = {},
    start = startTimer,
  ) {
    this.#startTimer = start;
    this.#log = log;
    this.#limits = {
      maxBytes: memoryForClients(environment),
      stalledMs: LIMITS.stalled.value,
      checkMs: CHECK_MS,
      ...limits,
    };
  }

  /** How many bytes wait for all clients together, as far as they are known. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Counts what now waits for a client. Call it after each write to a socket. `heldBytes` is the size of what is in
   * memory for this client and was not written yet, or a function that counts it at each look. It may close this
   * connection or another one.
   */
  written(socket: Socket, protocol: string, heldBytes: number | (() => number) = 0): void {
    // Most clients have taken everything at once.
    if (socket.writableLength === 0 && heldBytes === 0 && !this.#entries.has(socket)) return;
    const entry = this.#entryOf(socket, protocol);
    entry.countHeldBytes = typeof heldBytes === 'number' ? () => heldBytes : heldBytes;
    this.#count(socket, entry);
    if (this.#bytes > this.#limits.maxBytes) this.#makeRoom();
    this.#checkLater();
  }

  /** Looks at a socket at each check until it closes, because a library writes to it. */
  watch(socket: Socket, protocol: string): void {
    this.#entryOf(socket, protocol).isWatched = true;
    this.#checkLater();
  }

  #entryOf(socket: Socket, protocol: string): Entry {
    const known = this.#entries.get(socket);
    if (known) return known;
    const entry: Entry = {
      protocol,
      isWatched: false,
      bytes: 0,
      countHeldBytes: () => 0,
      progress: progressOf(socket),
      idleChecks: 0,
    };
    this.#entries.set(socket, entry);
    return entry;
  }

  /** Updates the bytes that are counted for a connection. Forgets it if nothing waits any more. */
  #count(socket: Socket, entry: Entry): void {
    const bytes = socket.destroyed ? 0 : socket.writableLength + entry.countHeldBytes();
    this.#bytes += bytes - entry.bytes;
    entry.bytes = bytes;
    if (bytes === 0 && (socket.destroyed || !entry.isWatched)) this.#entries.delete(socket);
  }

  #close(socket: Socket, entry: Entry, reason: string): void {
    const { protocol, bytes } = entry;
    const client = `${socket.remoteAddress}:${socket.remotePort}`;
    this.#log?.({ name: protocol, sign: '!', text: `closed ${client}: ${reason} (${bytes} bytes)`, colourStatus: 499 });
    socket.destroy();
    this.#count(socket, entry);
  }

  /** Closes connections until there is room again. */
  #makeRoom(): void {
    for (const [socket, entry] of [...this.#entries]) this.#count(socket, entry);
    if (this.#bytes <= this.#limits.maxBytes) return;
    const burdens = [...this.#entries].map(([socket, entry]) => {
      const checks = progressOf(socket) === entry.progress ? entry.idleChecks + 1 : 0;
      return { socket, entry, burden: entry.bytes * checks };
    });
    burdens.sort((one, other) => other.burden - one.burden || other.entry.bytes - one.entry.bytes);
    const limit = showSize(this.#limits.maxBytes);
    for (const { socket, entry } of burdens) {
      if (this.#bytes <= this.#limits.maxBytes) return;
      this.#close(socket, entry, `more than ${limit} wait for all clients, and this one has kept the most waiting`);
    }
  }

  /** Closes the connections of clients that take nothing. */
  #check(): void {
    const { stalledMs, checkMs } = this.#limits;
    for (const [socket, entry] of [...this.#entries]) {
      this.#count(socket, entry);
      const progress = progressOf(socket);
      entry.idleChecks = entry.bytes > 0 && progress === entry.progress ? entry.idleChecks + 1 : 0;
      entry.progress = progress;
      // The first check may come just after the bytes were written, so the client gets one check more.
      if (entry.idleChecks * checkMs > stalledMs) {
        this.#close(socket, entry, `the client has taken nothing for ${stalledMs / 1_000} s`);
      }
    }
    this.#checkLater();
  }

  #checkLater(): void {
    if (this.#isCheckPlanned || this.#entries.size === 0) return;
    this.#isCheckPlanned = true;
    this.#startTimer(this.#limits.checkMs, () => {
      this.#isCheckPlanned = false;
      this.#check();
    });
  }
}

/**
 * Resolves when the client of a socket, or of a response, has taken so much of what was written that the next piece may
 * be produced. The result is false if the connection has closed.
 */
export async function untilTaken(stream: Writable): Promise<boolean> {
  if (stream.writableNeedDrain && !stream.destroyed) {
    await new Promise<void>((resolve) => {
      const done = () => {
        stream.off('drain', done).off('close', done);
        resolve();
      };
      stream.on('drain', done).on('close', done);
    });
  }
  return !stream.destroyed;
}

/**
 * Returns a number that changes whenever a client takes some of its bytes. Node counts a chunk as written when all of
 * it was taken, which for a large chunk can be late, so the queue of the handle is looked at too. Where a runtime does
 * not have it, whole chunks count.
 */
function progressOf(socket: Socket): number {
  const { _handle: handle } = socket as { readonly _handle?: { readonly writeQueueSize?: number } | null };
  return socket.bytesWritten - socket.writableLength - (handle?.writeQueueSize ?? 0);
}
