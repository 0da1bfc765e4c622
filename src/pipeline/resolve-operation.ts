import type { z } from 'zod';
import { BEHAVIOURS, type BehaviourId, type Choices, type Choose } from '../contract/behaviours.ts';
import { createChoiceReader } from '../contract/choice-reader.ts';
import type { OperationDefinition } from '../contract/operation.ts';
import { TIERS, type Tier } from '../contract/tiers.ts';

/** What a body or a query may be under the choices of one mailbox. */
export interface ResolvedSchema {
  readonly schema: z.ZodObject;
  /** The behaviours with one choice that say what it may be. */
  readonly fixedChoices: readonly BehaviourId[];
  /** What it would be under each other choice of a behaviour that decides it. */
  readonly others: readonly { readonly id: BehaviourId; readonly schema: z.ZodObject }[];
}

/** A row of the operation table under the choices of one mailbox, made once and kept. */
export interface ResolvedOperation {
  /** The tiers that may call it; `undefined` for a public operation. */
  readonly tiers: readonly Tier[] | undefined;
  /** The behaviours that decide who may call it. */
  readonly tierChoices: readonly BehaviourId[];
  /** The tiers that these behaviours admit or refuse; the others are settled whatever the choice. */
  readonly tiersByChoice: ReadonlySet<Tier>;
  readonly params: z.ZodObject | undefined;
  readonly query: ResolvedSchema | undefined;
  readonly body: ResolvedSchema | undefined;
}

/** Evaluates what a row says as a function of the ledger. */
export function resolveOperation(row: OperationDefinition, choices: Choices): ResolvedOperation {
  const tiers = row.tiers === 'public' ? undefined : trace(row.tiers, choices);
  return {
    tiers: tiers?.value,
    tierChoices: tiers?.read ?? [],
    tiersByChoice: new Set(TIERS.filter((tier) => dependsOnChoice(row, tier, choices))),
    params: row.params,
    query: row.query && resolveSchema(row.query, choices),
    body: row.body && resolveSchema(row.body, choices),
  };
}

function resolveSchema(build: (choose: Choose) => z.ZodObject, choices: Choices): ResolvedSchema {
  const { value: schema, read } = trace(build, choices);
  return {
    schema,
    fixedChoices: read.filter((id) => Object.keys(BEHAVIOURS[id].choices).length === 1),
    others: otherReadings(build, choices).map(({ id, value }) => ({ id, schema: value })),
  };
}

/** Says whether any behaviour, switched, would change whether a tier is admitted. */
function dependsOnChoice({ tiers }: OperationDefinition, tier: Tier, choices: Choices): boolean {
  if (tiers === 'public') return false;
  const admitted = trace(tiers, choices).value.includes(tier);
  return otherReadings(tiers, choices).some(({ value }) => value.includes(tier) !== admitted);
}

/** Evaluates `build` under each other choice of each behaviour that it reads, one at a time. */
function otherReadings<Value>(build: (choose: Choose) => Value, choices: Choices) {
  return trace(build, choices).read.flatMap((id) =>
    Object.keys(BEHAVIOURS[id].choices)
      .filter((choice) => choice !== choices[id])
      .map((choice) => ({ id, value: trace(build, { ...choices, [id]: choice } as Choices).value })),
  );
}

/** Evaluates `build` and says which behaviours it read. */
function trace<Value>(build: (choose: Choose) => Value, choices: Choices): { value: Value; read: BehaviourId[] } {
  const reader = createChoiceReader(choices);
  const value = build(reader.choose);
  return { value, read: [...reader.read] };
}
