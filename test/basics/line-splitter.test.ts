import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LineSplitter } from '../../src/basics/line-splitter.ts';
import { createControlClient } from '../../src/control/table/client.ts';
import { cutAt } from '../support/replayed-imap.ts';

function split(chunks: readonly Uint8Array[], maxLength?: number): string[] {
  const splitter = new LineSplitter(maxLength);
  return [...chunks.flatMap((chunk) => splitter.read(chunk)), splitter.readRest()];
}

const TEXT = 'one\r\ntwo € 😀\n\n\r\nüber\r alone\n{"a":"ä"}\r\nrest €';

test('lines are the same wherever the bytes are cut', () => {
  const bytes = Buffer.from(TEXT);
  const lines = ['one', 'two € 😀', '', '', 'über\r alone', '{"a":"ä"}', 'rest €'];
  expect(split([bytes])).toEqual(lines);
  for (let at = 0; at <= bytes.length; at += 1) expect(split(cutAt(bytes, [at]))).toEqual(lines);
  expect(split(Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(lines);
});

test('any bytes give the same lines in any chunks, also with a maximum length', () => {
  const bytes = fc.array(fc.constantFrom(10, 13, 0x61, 0xc3, 0xa4, 0xf0, 0x9f, 0x98, 0x80, 0xef, 0xbb, 0xbf), {
    maxLength: 60,
  });
  const cuts = fc.array(fc.nat(60), { maxLength: 12 });
  fc.assert(
    fc.property(bytes, cuts, fc.nat(10), (list, positions, maxLength) => {
      const whole = Buffer.from(list);
      expect(split(cutAt(whole, positions))).toEqual(split([whole]));
      expect(split(cutAt(whole, positions), maxLength)).toEqual(split([whole], maxLength));
    }),
    { numRuns: 500 },
  );
});

test('a client of the control plane reads the same events wherever their bytes are cut', async () => {
  const events = [{ subject: 'Größe €' }, { subject: '😀\n\n' }];
  const text = `:\n\n${events.map((event, id) => `id: ${id}\ndata: ${JSON.stringify(event)}\n\n`).join(':\n\n')}data: {"cut`;
  const bytes = Buffer.from(text);
  const read = async (chunks: readonly Uint8Array[]) => {
    const body = new ReadableStream({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(chunk);
        controller.close();
      },
    });
    const headers = { 'content-type': 'text/event-stream' };
    const send = async () => new Response(body, { headers });
    const found: unknown[] = [];
    for await (const event of await createControlClient({ control: 'http://x', send }).readFeed()) found.push(event);
    return found;
  };
  for (let at = 0; at <= bytes.length; at += 1) expect(await read(cutAt(bytes, [at]))).toEqual(events);
  expect(await read(Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(events);
});
