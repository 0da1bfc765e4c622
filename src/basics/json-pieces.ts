import { toBase64 } from './base64.ts';

/** At this depth or deeper, a value is one piece, unless it has bytes. A row of an exported tenant has this depth. */
const ONE_PIECE_DEPTH = 5;

/** The minimum length of a piece, except for the last one. */
const MIN_LENGTH = 1024 * 1024;

/** How many bytes are written as base64 at once. It is a multiple of 3, so that only the last base64 has padding. */
const BYTES_AT_ONCE = 48 * 1024;

/**
 * Returns a list that creates its items one by one while it is converted to JSON, because all items together could need
 * too much memory. It has the type of a list, but only `toJsonPieces` and `JSON.stringify` can read it.
 */
export function lazyList<Item>(items: () => Iterable<Item>): Item[] {
  return { [Symbol.iterator]: () => items()[Symbol.iterator](), toJSON: () => [...items()] } as unknown as Item[];
}

/** How many items of a long list are created at a time. */
const PART_SIZE = 500;

/**
 * Creates a list of at most `limit` items that is read in parts. `read` returns at most `size` items after `last`, the
 * item that was read last; `done` is the number of items that were read before.
 */
export function createListInParts<Item>(
  limit = Number.POSITIVE_INFINITY,
  read: (size: number, done: number, last: Item | undefined) => Item[],
): Item[] {
  return lazyList(function* () {
    let last: Item | undefined;
    for (let done = 0; done < limit; ) {
      const size = Math.min(PART_SIZE, limit - done);
      const part = read(size, done, last);
      yield* part;
      if (part.length < size) return;
      done += size;
      last = part.at(-1);
    }
  });
}

/** Writes a value as JSON in pieces, because the whole text could need too much memory. */
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
  if (
    typeof value !== 'object' ||
    value === null ||
    (depth >= ONE_PIECE_DEPTH && !Object.keys(value).some((name) => bytesOf(value, name)))
  ) {
    yield JSON.stringify(value) ?? 'null';
  } else {
    yield* Symbol.iterator in value
      ? splitList(value as Iterable<unknown>, depth)
      : splitObject(value as Record<string, unknown>, depth);
  }
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
    const bytes = bytesOf(object, name);
    const value = bytes ? '' : object[name];
    if (value === undefined || typeof value === 'function') continue;
    yield `${before}${JSON.stringify(name)}:`;
    yield* bytes ? splitBytes(bytes) : split(value, depth + 1);
    before = ',';
  }
  yield before === '{' ? '{}' : '}';
}

function* splitBytes(bytes: Uint8Array): Generator<string, void> {
  yield '"';
  for (let start = 0; start < bytes.length; start += BYTES_AT_ONCE) {
    yield toBase64(bytes.subarray(start, start + BYTES_AT_ONCE));
  }
  yield '"';
}

/**
 * Returns the bytes of a field that `showRow` created. Such a field has a getter that returns base64, and the getter
 * has the bytes as its property `bytes`.
 */
function bytesOf(object: object, name: string): Uint8Array | undefined {
  const get = Object.getOwnPropertyDescriptor(object, name)?.get as { readonly bytes?: Uint8Array } | undefined;
  return get?.bytes;
}
