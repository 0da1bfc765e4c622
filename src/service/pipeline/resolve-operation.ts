import type { OperationPart } from '../../contract/behaviour.ts';
import type { AssumptionId, BehaviourValues, ChangeableId, ReadBehaviour } from '../../contract/behaviours.ts';
import { affectsPart, changeableDefinition } from '../../contract/behaviours.ts';
import type { OperationDefinition } from '../../contract/operation.ts';

/** A part of an operation, such as the schema of its body, under the current behaviours of one mailbox. */
export interface Resolved<Value> {
  readonly value: Value;
  /** The assumptions that shape the part. */
  readonly assumes: readonly AssumptionId[];
  /** The same part under each other value of each behaviour that it depends on. */
  readonly alternatives: readonly { readonly id: ChangeableId; readonly value: Value }[];
}

/** An operation as it is under the current behaviours of one mailbox. It is computed once and then cached. */
export type ResolvedOperation = ReturnType<typeof resolveOperation>;

/** Computes the parts of an operation that depend on behaviours. A public operation has no tiers. */
export function resolveOperation(row: OperationDefinition, behaviours: BehaviourValues) {
  const { tiers, params, query, body, assumes = [] } = row;
  const assumesOf = (part: OperationPart) => assumes.filter((id) => affectsPart(id, part));
  return {
    tiers: tiers === 'public' ? undefined : resolve(tiers, assumesOf('access'), behaviours),
    params: params?.(),
    query: query && resolve(query, assumesOf('query'), behaviours),
    body: body && resolve(body, assumesOf('body'), behaviours),
    /** The assumptions that shape every successful reply. */
    replyAssumptions: assumesOf('reply'),
  };
}

/** Calls `build` with the current values, and again for each other value of each behaviour that it reads. */
function resolve<Value>(
  build: (readBehaviour: ReadBehaviour) => Value,
  assumes: readonly AssumptionId[],
  behaviours: BehaviourValues,
): Resolved<Value> {
  const { value, read } = buildOnce(build, (id) => behaviours[id]);
  const alternatives = [...read.keys()].flatMap((id) => {
    const others = Object.keys(changeableDefinition(id).choices).filter((choice) => choice !== behaviours[id]);
    const buildWith = (choice: string) =>
      buildOnce(build, (each) => (each === id ? choice : behaviours[each]) as never).value;
    return others.map((choice) => ({ id, value: buildWith(choice) }));
  });
  return { value, assumes, alternatives };
}

/** The value that a function built, and the values of the behaviours that the function read. */
interface Built<Value> {
  readonly value: Value;
  readonly read: ReadonlyMap<ChangeableId, unknown>;
}

const builtBy = new WeakMap<object, Built<unknown>[]>();

/** How many results of one function are kept. Behaviours with free values could cause any number of results. */
const MAX_KEPT = 100;

/**
 * Calls `build`, unless it was called for the same values of behaviours before. All mailboxes share the results,
 * because building a schema takes longer than using it.
 */
export function buildOnce<Value>(
  build: (readBehaviour: ReadBehaviour) => Value,
  readBehaviour: ReadBehaviour,
): Built<Value> {
  const all = (builtBy.get(build) ?? []) as Built<Value>[];
  const found = all.find(({ read }) => [...read].every(([id, value]) => readBehaviour(id) === value));
  if (found) return found;
  const read = new Map<ChangeableId, unknown>();
  const value = build((id) => {
    const current = readBehaviour(id);
    read.set(id, current);
    return current;
  });
  const built = { value, read };
  builtBy.set(build, [built, ...all].slice(0, MAX_KEPT));
  return built;
}
