import type { RowKind } from '../../world/store/rows.ts';
import { showRow } from '../../world/store/state.ts';
import type { SavedState } from './saved-state.ts';

/** The kind of an item of a state: a kind of row, as in `snapshot()`, or the faults, or the correspondents. */
export type StateKind = RowKind | 'faults' | 'correspondents';

/** A row, a fault or a correspondent, as in `snapshot()`, `faults()` and `correspondents()`. */
export type StateItem = Readonly<Record<string, unknown>>;

/** The value of a field before and after. */
export interface ChangedField {
  /** The value in the first state. */
  readonly from: unknown;
  /** The value in the second state. */
  readonly to: unknown;
}

/** Values by kind and id; a kind without values is left out. */
export type ByKindAndId<Value> = { readonly [Kind in StateKind]?: { readonly [id: string]: Value } };

/** What differs between two states. */
export interface StateDiff {
  /** What only the second state has, by kind and id. */
  readonly added: ByKindAndId<StateItem>;
  /** What only the first state has, by kind and id. */
  readonly removed: ByKindAndId<StateItem>;
  /** What both states have, but with different fields: by kind, id and field. */
  readonly changed: ByKindAndId<{ readonly [field: string]: ChangedField }>;
}

/** Returns what differs between two states. */
export function diffStates(from: SavedState, to: SavedState): StateDiff {
  const [allBefore, allAfter] = [itemsOf(from), itemsOf(to)];
  const diff = { added: {}, removed: {}, changed: {} };
  for (const kind of new Set([...allBefore.keys(), ...allAfter.keys()])) {
    const [before = NONE, after = NONE] = [allBefore.get(kind), allAfter.get(kind)];
    const added = [...after].filter(([id]) => !before.has(id));
    const removed = [...before].filter(([id]) => !after.has(id));
    for (const [group, items] of Object.entries({ added, removed, changed: findChanges(before, after) })) {
      const shown = items.map(([id, item]) => [id, showRow(item)]);
      if (shown.length > 0) Object.assign(diff[group as keyof StateDiff], { [kind]: Object.fromEntries(shown) });
    }
  }
  return diff;
}

type Items = ReadonlyMap<string, StateItem>;

const NONE: Items = new Map();

function itemsOf({ worlds, faults, correspondents }: SavedState): Map<string, Items> {
  const kinds = new Map<string, Map<string, StateItem>>();
  const add = (kind: string, items: readonly { readonly id: string }[]) => {
    const known = kinds.get(kind) ?? new Map();
    for (const item of items) known.set(item.id, item);
    kinds.set(kind, known);
  };
  for (const tenant of worlds.tenants) for (const [kind, rows] of Object.entries(tenant)) add(kind, rows);
  add('faults', faults);
  add('correspondents', correspondents);
  return kinds;
}

/**
 * Finds the items that both states have with different fields. Most items need no comparison, because an unchanged row
 * is the same object in both states.
 */
function findChanges(before: Items, after: Items): [id: string, fields: object][] {
  return [...before].flatMap(([id, oldItem]): [string, object][] => {
    const newItem = after.get(id);
    const fields = newItem === undefined || newItem === oldItem ? [] : findChangedFields(oldItem, newItem);
    return fields.length === 0 ? [] : [[id, Object.fromEntries(fields)]];
  });
}

function findChangedFields(oldItem: StateItem, newItem: StateItem): [field: string, change: ChangedField][] {
  const [from, to] = [showRow(oldItem), showRow(newItem)];
  return Object.keys(oldItem)
    .filter((field) => oldItem[field] !== newItem[field] && JSON.stringify(from[field]) !== JSON.stringify(to[field]))
    .map((field) => [field, { from: from[field], to: to[field] }]);
}
