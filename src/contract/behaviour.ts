/** Where a default comes from: the service document, the public reference, or our own choice. */
export type Origin = 'document' | 'reference' | 'assumed';

/** Values that a behaviour takes besides its choices. */
export interface OtherValues {
  /** What is right for one, as the end of a sentence. */
  readonly rule: string;
  /** The value as it counts; `undefined` for a text that is none. */
  parse(text: string): string | undefined;
}

/** One point that the service document leaves open, and how the emulator can decide it. */
export interface BehaviourDefinition {
  /** What the document does not say. */
  readonly question: string;
  /** The section of the service document that leaves it open. */
  readonly section: string;
  /** Each value the behaviour can take, with what it means. */
  readonly choices: Readonly<Record<string, string>>;
  /** The values that it takes besides these, where there are such. */
  readonly otherValues?: OtherValues;
  readonly default: string;
  /** Where the default comes from. */
  readonly origin: Origin;
}

type Checked<Ledger> = {
  [Id in keyof Ledger]: Ledger[Id] & { default: keyof (Ledger[Id] & BehaviourDefinition)['choices'] };
};

/** Types entries of the ledger without widening them, and refuses a default that is no choice. */
export function defineBehaviours<const Ledger extends Record<string, BehaviourDefinition>>(
  ledger: Ledger & Checked<Ledger>,
) {
  return ledger as Ledger;
}
