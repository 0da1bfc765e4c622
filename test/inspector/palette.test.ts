import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const STYLE = readFileSync(new URL('../../src/inspector/inspector.css', import.meta.url), 'utf8');

/** The colours of the palette by name, each for a light and a dark page. */
const COLOURS: ReadonlyMap<string, readonly [light: string, dark: string]> = new Map(
  [...STYLE.matchAll(/--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)/g)].map(
    ([, name = '', light = '', dark = '']) => [name, [light, dark]] as const,
  ),
);

/** Returns the relative luminance of a colour such as `#3a4fd0`, as WCAG 2 defines it. */
function luminanceOf(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((index) => {
    const value = Number.parseInt(colour.slice(index, index + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Returns the contrast of two colours of the palette, the smaller one of the light and the dark page. */
function contrastOf(front: string, back: string): number {
  const contrasts = [0, 1].map((mode) => {
    const [one = 0, other = 0] = [front, back].map((name) => luminanceOf(COLOURS.get(name)?.[mode] ?? ''));
    return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
  });
  return Math.min(...contrasts);
}

const TEXTS = ['text', 'soft', 'accent', 'good', 'warn', 'bad'];

/** The backgrounds of pages, of rows in each of their states, and of chips. */
const BACKS = ['back', 'raised', 'sunken', 'chosen', 'arrived', 'plain-back', 'good-back', 'warn-back', 'bad-back'];

test.for(TEXTS)('a text of the colour %s can be read on every background', (text) => {
  for (const back of BACKS) expect(contrastOf(text, back), back).toBeGreaterThanOrEqual(4.5);
});

test('a hit of a search and a text on the accent can be read, and the focus and the edges of fields can be seen', () => {
  expect(contrastOf('text', 'hit')).toBeGreaterThanOrEqual(4.5);
  expect(contrastOf('on-accent', 'accent')).toBeGreaterThanOrEqual(4.5);
  for (const back of ['back', 'raised', 'chosen']) {
    expect(contrastOf('accent', back), back).toBeGreaterThanOrEqual(3);
    expect(contrastOf('edge', back), back).toBeGreaterThanOrEqual(3);
  }
});

test('a colour that is no token of the palette is nowhere', () => {
  const rules = STYLE.slice(STYLE.indexOf('}'));
  const colours = rules.match(/#[\da-f]{3,8}\b|\b(?:rgb|hsl|oklch|light-dark)\([^)]*\)/g) ?? [];
  // The background of a mail is white, as mail programs show it. Shadows are black.
  expect([...new Set(colours)].sort()).toEqual(['#fff', 'rgb(0 0 0 / 0.25)', 'rgb(0 0 0 / 0.4)']);
});
