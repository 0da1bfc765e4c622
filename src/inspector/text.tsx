import { type ComponentChildren, h, type JSX } from 'preact';

/** The characters that change the direction of a text, which can make it read as another one. */
const DIRECTION_CONTROL = /([\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069])/;

interface UserTextProps {
  readonly text: string;
  /** The words of a search, which are marked. */
  readonly find?: readonly string[] | undefined;
  /** The element around it, such as `strong`, and its class. */
  readonly inside?: keyof JSX.IntrinsicElements | undefined;
  readonly class?: string;
}

/** A text that somebody outside wrote: in its own direction, with visible direction controls and marked hits. */
export function UserText({ text, find = [], inside, class: name }: UserTextProps) {
  const shown = (
    <bdi dir="auto">
      {text
        .split(DIRECTION_CONTROL)
        .map((part, index) => (index % 2 === 1 ? <Control text={part} /> : mark(part, find)))}
    </bdi>
  );
  return inside ? h(inside, { class: name }, shown) : shown;
}

function Control({ text }: { readonly text: string }) {
  const code = `U+${text.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`;
  return (
    <span class="control" title="A character that changes the direction of the text">
      {code}
    </span>
  );
}

/** Marks each place at which a text contains one of some words. */
function mark(text: string, words: readonly string[]): ComponentChildren {
  const lower = text.toLowerCase();
  // Letters such as İ are longer in lower case, so their places would be wrong.
  if (lower.length !== text.length) return text;
  const parts: ComponentChildren[] = [];
  let end = 0;
  for (let at = 0; at < text.length; at += 1) {
    const word = words.find((each) => each !== '' && lower.startsWith(each, at));
    if (!word) continue;
    parts.push(text.slice(end, at), <mark>{text.slice(at, at + word.length)}</mark>);
    end = at + word.length;
    at = end - 1;
  }
  return end === 0 ? text : [...parts, text.slice(end)];
}

/** Returns the words of a search in lower case, also those after `from:`, `to:` and `subject:`. */
export function wordsOf(search: string): string[] {
  const words = search.toLowerCase().match(/"[^"]*"|[^\s"]+/g) ?? [];
  return words.map((word) => word.replace(/^(?:from|to|subject):/, '').replaceAll('"', '')).filter(Boolean);
}

/** Shortens each id in a text to its first and last four digits. */
export function shortenIds(text: string): string {
  return text.replace(/\b([\da-f]{4})[\da-f]{4}-(?:[\da-f]{4}-){3}[\da-f]{8}([\da-f]{4})\b/gi, '$1…$2');
}

/** Indents JSON; other texts stay as they are. */
export function indentJson(text: string): string {
  const value = parseJson(text);
  return value === undefined ? text : JSON.stringify(value, null, 2);
}

/** Returns the value of a JSON text; `undefined` if the text is not JSON. */
export function parseJson(text: string | null): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}
