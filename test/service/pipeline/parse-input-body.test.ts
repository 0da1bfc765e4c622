import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NO_QUERY } from '../../../src/service/pipeline/exchange.ts';
import { readBody } from '../../../src/service/pipeline/parse-input.ts';

async function* yieldEach(chunks: readonly Uint8Array[]): AsyncIterable<Uint8Array> {
  yield* chunks;
}

/** Reads chunks as the body of a request that declares no length. */
function read(chunks: readonly Uint8Array[], limitBytes: number) {
  const headers = new Headers();
  return readBody({ method: 'POST', path: '/', query: NO_QUERY, headers, body: yieldEach(chunks) }, limitBytes);
}

test('however a body is cut into chunks, its bytes are the same, and no chunk is changed', async () => {
  const chunks = fc.array(fc.uint8Array({ maxLength: 20 }), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(chunks, fc.integer({ min: 1, max: 200 }), async (given, limitBytes) => {
      const all = Buffer.concat(given);
      const copies = given.map((chunk) => Uint8Array.from(chunk));
      const received = await read(given, limitBytes);
      if (all.length > limitBytes) expect(received).toBe('too-large');
      else if (all.length === 0) expect(received).toBe('empty');
      else expect(Buffer.from(received as Uint8Array).equals(all)).toBe(true);
      expect(given).toEqual(copies);
    }),
  );
});
