import type { z } from 'zod';
import {
  type AssumptionId,
  type ChoiceId,
  type Choices,
  type Choose,
  choiceDefinition,
  isChoice,
  isShapedBy,
} from '../contract/behaviours.ts';
import { createLedgerReader } from '../contract/ledger-reader.ts';
import type { OperationDefinition } from '../contract/operation.ts';
import { TIERS, type Tier } from '../contract/tiers.ts';

/** What a body or a query may be under the choices of one mailbox. */
export interface ResolvedSchema {
  readonly schema: z.ZodObject;
  /** The assumptions that say what it may be. */
  readonly assumes: readonly AssumptionId[];
  /** What it would be under each other value of a choice that decides it. */
  readonly others: readonly { readonly id: ChoiceId; readonly schema: z.ZodObject }[];
}

/** A row of the operation table under the choices of one mailbox, made once and kept. */
export interface ResolvedOperation {
  /** The tiers that may call it; `undefined` for a public operation. */
  readonly tiers: readonly Tier[] | undefined;
  /** What decides who may call it. */
  readonly tierChoices: readonly ChoiceId[];
  readonly tierAssumptions: readonly AssumptionId[];
  /** The tiers that these choices admit or refuse; the others are settled whatever the choice. */
  readonly tiersByChoice: ReadonlySet<Tier>;
  readonly params: z.ZodObject | undefined;
  readonly query: ResolvedSchema | undefined;
  readonly body: ResolvedSchema | undefined;
  /** The assumptions that shape every success. */
  readonly replyAssumptions: readonly AssumptionId[];
}

/** Evaluates what a row says as a function of the ledger. */
export function resolveOperation(row: OperationDefinition, choices: Choices): ResolvedOperation {
  const { assumes = [] } = row;
  const tiers = row.tiers === 'public' ? undefined : trace(row.tiers, choices);
  return {
    tiers: tiers?.value,
    tierChoices: tiers?.read ?? [],
    tierAssumptions: assumes.filter((id) => isShapedBy(id, 'access')),
    tiersByChoice: new Set(TIERS.filter((tier) => dependsOnChoice(row, tier, choices))),
    params: row.params,
    query:
      row.query &&
      resolveSchema(
        row.query,
        choices,
        assumes.filter((id) => isShapedBy(id, 'query')),
      ),
    body:
      row.body &&
      resolveSchema(
        row.body,
        choices,
        assumes.filter((id) => isShapedBy(id, 'body')),
      ),
    replyAssumptions: assumes.filter((id) => isShapedBy(id, 'reply')),
  };
}

function resolveSchema(
  build: (choose: Choose) => z.ZodObject,
  choices: Choices,
  assumes: readonly AssumptionId[],
): ResolvedSchema {
  const { value: schema } = trace(build, choices);
  return { schema, assumes, others: otherReadings(build, choices).map(({ id, value }) => ({ id, schema: value })) };
}

/** Says whether any choice, switched, would change whether a tier is admitted. */
function dependsOnChoice({ tiers }: OperationDefinition, tier: Tier, choices: Choices): boolean {
  if (tiers === 'public') return false;
  const admitted = trace(tiers, choices).value.includes(tier);
  return otherReadings(tiers, choices).some(({ value }) => value.includes(tier) !== admitted);
}

/** Evaluates `build` under each other value of each choice that it reads, one at a time. */
function otherReadings<Value>(build: (choose: Choose) => Value, choices: Choices) {
  return trace(build, choices).read.flatMap((id) =>
    Object.keys(choiceDefinition(id).choices)
      .filter((value) => value !== choices[id])
      .map((value) => ({ id, value: trace(build, { ...choices, [id]: value } as Choices).value })),
  );
}

/** What `build` makes under these choices, and those that it reads. */
function trace<Value>(build: (choose: Choose) => Value, choices: Choices) {
  const { choose, read } = createLedgerReader(choices);
  return { value: build(choose), read: [...read].filter(isChoice) };
}
