/**
 * Text of somebody else on a terminal: of a mail, a server, a file or an agent. It must not move the cursor, imitate
 * another line or turn the order of a line around, so control characters (C0, DEL and C1), marks of direction, and line
 * and paragraph separators are never printed. Nor are the others of Unicode's category C, some of which are invisible.
 */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** Returns a text as one line: `?` takes the place of every character that must not be printed, also of a line break. */
export function toPrintable(text: string): string {
  return text.replace(UNPRINTABLE, '?');
}

/**
 * Returns a text of several lines without what must not be printed. Line breaks and tabs stay, and so do colours if
 * `keepsColours` is set, for a text that this program has coloured.
 */
export function toPrintableLines(text: string, { keepsColours = false } = {}): string {
  return text.replace(UNPRINTABLE, (character, at: number) => {
    if (character === '\n' || character === '\t') return character;
    const isColour = keepsColours && character === '\u001b' && COLOUR.test(text.slice(at + 1, at + 6));
    return isColour ? character : '?';
  });
}

/** What follows the ESC of a colour or a style, such as `[32m`. */
const COLOUR = /^\[\d{1,3}m/;

/** Returns a value as JSON whose texts have escapes for what must not be printed. It means the same as without them. */
export function toPrintableJson(value: unknown, space?: number): string {
  const json = String(JSON.stringify(value, undefined, space));
  return json.replace(UNPRINTABLE, (character) => {
    if (character === '\n') return character;
    const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
  });
}
