import type { ChangeableId, ReadBehaviour } from './behaviours.ts';

/** The value that a function built, and the values of the behaviours that the function read. */
interface Built<Value> {
  readonly value: Value;
  readonly valuesRead: ReadonlyMap<ChangeableId, unknown>;
}

const resultsByFunction = new WeakMap<object, Built<unknown>[]>();

/** How many results of a function are kept. Without a limit, behaviours that accept any text could fill the memory. */
const MAX_KEPT = 100;

/**
 * Returns what `build` returns for the current values of the behaviours. If `build` was called for the same values
 * before, returns the earlier result. All mailboxes share the results, because building a schema is slow.
 */
export function buildOnce<Value>(
  build: (readBehaviour: ReadBehaviour) => Value,
  readBehaviour: ReadBehaviour,
): Built<Value> {
  const all = (resultsByFunction.get(build) ?? []) as Built<Value>[];
  const isCurrent = ({ valuesRead }: Built<Value>) => {
    for (const [id, value] of valuesRead) if (readBehaviour(id) !== value) return false;
    return true;
  };
  const found = all.find(isCurrent);
  if (found) return found;
  const valuesRead = new Map<ChangeableId, unknown>();
  const value = build((id) => {
    const current = readBehaviour(id);
    valuesRead.set(id, current);
    return current;
  });
  const built = { value, valuesRead };
  resultsByFunction.set(build, [built, ...all].slice(0, MAX_KEPT));
  return built;
}
