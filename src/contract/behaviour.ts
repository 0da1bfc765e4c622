/** The source of a default: the service document, the public reference, or our own choice (see README.md). */
export type Origin = 'document' | 'reference' | 'assumed';

/** Values that a behaviour accepts in addition to its choices. */
export interface OtherValues {
  /** A description of the valid values, for the end of a sentence. */
  readonly rule: string;
  /** Returns the normalised value, or `undefined` if the text is not valid. */
  parse(text: string): string | undefined;
}

interface OpenPoint {
  /** The point that the service document leaves open. */
  readonly question: string;
  /** The section of the service document that leaves the question open, such as `4.4`. See README.md. */
  readonly section: string;
  /** The source of the default or of the assumption. */
  readonly origin: Origin;
}

/** An open point with several possible behaviours: a test author chooses one. */
export interface ChoiceDefinition extends OpenPoint {
  /** Each possible value with its meaning. */
  readonly choices: Readonly<Record<string, string>>;
  /** Further values that the behaviour accepts. */
  readonly otherValues?: OtherValues;
  readonly default: string;
}

/** A part of an operation that an assumption can affect; `access` is the set of tiers that may call it. */
export type OperationPart = 'access' | 'query' | 'body' | 'reply';

/** An open point with a single behaviour, which cannot be changed. */
export interface AssumptionDefinition extends OpenPoint {
  /** What the emulator does. */
  readonly assumption: string;
  /** The parts that it affects in the operations that list it in `assumes`. Default: the reply. */
  readonly shapes?: readonly OperationPart[];
}

/** One entry of the ledger. */
export type BehaviourDefinition = ChoiceDefinition | AssumptionDefinition;

type Checked<Ledger> = {
  [Id in keyof Ledger]: Ledger[Id] extends { readonly choices: infer Choices }
    ? Ledger[Id] & { default: keyof Choices }
    : Ledger[Id];
};

/** Types ledger entries without widening them, and requires each default to be one of the choices. */
export function defineBehaviours<const Ledger extends Record<string, BehaviourDefinition>>(
  ledger: Ledger & Checked<Ledger>,
) {
  return ledger as Ledger;
}
