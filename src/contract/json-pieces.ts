/** How deep a value is split: the rows of an exported tenant are whole. */
const MAX_DEPTH = 5;

/** The length that a piece has at least, except for the last one. */
const MIN_LENGTH = 1024 * 1024;

/**
 * A list whose items are made one by one when it is written, because all of them could need more memory than there is. It
 * has the type of a list, but only `toJsonPieces` and `JSON.stringify` can read it.
 */
export function lazyList<Item>(items: () => Iterable<Item>): Item[] {
  return { [Symbol.iterator]: () => items()[Symbol.iterator](), toJSON: () => [...items()] } as unknown as Item[];
}

/** Writes a value as JSON in pieces, because the whole text could need more memory than there is. */
export function* toJsonPieces(value: unknown): Generator<string, void> {
  let piece = '';
  for (const part of split(value, 0)) {
    piece += part;
    if (piece.length < MIN_LENGTH) continue;
    yield piece;
    piece = '';
  }
  if (piece !== '') yield piece;
}

function* split(value: unknown, depth: number): Generator<string, void> {
  if (depth === MAX_DEPTH || typeof value !== 'object' || value === null) yield JSON.stringify(value) ?? 'null';
  else
    yield* Symbol.iterator in value
      ? splitList(value as Iterable<unknown>, depth)
      : splitObject(value as Record<string, unknown>, depth);
}

function* splitList(list: Iterable<unknown>, depth: number): Generator<string, void> {
  let before = '[';
  for (const item of list) {
    yield before;
    yield* split(item, depth + 1);
    before = ',';
  }
  yield before === '[' ? '[]' : ']';
}

function* splitObject(object: Readonly<Record<string, unknown>>, depth: number): Generator<string, void> {
  let before = '{';
  for (const name of Object.keys(object)) {
    // It is read once, because reading the base64 of a row writes it.
    const value = object[name];
    if (value === undefined || typeof value === 'function') continue;
    yield `${before}${JSON.stringify(name)}:`;
    yield* split(value, depth + 1);
    before = ',';
  }
  yield before === '{' ? '{}' : '}';
}
