import { toBase64 } from './base64.ts';

/**
 * A value at this depth or deeper is converted as a whole, unless it has fields with bytes. The rows of an exported
 * tenant have this depth.
 */
const WHOLE_VALUE_DEPTH = 5;

/** The minimum length of a piece, except for the last one. */
const MIN_PIECE_LENGTH = 1024 * 1024;

/** How many bytes are written as base64 at once. It is a multiple of 3, so that there is no padding before the end. */
const BYTES_AT_ONCE = 48 * 1024;

/**
 * Returns a list that creates its items one by one while it is converted to JSON, because all items together could need
 * too much memory. It has the type of a list, but only `toJsonPieces` and `JSON.stringify` can read it.
 */
export function lazyList<Item>(create: () => Iterable<Item>): Item[] {
  return { [Symbol.iterator]: () => create()[Symbol.iterator](), toJSON: () => [...create()] } as unknown as Item[];
}

/** How many items of a long list are read at a time. */
const PART_SIZE = 500;

/**
 * Creates a list of at most `limit` items that is read in parts. `read` returns the next items, at most `size`. `done`
 * is the number of items that were read before, and `last` is the last one of these items.
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
export function toJsonPieces(value: unknown): Generator<string, void> {
  return joinPieces(writeValue(value, 0));
}

/** Joins parts of a text to pieces of about 1 MiB, because a call for each part would take too long. */
export function* joinPieces(parts: Iterable<string>): Generator<string, void> {
  let piece = '';
  for (const part of parts) {
    piece += part;
    if (piece.length < MIN_PIECE_LENGTH) continue;
    yield piece;
    piece = '';
  }
  if (piece !== '') yield piece;
}

/** Returns the JSON of a value in parts, which may be short. */
function* writeValue(value: unknown, depth: number): Generator<string, void> {
  if (
    typeof value !== 'object' ||
    value === null ||
    (depth >= WHOLE_VALUE_DEPTH && !Object.keys(value).some((name) => bytesOfField(value, name)))
  ) {
    yield JSON.stringify(value) ?? 'null';
  } else {
    yield* Symbol.iterator in value
      ? writeList(value as Iterable<unknown>, depth)
      : writeObject(value as Record<string, unknown>, depth);
  }
}

function* writeList(list: Iterable<unknown>, depth: number): Generator<string, void> {
  let prefix = '[';
  for (const item of list) {
    yield prefix;
    yield* writeValue(item, depth + 1);
    prefix = ',';
  }
  yield prefix === '[' ? '[]' : ']';
}

function* writeObject(object: Readonly<Record<string, unknown>>, depth: number): Generator<string, void> {
  let prefix = '{';
  for (const name of Object.keys(object)) {
    const bytes = bytesOfField(object, name);
    const value = bytes ? '' : object[name];
    if (value === undefined || typeof value === 'function') continue;
    yield `${prefix}${JSON.stringify(name)}:`;
    yield* bytes ? writeBytes(bytes) : writeValue(value, depth + 1);
    prefix = ',';
  }
  yield prefix === '{' ? '{}' : '}';
}

function* writeBytes(bytes: Uint8Array): Generator<string, void> {
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
function bytesOfField(object: object, name: string): Uint8Array | undefined {
  const get = Object.getOwnPropertyDescriptor(object, name)?.get as { readonly bytes?: Uint8Array } | undefined;
  return get?.bytes;
}
