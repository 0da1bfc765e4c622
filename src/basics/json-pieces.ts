import { toBase64 } from './base64.ts';
import { truncate } from './text.ts';

/** A value at this depth or deeper is converted as a whole, so that a deeply nested value costs no more than its size. */
const WHOLE_VALUE_DEPTH = 8;

/** The length of a piece, in characters: so few that a piece is written in less than a millisecond. */
const PIECE_LENGTH = 64 * 1024;

/** How many characters of a long text are converted at once. */
const CHARACTERS_AT_ONCE = 32 * 1024;

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

/** Stands for a text: the JSON of a value. `toJsonPieces` writes it without creating the whole text. */
export class JsonInText {
  constructor(readonly value: unknown) {}

  /** Returns the whole text, for `JSON.stringify`. */
  toJSON(): string {
    return JSON.stringify(this.value) ?? 'null';
  }
}

/** Writes a value as JSON in pieces, because the whole text could need too much memory, or too much time at once. */
export function toJsonPieces(value: unknown): Generator<string, void> {
  return joinPieces(writeValue(value, 0), PIECE_LENGTH);
}

/** Joins parts of a text to pieces of about `length` characters, because a call for each part would take too long. */
export function* joinPieces(parts: Iterable<string>, length = 1024 * 1024): Generator<string, void> {
  let piece = '';
  for (const part of parts) {
    piece += part;
    if (piece.length < length) continue;
    yield piece;
    piece = '';
  }
  if (piece !== '') yield piece;
}

/**
 * Returns whether the JSON of a value has more than about `limit` characters. It looks at so much of the value only. A
 * list that creates its items one by one counts as long.
 */
export function isLongJson(value: unknown, limit = PIECE_LENGTH): boolean {
  return roomAfter(value, limit) < 0;
}

/** Returns what is left of `room` characters after a value. If the result is negative, the rest was not looked at. */
function roomAfter(value: unknown, room: number): number {
  if (typeof value === 'string') return room - value.length - 3;
  if (typeof value !== 'object' || value === null) return room - 5;
  let left = room - 2;
  if (Array.isArray(value)) {
    for (const item of value) {
      left = roomAfter(item, left);
      if (left < 0) return left;
    }
    return left;
  }
  if (Symbol.iterator in value || value instanceof JsonInText) return -1;
  for (const name of Object.keys(value)) {
    const bytes = bytesOfField(value, name);
    left -= name.length + 3;
    left = bytes ? left - bytes.length * (4 / 3) : roomAfter((value as Record<string, unknown>)[name], left);
    if (left < 0) return left;
  }
  return left;
}

/** Returns the JSON of a value in parts, which may be short. */
function* writeValue(value: unknown, depth: number): Generator<string, void> {
  if (typeof value === 'string' && value.length > CHARACTERS_AT_ONCE) yield* writeText([value]);
  else if (value instanceof JsonInText) yield* writeText(toJsonPieces(value.value));
  else if (typeof value !== 'object' || value === null || depth >= WHOLE_VALUE_DEPTH || !isLongJson(value)) {
    yield JSON.stringify(value) ?? 'null';
  } else {
    yield* Symbol.iterator in value
      ? writeList(value as Iterable<unknown>, depth)
      : writeObject(value as Record<string, unknown>, depth);
  }
}

/** Writes one text that consists of several texts. */
function* writeText(texts: Iterable<string>): Generator<string, void> {
  yield '"';
  for (const text of texts) {
    for (let start = 0; start < text.length; ) {
      // A surrogate pair stays together, because JSON escapes each half that is alone.
      const part = truncate(text.slice(start, start + CHARACTERS_AT_ONCE + 1), CHARACTERS_AT_ONCE);
      yield JSON.stringify(part).slice(1, -1);
      start += part.length;
    }
  }
  yield '"';
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
