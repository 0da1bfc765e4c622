import { describe, expect, test } from 'vitest';
import { isLongJson, JsonInText, lazyList, toJsonPieces } from '../../src/basics/json-pieces.ts';
import { showRow } from '../../src/world/store/state.ts';

const write = (value: unknown) => [...toJsonPieces(value)].join('');

const LONG = 'Hello "Dana"\n\\ ☃ \u0001 '.repeat(10_000);

describe('JSON that is written in pieces', () => {
  test.for<[name: string, value: unknown]>([
    ['a small value', { a: [1, 'b', null, true, undefined], c: undefined, d: {} }],
    ['a long text', LONG],
    [
      'long texts in a list in an object',
      {
        messages: [
          { id: '1', text: LONG },
          { text: LONG, html: null },
        ],
        total: 2,
      },
    ],
    [
      'many small items',
      { items: Array.from({ length: 20_000 }, (_, id) => ({ id, name: `name ${id}`, tags: ['a'] })) },
    ],
    ['empty lists and objects beside a long text', { a: [], b: {}, c: LONG, d: [[]] }],
    ['a deep value', Array.from({ length: 100 }).reduce<unknown>((inner) => ({ inner }), LONG)],
    ['dates beside a long text', { at: [new Date(0)], text: LONG }],
    ['nothing', null],
  ])('is the JSON of JSON.stringify: %s', ([, value]) => {
    expect(write(value)).toBe(JSON.stringify(value));
  });

  test('is the same wherever a surrogate pair, or half of one, is in a long text', () => {
    const unit = 32 * 1024;
    for (const text of ['\ud83d\ude00', '\ud83d', '\ude00', '\ude00\ud83d']) {
      for (const before of [-3, -2, -1, 0, 1]) {
        const whole = 'a'.repeat(unit + before) + text + 'b'.repeat(unit) + text;
        expect(write({ whole })).toBe(JSON.stringify({ whole }));
      }
    }
  });

  test('can stand in a text, which is never written as a whole', () => {
    const value = { messages: [{ text: LONG }, { text: '\ud83d\ude00'.repeat(40_000) }] };
    const expected = JSON.stringify({ content: [JSON.stringify(value)] });
    const pieces = [...toJsonPieces({ content: [new JsonInText(value)] })];
    expect(pieces.join('')).toBe(expected);
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(expected.length / 3);
    expect(JSON.stringify({ content: [new JsonInText(value)] })).toBe(expected);
  });

  test('has the bytes of rows in base64, and the items of a list that creates them', () => {
    const content = new Uint8Array(200_001).fill(7);
    const list = lazyList(() => [{ a: 1 }, showRow({ content })]);
    const expected = JSON.stringify([{ a: 1 }, { content: Buffer.from(content).toString('base64') }]);
    expect(write(list)).toBe(expected);
    expect(write({ list })).toBe(`{"list":${expected}}`);
  });

  test('comes in pieces of similar size, however large the value is', () => {
    const value = { one: LONG, many: Array.from({ length: 50_000 }, (_, id) => ({ id })) };
    const lengths = [...toJsonPieces(value)].map(({ length }) => length);
    expect(Math.max(...lengths)).toBeLessThan(6 * 64 * 1024);
    expect(Math.min(...lengths.slice(0, -1))).toBeGreaterThanOrEqual(64 * 1024);
  });

  test('is only looked at as far as the limit, to find out whether it is long', () => {
    let reads = 0;
    const items = Array.from({ length: 1_000_000 });
    const counted = new Proxy(items, {
      get(target, name) {
        reads += 1;
        return Reflect.get(target, name);
      },
    });
    expect(isLongJson({ counted }, 1_000)).toBe(true);
    expect(reads).toBeLessThan(2_000);
    expect(isLongJson({ text: 'a'.repeat(900) }, 1_000)).toBe(false);
    expect(isLongJson({ text: 'a'.repeat(1_100) }, 1_000)).toBe(true);
  });
});
