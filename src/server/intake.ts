import type { ServerResponse } from 'node:http';
import { MAX_MAIL_BYTES, showSize } from '../basics/size.ts';
import { ApiError } from '../contract/errors.ts';

/** The bytes of one request or mail that has not been handled yet. */
export interface HeldBytes {
  /** Counts more bytes. If all clients together send too much, it returns an error and does not count them. */
  add(bytes: number): ApiError | undefined;
  /** Removes the bytes from the count. */
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

  /** Returns the counter of one request or mail. */
  hold(): HeldBytes {
    let held = 0;
    let isReleased = false;
    return {
      add: (bytes) => {
        if (isReleased || this.#bytes + bytes > this.#maxBytes) {
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
        isReleased = true;
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
    // The declared size is counted at once, because otherwise many bodies could begin to arrive, and none would fit.
    const isDeclared = Number.isFinite(declaredBytes);
    throwIfRefused(isDeclared ? held.add(declaredBytes) : undefined);
    for await (const chunk of body) {
      if (!isDeclared) throwIfRefused(held.add(chunk.byteLength));
      yield chunk;
    }
  }
}

function throwIfRefused(refusal: ApiError | undefined): void {
  if (refusal) throw refusal;
}
