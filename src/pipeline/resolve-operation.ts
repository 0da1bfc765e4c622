import type { z } from 'zod';
import {
  type AssumptionId,
  affectsPart,
  type ChoiceId,
  type Choices,
  type Choose,
  choiceDefinition,
  isChoice,
} from '../contract/behaviours.ts';
import { createLedgerReader } from '../contract/ledger-reader.ts';
import type { OperationDefinition } from '../contract/operation.ts';
import { TIERS, type Tier } from '../contract/tiers.ts';

/** The schema of a body or a query under the choices of one mailbox. */
export interface ResolvedSchema {
  readonly schema: z.ZodObject;
  /** The assumptions that shape the schema. */
  readonly assumes: readonly AssumptionId[];
  /** The schema under each other value of a choice that shapes it. */
  readonly alternatives: readonly { readonly id: ChoiceId; readonly schema: z.ZodObject }[];
}

/** A row of the operation table under the choices of one mailbox, resolved once and cached. */
export interface ResolvedOperation {
  /** The tiers that may call the operation; `undefined` for a public operation. */
  readonly tiers: readonly Tier[] | undefined;
  /** The choices that decide which tiers may call the operation. */
  readonly tierChoices: readonly ChoiceId[];
  readonly tierAssumptions: readonly AssumptionId[];
  /** The tiers for which these choices make a difference. */
  readonly tiersByChoice: ReadonlySet<Tier>;
  readonly params: z.ZodObject | undefined;
  readonly query: ResolvedSchema | undefined;
  readonly body: ResolvedSchema | undefined;
  /** The assumptions that shape every successful reply. */
  readonly replyAssumptions: readonly AssumptionId[];
}

/** Resolves the parts of a row that depend on the ledger. */
export function resolveOperation(row: OperationDefinition, choices: Choices): ResolvedOperation {
  const { assumes = [] } = row;
  const tiers = row.tiers === 'public' ? undefined : trace(row.tiers, choices);
  return {
    tiers: tiers?.value,
    tierChoices: tiers?.usedChoices ?? [],
    tierAssumptions: assumes.filter((id) => affectsPart(id, 'access')),
    tiersByChoice: new Set(TIERS.filter((tier) => dependsOnChoice(row, tier, choices))),
    params: row.params,
    query:
      row.query &&
      resolveSchema(
        row.query,
        choices,
        assumes.filter((id) => affectsPart(id, 'query')),
      ),
    body:
      row.body &&
      resolveSchema(
        row.body,
        choices,
        assumes.filter((id) => affectsPart(id, 'body')),
      ),
    replyAssumptions: assumes.filter((id) => affectsPart(id, 'reply')),
  };
}

function resolveSchema(
  build: (choose: Choose) => z.ZodObject,
  choices: Choices,
  assumes: readonly AssumptionId[],
): ResolvedSchema {
  const { value: schema } = trace(build, choices);
  const alternatives = evaluateAlternatives(build, choices).map(({ id, value }) => ({ id, schema: value }));
  return { schema, assumes, alternatives };
}

/** Returns whether a different value of any single choice would let a tier call the operation or forbid it. */
function dependsOnChoice({ tiers }: OperationDefinition, tier: Tier, choices: Choices): boolean {
  if (tiers === 'public') return false;
  const mayCall = trace(tiers, choices).value.includes(tier);
  return evaluateAlternatives(tiers, choices).some(({ value }) => value.includes(tier) !== mayCall);
}

/** Evaluates `build` under each other value of each choice that it uses, changing one choice at a time. */
function evaluateAlternatives<Value>(build: (choose: Choose) => Value, choices: Choices) {
  return trace(build, choices).usedChoices.flatMap((id) =>
    Object.keys(choiceDefinition(id).choices)
      .filter((value) => value !== choices[id])
      .map((value) => ({ id, value: trace(build, { ...choices, [id]: value } as Choices).value })),
  );
}

/** Calls `build` with these choices and records which of them it uses. */
function trace<Value>(build: (choose: Choose) => Value, choices: Choices) {
  const { choose, usedBehaviours } = createLedgerReader(choices);
  return { value: build(choose), usedChoices: [...usedBehaviours].filter(isChoice) };
}
