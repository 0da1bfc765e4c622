import { isBytes } from './base64.ts';

/** Freezes a JSON value at any depth and returns it. Bytes in it stay as they are, because they cannot be frozen. */
export function freezeDeep<Value>(value: Value): Value {
  if (isBytes(value)) return value;
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(freezeDeep);
  return Object.freeze(value);
}
