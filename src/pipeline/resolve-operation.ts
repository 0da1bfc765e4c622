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
  /** The behaviours that decide what the body may be. */
  readonly bodyChoices: readonly BehaviourId[];
}

/** Evaluates what a row says as a function of the ledger. */
export function resolveOperation(row: OperationDefinition, choices: Choices): ResolvedOperation {
  const tiers = row.tiers === 'public' ? undefined : trace(row.tiers, choices);
  const body = row.body && trace(row.body, choices);
  return {
    tiers: tiers?.value,
    tierChoices: tiers?.read ?? [],
    tiersByChoice: new Set(TIERS.filter((tier) => tiers && dependsOnChoice(row, tier, tiers.read, choices))),
    body: body?.value,
    bodyChoices: body?.read ?? [],
  };
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

function dependsOnChoice(row: OperationDefinition, tier: Tier, ids: BehaviourId[], choices: Choices): boolean {
  const { tiers } = row;
  if (tiers === 'public') return false;
  const admissions = ids.flatMap((id) =>
    Object.keys(BEHAVIOURS[id].choices).map((value) => {
      const alternative = { ...choices, [id]: value } as Choices;
      return trace(tiers, alternative).value.includes(tier);
    }),
  );
  return new Set(admissions).size > 1;
}
