import type { z } from 'zod';
import {
  type AssumptionId,
  affectsPart,
  type BehaviourValues,
  type ChangeableId,
  changeableDefinition,
  createRecordingReader,
  isChangeable,
  type ReadBehaviour,
} from '../../contract/behaviours.ts';
import type { OperationDefinition } from '../../contract/operation.ts';
import { TIERS, type Tier } from '../../contract/tiers.ts';

/** The schema of a body or a query under the current behaviours of one mailbox. */
export interface ResolvedSchema {
  readonly schema: z.ZodObject;
  /** The assumptions that shape the schema. */
  readonly assumes: readonly AssumptionId[];
  /** The schema under each other value of each behaviour that affects it. */
  readonly alternatives: readonly { readonly id: ChangeableId; readonly schema: z.ZodObject }[];
}

/** An operation as it is under the current behaviours of one mailbox. It is computed once and then cached. */
export interface ResolvedOperation {
  /** The tiers that may call the operation; `undefined` for a public operation. */
  readonly tiers: readonly Tier[] | undefined;
  /** The changeable behaviours that decide which tiers may call the operation. */
  readonly tierBehaviours: readonly ChangeableId[];
  readonly tierAssumptions: readonly AssumptionId[];
  /** The tiers that may call the operation under some values of these behaviours and not under others. */
  readonly tiersThatDiffer: ReadonlySet<Tier>;
  readonly params: z.ZodObject | undefined;
  readonly query: ResolvedSchema | undefined;
  readonly body: ResolvedSchema | undefined;
  /** The assumptions that shape every successful reply. */
  readonly replyAssumptions: readonly AssumptionId[];
}

/** Computes the parts of an operation that depend on behaviours. */
export function resolveOperation(row: OperationDefinition, behaviours: BehaviourValues): ResolvedOperation {
  const { assumes = [] } = row;
  const tiers = row.tiers === 'public' ? undefined : trace(row.tiers, behaviours);
  return {
    tiers: tiers?.value,
    tierBehaviours: tiers?.usedIds ?? [],
    tierAssumptions: assumes.filter((id) => affectsPart(id, 'access')),
    tiersThatDiffer: new Set(TIERS.filter((tier) => dependsOnBehaviour(row, tier, behaviours))),
    params: row.params?.(),
    query:
      row.query &&
      resolveSchema(
        row.query,
        behaviours,
        assumes.filter((id) => affectsPart(id, 'query')),
      ),
    body:
      row.body &&
      resolveSchema(
        row.body,
        behaviours,
        assumes.filter((id) => affectsPart(id, 'body')),
      ),
    replyAssumptions: assumes.filter((id) => affectsPart(id, 'reply')),
  };
}

function resolveSchema(
  build: (readBehaviour: ReadBehaviour) => z.ZodObject,
  behaviours: BehaviourValues,
  assumes: readonly AssumptionId[],
): ResolvedSchema {
  const { value: schema } = trace(build, behaviours);
  const alternatives = evaluateAlternatives(build, behaviours).map(({ id, value }) => ({ id, schema: value }));
  return { schema, assumes, alternatives };
}

/** Returns whether changing the value of one behaviour would change whether this tier may call the operation. */
function dependsOnBehaviour({ tiers }: OperationDefinition, tier: Tier, behaviours: BehaviourValues): boolean {
  if (tiers === 'public') return false;
  const mayCall = trace(tiers, behaviours).value.includes(tier);
  return evaluateAlternatives(tiers, behaviours).some(({ value }) => value.includes(tier) !== mayCall);
}

/** Calls `build` once for each other value of each behaviour that it reads. Each call changes a single behaviour. */
function evaluateAlternatives<Value>(build: (readBehaviour: ReadBehaviour) => Value, behaviours: BehaviourValues) {
  return trace(build, behaviours).usedIds.flatMap((id) =>
    Object.keys(changeableDefinition(id).choices)
      .filter((value) => value !== behaviours[id])
      .map((value) => ({ id, value: trace(build, { ...behaviours, [id]: value } as BehaviourValues).value })),
  );
}

/** Calls `build` and records which of these behaviours it reads. */
function trace<Value>(build: (readBehaviour: ReadBehaviour) => Value, behaviours: BehaviourValues) {
  const { readBehaviour, usedBehaviours } = createRecordingReader(behaviours);
  return { value: build(readBehaviour), usedIds: [...usedBehaviours].filter(isChangeable) };
}
