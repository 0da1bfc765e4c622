import type { z } from 'zod';
import { BEHAVIOURS, type BehaviourId, type Choice, type Choices, type Choose } from '../contract/behaviours.ts';
import type { OperationDefinition } from '../contract/operation.ts';
import { TIERS, type Tier } from '../contract/tiers.ts';

/** A row of the operation table under the choices of one mailbox, made once and kept. */
export interface ResolvedOperation {
  /** The tiers that may call it; `undefined` for a public operation. */
  readonly tiers: readonly Tier[] | undefined;
  /** The behaviours that decide who may call it. */
  readonly tierChoices: readonly BehaviourId[];
  /** The tiers that these behaviours admit or refuse; the others are settled whatever the choice. */
  readonly tiersByChoice: ReadonlySet<Tier>;
  readonly body: z.ZodObject | undefined;
  /** The behaviours with one choice that say what the body may be. */
  readonly fixedBodyChoices: readonly BehaviourId[];
  /** What the body would be under each other choice of a behaviour that decides it. */
  readonly otherBodies: readonly { readonly id: BehaviourId; readonly body: z.ZodObject }[];
}

/** Evaluates what a row says as a function of the ledger. */
export function resolveOperation(row: OperationDefinition, choices: Choices): ResolvedOperation {
  const tiers = row.tiers === 'public' ? undefined : trace(row.tiers, choices);
  const body = row.body && trace(row.body, choices);
  return {
    tiers: tiers?.value,
    tierChoices: tiers?.read ?? [],
    tiersByChoice: new Set(TIERS.filter((tier) => dependsOnChoice(row, tier, choices))),
    body: body?.value,
    fixedBodyChoices: (body?.read ?? []).filter((id) => Object.keys(BEHAVIOURS[id].choices).length === 1),
    otherBodies: otherReadings(row.body, choices).map(({ id, value }) => ({ id, body: value })),
  };
}

/** Says whether any behaviour, switched, would change whether a tier is admitted. */
function dependsOnChoice({ tiers }: OperationDefinition, tier: Tier, choices: Choices): boolean {
  if (tiers === 'public') return false;
  const admitted = trace(tiers, choices).value.includes(tier);
  return otherReadings(tiers, choices).some(({ value }) => value.includes(tier) !== admitted);
}

/** Evaluates `build` under each other choice of each behaviour that it reads, one at a time. */
function otherReadings<Value>(build: ((choose: Choose) => Value) | undefined, choices: Choices) {
  if (!build) return [];
  return trace(build, choices).read.flatMap((id) =>
    Object.keys(BEHAVIOURS[id].choices)
      .filter((choice) => choice !== choices[id])
      .map((choice) => ({ id, value: trace(build, { ...choices, [id]: choice } as Choices).value })),
  );
}

/** Evaluates `build` and says which behaviours it read. */
function trace<Value>(build: (choose: Choose) => Value, choices: Choices): { value: Value; read: BehaviourId[] } {
  const read = new Set<BehaviourId>();
  const value = build(<Id extends BehaviourId>(id: Id): Choice<Id> => {
    read.add(id);
    return choices[id];
  });
  return { value, read: [...read] };
}
