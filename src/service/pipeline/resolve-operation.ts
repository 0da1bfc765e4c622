import type { OperationPart } from '../../contract/behaviour.ts';
import type { AssumptionId, BehaviourValues, ChangeableId, ReadBehaviour } from '../../contract/behaviours.ts';
import { affectsPart, changeableDefinition } from '../../contract/behaviours.ts';
import { buildOnce } from '../../contract/build-once.ts';
import type { OperationDefinition } from '../../contract/operation.ts';

/** A part of an operation, such as the schema of its body, for the current values of a mailbox's behaviours. */
export interface Resolved<Value> {
  readonly value: Value;
  /** The assumptions that shape the part. */
  readonly assumes: readonly AssumptionId[];
  /** The part as it would be if one behaviour that it reads had another value: one entry for each such value. */
  readonly alternatives: readonly { readonly id: ChangeableId; readonly value: Value }[];
}

/** The parts of an operation for the current values of a mailbox's behaviours. */
export type ResolvedOperation = ReturnType<typeof resolveOperation>;

/** Computes the parts of an operation for the given values of behaviours. A public operation has no tiers. */
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
  const { value, valuesRead } = buildOnce(build, (id) => behaviours[id]);
  const alternatives = [...valuesRead.keys()].flatMap((id) => {
    const otherValues = Object.keys(changeableDefinition(id).choices).filter((choice) => choice !== behaviours[id]);
    const buildWith = (choice: string) =>
      buildOnce(build, (each) => (each === id ? choice : behaviours[each]) as never).value;
    return otherValues.map((choice) => ({ id, value: buildWith(choice) }));
  });
  return { value, assumes, alternatives };
}
