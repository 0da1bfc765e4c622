/** Where a default comes from: the service document, the public reference, or our own choice; see README.md. */
export type Origin = 'document' | 'reference' | 'assumed';

/** Values that a behaviour takes besides its choices. */
export interface OtherValues {
  /** What is right for one, as the end of a sentence. */
  readonly rule: string;
  /** The value as it counts; `undefined` for a text that is none. */
  parse(text: string): string | undefined;
}

interface OpenPoint {
  /** What the document does not say. */
  readonly question: string;
  /** The section of the service document that leaves it open. */
  readonly section: string;
  /** Where the default, or what is assumed, comes from. */
  readonly origin: Origin;
}

/** A point that the service document leaves open and for which there are several readings: a test author picks one. */
export interface ChoiceDefinition extends OpenPoint {
  /** Each value the behaviour can take, with what it means. */
  readonly choices: Readonly<Record<string, string>>;
  /** The values that it takes besides these, where there are such. */
  readonly otherValues?: OtherValues;
  readonly default: string;
}

/** What of an operation an assumption shapes: who may call it, what its query or body may be, or what it answers. */
export type Shaped = 'access' | 'query' | 'body' | 'reply';

/** A point that the service document leaves open and for which there is only what the emulator does. */
export interface AssumptionDefinition extends OpenPoint {
  /** What the emulator does. */
  readonly assumption: string;
  /** What it shapes of the operations whose rows name it; the reply if left out. */
  readonly shapes?: readonly Shaped[];
}

/** One entry of the ledger. */
export type BehaviourDefinition = ChoiceDefinition | AssumptionDefinition;

type Checked<Ledger> = {
  [Id in keyof Ledger]: Ledger[Id] extends { readonly choices: infer Choices }
    ? Ledger[Id] & { default: keyof Choices }
    : Ledger[Id];
};

/** Types entries of the ledger without widening them, and refuses a default that is no choice. */
export function defineBehaviours<const Ledger extends Record<string, BehaviourDefinition>>(
  ledger: Ledger & Checked<Ledger>,
) {
  return ledger as Ledger;
}
