import type { ServerResponse } from 'node:http';
import { MAX_MAIL_BYTES, showSize } from '../basics/size.ts';
import { ApiError } from '../contract/errors.ts';

/** The bytes of one request or mail that has not been handled yet. */
export interface HeldBytes {
  /** Counts more bytes, or returns the error that says that too much arrives at once. */
  add(bytes: number): ApiError | undefined;
  /** Stops counting them. */
  release(): void;
}

/** Bodies up to this size are not counted. */
const SMALL_BYTES = 64 * 1024;

/** Limits how much all clients together send at once, so that no number of clients uses up the memory. */
export class Intake {
  readonly #maxBytes: number;
  #bytes = 0;

  /** Allows half of the memory for mail, and at least one mail in base64. */
  constructor(memoryForMail: number) {
    this.#maxBytes = Math.max(memoryForMail / 2, 2 * MAX_MAIL_BYTES);
  }

  hold(): HeldBytes {
    let held = 0;
    let isOver = false;
    return {
      add: (bytes) => {
        if (isOver || this.#bytes + bytes > this.#maxBytes) {
          return new ApiError(
            'STORAGE_FULL',
            `More than ${showSize(this.#maxBytes)} arrive at once, for which the memory is too small; send it ` +
              'again later.',
          );
        }
        held += bytes;
        this.#bytes += bytes;
        return undefined;
      },
      release: () => {
        this.#bytes -= held;
        held = 0;
        isOver = true;
      },
    };
  }

  /** Counts a body until its reply is sent, unless its header says that it is small. */
  count(body: AsyncIterable<Uint8Array>, declaredBytes: number, response: ServerResponse): AsyncIterable<Uint8Array> {
    return declaredBytes <= SMALL_BYTES ? body : this.#count(body, declaredBytes, response);
  }

  async *#count(body: AsyncIterable<Uint8Array>, declaredBytes: number, response: ServerResponse) {
    const held = this.hold();
    response.once('close', held.release);
    if (response.closed) held.release();
    // All of a body at once: otherwise many could begin to arrive, and none of them would fit.
    const isDeclared = Number.isFinite(declaredBytes);
    refuse(isDeclared ? held.add(declaredBytes) : undefined);
    for await (const chunk of body) {
      if (!isDeclared) refuse(held.add(chunk.byteLength));
      yield chunk;
    }
  }
}

function refuse(refusal: ApiError | undefined): void {
  if (refusal) throw refusal;
}
