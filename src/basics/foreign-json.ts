/**
 * Parses JSON of somebody else. An object of it may have a field `toString` or `valueOf`, which would take the place of
 * the function with which a text is made of it, so that a sentence about it throws. The objects that this returns are
 * written as `[object Object]`, like any other; their fields are those of the JSON.
 *
 * @throws {SyntaxError} if the text is not JSON.
 */
export function parseForeignJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  // Most texts have neither name, also not with escapes, and need no walk.
  if (/toString|valueOf|\\u/.test(text)) protectObjects(value);
  return value;
}

function protectObjects(value: unknown): void {
  const waiting = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next !== 'object' || next === null) continue;
    if (Object.hasOwn(next, 'toString') || Object.hasOwn(next, 'valueOf')) {
      Object.defineProperty(next, Symbol.toPrimitive, { value: () => '[object Object]' });
    }
    for (const part of Object.values(next)) waiting.push(part);
  }
}

/** Parses a text of somebody else that may be JSON, as {@link parseForeignJson} does. Returns `undefined` if it is none. */
export function tryParseJson(text: string): unknown {
  try {
    return parseForeignJson(text);
  } catch {
    return undefined;
  }
}
