import fc from 'fast-check';

/** The halves of characters, which are no characters. */
const SURROGATES = { first: 0xd800, count: 0x800 };

/** Any character. `unit: 'binary'` means the same, but fast-check needs a second to list all 1.1 million of them. */
export const anyCharacter: fc.Arbitrary<string> = fc
  .nat({ max: 0x10ffff - SURROGATES.count })
  .map(characterAt, (value) => placeOf(String(value)));

function characterAt(place: number): string {
  return String.fromCodePoint(place < SURROGATES.first ? place : place + SURROGATES.count);
}

function placeOf(text: string): number {
  const code = text.codePointAt(0) ?? 0;
  const place = code < SURROGATES.first ? code : code - SURROGATES.count;
  if (characterAt(place) !== text) throw new Error(`${JSON.stringify(text)} is not a character.`);
  return place;
}

const LETTERS_AND_DIGITS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

const encoded = anyCharacter.map((character) => {
  const text = encodeURIComponent(character);
  return text === character ? `%${character.charCodeAt(0).toString(16)}` : text;
});

/** A text in a URL, with encoded characters. `fc.webSegment()` means the same, but lists all characters too. */
export function urlText(punctuation: string): fc.Arbitrary<string> {
  const plain = fc.constantFrom(...LETTERS_AND_DIGITS, ...punctuation);
  return fc.string({ unit: fc.oneof({ arbitrary: plain, weight: 10 }, { arbitrary: encoded, weight: 1 }) });
}
