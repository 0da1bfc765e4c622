import { describe, expect, test } from 'vitest';
import { toPrintable, toPrintableJson, toPrintableLines } from '../../src/basics/printable.ts';

/** Every character that can change what a terminal shows elsewhere: C0, DEL, C1, marks of direction, separators. */
const HOSTILE = [
  ...Array.from({ length: 0x20 }, (_, code) => code),
  ...Array.from({ length: 0x21 }, (_, index) => 0x7f + index),
  ...[0xad, 0x061c, 0x180e, 0x200b, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e],
  ...[0x2066, 0x2067, 0x2068, 0x2069, 0xfeff, 0xfff9, 0xd800, 0xe0001, 0xe0041],
].map((code) => String.fromCodePoint(code));

const PLAIN = 'Grüße, 你好, שלום, 📬 & "quotes" \\';

describe('a text of somebody else', () => {
  test('has no character that moves the cursor, turns a line around or begins a new one', () => {
    for (const character of HOSTILE) {
      expect([character, toPrintable(`a${character}b`)]).toEqual([character, 'a?b']);
    }
    expect(toPrintable(PLAIN)).toBe(PLAIN);
  });

  test('of several lines keeps its line breaks and tabs, and no other such character', () => {
    for (const character of HOSTILE) {
      const isKept = character === '\n' || character === '\t';
      expect(toPrintableLines(`a${character}[2Jb`)).toBe(`a${isKept ? character : '?'}[2Jb`);
    }
  });

  test('keeps the colours of a text that this program has coloured, and no other escape', () => {
    const keepsColours = true;
    expect(toPrintableLines('\u001b[32mok\u001b[39m\u001b[2J\u001b]0;title\u0007', { keepsColours })).toBe(
      '\u001b[32mok\u001b[39m?[2J?]0;title?',
    );
    expect(toPrintableLines('\u001b[32mok')).toBe('?[32mok');
  });

  test('in JSON means the same, with escapes', () => {
    const value = { [HOSTILE.join('')]: [HOSTILE.join('x'), PLAIN, 1, null] };
    for (const space of [undefined, 2]) {
      const json = toPrintableJson(value, space);
      expect(JSON.parse(json)).toEqual(value);
      expect(json.replaceAll('\n', '')).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
      expect(json).toContain('Grüße, 你好, שלום, 📬');
    }
  });
});
