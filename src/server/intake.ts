import type { ServerResponse } from 'node:http';
import { MAX_MAIL_BYTES, showSize } from '../basics/size.ts';
import { ApiError } from '../contract/errors.ts';

/** Counts the bytes of one request or mail until it has been handled. */
export interface ByteCounter {
  /** Counts more bytes. If all clients together send too much, returns an error and does not count these bytes. */
  add(bytes: number): ApiError | undefined;
  /** Removes all bytes of this request or mail from the count, and refuses further bytes. */
  release(): void;
}

/** Bodies up to this size are not counted. */
const SMALL_BYTES = 64 * 1024;

/** Limits how much all clients together send at once, so that they cannot use up the memory. */
export class Intake {
  readonly #maxBytes: number;
  #bytes = 0;

  /** The limit is half of the memory for mail, but at least the size of one mail in base64. */
  constructor(memoryForMail: number) {
    this.#maxBytes = Math.max(memoryForMail / 2, 2 * MAX_MAIL_BYTES);
  }

  /** Creates the counter of one request or mail. */
  createCounter(): ByteCounter {
    let counted = 0;
    let isReleased = false;
    return {
      add: (bytes) => {
        if (isReleased || this.#bytes + bytes > this.#maxBytes) {
          return new ApiError(
            'STORAGE_FULL',
            `All clients together send more than ${showSize(this.#maxBytes)} at once, which is too much for the ` +
              'memory; try again later.',
          );
        }
        counted += bytes;
        this.#bytes += bytes;
        return undefined;
      },
      release: () => {
        this.#bytes -= counted;
        counted = 0;
        isReleased = true;
      },
    };
  }

  /** Counts the bytes of a body until the reply is sent, unless the request declares that the body is small. */
  count(body: AsyncIterable<Uint8Array>, declaredBytes: number, response: ServerResponse): AsyncIterable<Uint8Array> {
    return declaredBytes <= SMALL_BYTES ? body : this.#count(body, declaredBytes, response);
  }

  async *#count(body: AsyncIterable<Uint8Array>, declaredBytes: number, response: ServerResponse) {
    const counter = this.createCounter();
    response.once('close', counter.release);
    if (response.closed) counter.release();
    // The declared size is counted at once. Otherwise, more bodies could begin to arrive than there is room for.
    const isDeclared = Number.isFinite(declaredBytes);
    throwIfRefused(isDeclared ? counter.add(declaredBytes) : undefined);
    for await (const chunk of body) {
      if (!isDeclared) throwIfRefused(counter.add(chunk.byteLength));
      yield chunk;
    }
  }
}

function throwIfRefused(refusal: ApiError | undefined): void {
  if (refusal) throw refusal;
}
