import { ApiError } from '../contract/errors.ts';
import type { ApiRequest } from './http.ts';

/** The maximum size of a body, in bytes. A larger body is refused without waiting for the rest of it. */
export const MAX_BODY_BYTES = 1024 * 1024;

/** A received body: its bytes, or the reason why there are none. */
export type ReceivedBody = Uint8Array | 'empty' | 'too-large' | 'truncated';

/**
 * Reads a body up to the limit. A wrong body is no error yet, because the key must be checked before it is refused.
 *
 * @throws {ApiError} STORAGE_FULL if there is no memory for it.
 */
export async function readBody(request: ApiRequest, limitBytes = MAX_BODY_BYTES): Promise<ReceivedBody> {
  if (!request.body) return 'empty';
  if (Number(request.headers.get('content-length')) > limitBytes) return 'too-large';
  try {
    return await readUpToLimit(request.body, limitBytes);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    return 'truncated';
  }
}

async function readUpToLimit(body: AsyncIterable<Uint8Array>, limitBytes: number): Promise<ReceivedBody> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.byteLength;
    if (length > limitBytes) return 'too-large';
    chunks.push(chunk);
  }
  return length === 0 ? 'empty' : concatenate(chunks, length);
}

function concatenate(chunks: Uint8Array[], length: number): Uint8Array {
  const [only] = chunks;
  if (only?.byteLength === length) return only;
  const whole = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return whole;
}
