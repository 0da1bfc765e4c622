/** How many levels deep JSON from outside may be nested, where any value is allowed. */
export const MAX_JSON_DEPTH = 100;

/**
 * Returns whether the objects and lists of a value are nested in more than `levels` levels. JSON from outside is counted
 * before it is converted or walked: how deep functions may call each other differs between engines and their versions,
 * and newer ones write and read JSON of any depth. A value that contains itself has no last level.
 */
export function isNestedDeeper(value: unknown, levels: number = MAX_JSON_DEPTH): boolean {
  const waiting: { readonly value: unknown; readonly level: number }[] = [{ value, level: 1 }];
  // The latest value is taken first, so that a value that contains itself is noticed soon.
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next.value !== 'object' || next.value === null || ArrayBuffer.isView(next.value)) continue;
    if (next.level > levels) return true;
    for (const part of Object.values(next.value)) waiting.push({ value: part, level: next.level + 1 });
  }
  return false;
}
