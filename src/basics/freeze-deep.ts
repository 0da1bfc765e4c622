import { isBytes } from './base64.ts';

/** Freezes a JSON value, which may have bytes, at any depth and returns it. Bytes cannot be frozen. */
export function freezeDeep<Value>(value: Value): Value {
  if (isBytes(value)) return value;
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(freezeDeep);
  return Object.freeze(value);
}
