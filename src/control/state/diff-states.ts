import type { RowKind } from '../../world/store/rows.ts';
import { showRow } from '../../world/store/state.ts';
import type { SavedState } from './saved-state.ts';

/** The kind of an item of a state: a kind of row, as in `snapshot()`, or the faults, or the correspondents. */
export type StateKind = RowKind | 'faults' | 'correspondents';

/** A row, a fault or a correspondent, as in `snapshot()`, `faults()` and `correspondents()`. */
export type StateItem = Readonly<Record<string, unknown>>;

/** The value of a field in two states. */
export interface ChangedField {
  /** The value in the earlier state. */
  readonly from: unknown;
  /** The value in the later state. */
  readonly to: unknown;
}

/** Values by kind and id; a kind without values is left out. */
export type ByKindAndId<Value> = { readonly [Kind in StateKind]?: { readonly [id: string]: Value } };

/** What differs between two states. */
export interface StateDiff {
  /** What only the later state has, by kind and id. */
  readonly added: ByKindAndId<StateItem>;
  /** What only the earlier state has, by kind and id. */
  readonly removed: ByKindAndId<StateItem>;
  /** What both states have, but with different fields: by kind, id and field. */
  readonly changed: ByKindAndId<{ readonly [field: string]: ChangedField }>;
}

/** Returns what differs between two states. */
export function diffStates(from: SavedState, to: SavedState): StateDiff {
  const [allBefore, allAfter] = [itemsOf(from), itemsOf(to)];
  const diff: Record<keyof StateDiff, Record<string, object>> = { added: {}, removed: {}, changed: {} };
  for (const kind of new Set([...allBefore.keys(), ...allAfter.keys()])) {
    const before = allBefore.get(kind) ?? NO_ITEMS;
    const after = allAfter.get(kind) ?? NO_ITEMS;
    const added = [...after].filter(([id]) => !before.has(id));
    const removed = [...before].filter(([id]) => !after.has(id));
    const changed = findChanges(before, after);
    const show = (items: readonly [string, StateItem][]) =>
      Object.fromEntries(items.map(([id, item]) => [id, showRow(item)]));
    if (added.length > 0) diff.added[kind] = show(added);
    if (removed.length > 0) diff.removed[kind] = show(removed);
    if (changed.length > 0) diff.changed[kind] = Object.fromEntries(changed);
  }
  return diff;
}

type Items = ReadonlyMap<string, StateItem>;

const NO_ITEMS: Items = new Map();

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
  return [...before].flatMap(([id, itemBefore]): [string, object][] => {
    const itemAfter = after.get(id);
    const isSame = itemAfter === undefined || itemAfter === itemBefore;
    const fields = isSame ? [] : findChangedFields(itemBefore, itemAfter);
    return fields.length === 0 ? [] : [[id, Object.fromEntries(fields)]];
  });
}

/** Both items have the same fields, because items of one kind always do. */
function findChangedFields(before: StateItem, after: StateItem): [field: string, change: ChangedField][] {
  const from = showRow(before);
  const to = showRow(after);
  return Object.keys(before)
    .filter((field) => before[field] !== after[field] && JSON.stringify(from[field]) !== JSON.stringify(to[field]))
    .map((field) => [field, { from: from[field], to: to[field] }]);
}
