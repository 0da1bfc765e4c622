import { cut } from '../../../basics/text.ts';
import type { Assume } from '../../../contract/behaviours.ts';

/** The maximum total length of all bodies of one reply, in characters of JSON. */
const MAX_TOTAL_LENGTH = 16 * 1024 * 1024;

/** The length to which a body is cut when the total is exceeded, in characters. */
const CUT_LENGTH = 1000;

/** The maximum number of JSON characters that encode one character of text. */
const MAX_ESCAPED_LENGTH = 6;

/** A message or a draft. */
interface WithBodies {
  readonly plainBody: string | null;
  readonly htmlBody: string | null;
}

/**
 * Cuts bodies if all together would make the reply too large. The first items stay complete, and later ones are cut.
 */
export function limitBodies<Item extends WithBodies>(items: readonly Item[], assume: Assume): readonly Item[] {
  const characters = items.reduce((sum, { plainBody, htmlBody }) => sum + lengthOf(plainBody) + lengthOf(htmlBody), 0);
  if (characters * MAX_ESCAPED_LENGTH <= MAX_TOTAL_LENGTH) return items;
  let left = MAX_TOTAL_LENGTH;
  return items.map((item) => {
    if (left > 0) left -= lengthAsJson(item);
    return left > 0 ? item : cutBodies(item, assume);
  });
}

function lengthOf(body: string | null): number {
  return body?.length ?? 0;
}

function lengthAsJson({ plainBody, htmlBody }: WithBodies): number {
  return JSON.stringify([plainBody, htmlBody]).length;
}

function cutBodies<Item extends WithBodies>(item: Item, assume: Assume): Item {
  if (Math.max(lengthOf(item.plainBody), lengthOf(item.htmlBody)) <= CUT_LENGTH) return item;
  assume('messages.list.large');
  return { ...item, plainBody: cutBody(item.plainBody), htmlBody: cutBody(item.htmlBody) };
}

function cutBody(body: string | null): string | null {
  return body === null ? null : cut(body, CUT_LENGTH);
}
