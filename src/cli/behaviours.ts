import {
  BEHAVIOUR_IDS,
  BEHAVIOURS,
  type BehaviourDefinition,
  BehaviourError,
  type ChoiceDefinition,
  isBehaviourId,
  isChoice,
  parseBehaviours,
} from '../contract/behaviours.ts';
import { type GivenFlags, type RunCommand, UsageError } from './command.ts';
import { type Entry, indent, toList, WIDTH, wrap } from './layout.ts';
import { parseEach, parsePair } from './read-flag.ts';

/** Prints the behaviour ledger, or one entry of it. */
export const behaviours: RunCommand = async (terminal, flags, id) => {
  const entries = readEntries(flags, id);
  if (flags.json?.value === true) terminal.out(JSON.stringify({ behaviours: entries }));
  else terminal.out((id === undefined ? entries.flatMap(summarise) : entries.flatMap(explain)).join('\n'));
};

/** An entry of the ledger, in the shape that the control plane uses too. */
type LedgerEntry = BehaviourDefinition & {
  readonly id: string;
  /** The value that a choice has in an emulator that is started with the same flags. */
  readonly value?: string;
};

function readEntries(flags: GivenFlags, id: string | undefined): LedgerEntry[] {
  const overrides = parseEach(flags.behaviour, (text, source) => parsePair(text, source, '<id>=<value>'));
  const values = parseOverrides(Object.fromEntries(overrides));
  // Parsing an unknown id throws an error that suggests similar ids; the value does not matter.
  if (id !== undefined && !isBehaviourId(id)) parseOverrides({ [id]: '' });
  return BEHAVIOUR_IDS.filter((known) => id === undefined || known === id).map((known) => ({
    id: known,
    ...BEHAVIOURS[known],
    ...(isChoice(known) && { value: values[known] }),
  }));
}

function parseOverrides(options: Readonly<Record<string, string>>) {
  try {
    return parseBehaviours(options);
  } catch (error) {
    throw error instanceof BehaviourError ? new UsageError(error.message) : error;
  }
}

/** Shows a choice in the form of `--behaviour` and its other values below, or the assumption of the entry. */
function summarise(entry: LedgerEntry): string[] {
  if ('assumption' in entry) return [entry.id, ...indent(`assumed: ${entry.assumption}`, 4)];
  const { id, value, choices, otherValues } = entry;
  const listed = [...Object.keys(choices), ...(otherValues ? [otherValues.rule] : [])];
  return [`${id}=${value}`, ...indent(`or ${listed.filter((choice) => choice !== value).join(', ')}`, 4)];
}

function explain(entry: LedgerEntry): string[] {
  const { id, question, section, origin } = entry;
  const facts: Entry[] = [
    ['Section', section],
    ...('choices' in entry ? listValues(entry) : []),
    ['Origin', ORIGINS[origin]],
  ];
  const details = 'choices' in entry ? listChoices(entry) : ['Assumption:', ...indent(entry.assumption, 2)];
  return [id, ...wrap(question, WIDTH), '', ...toList(facts), '', ...details];
}

function listValues({ value = '', ...entry }: LedgerEntry & ChoiceDefinition): Entry[] {
  return [
    ['Value', value],
    ['Default', entry.default],
  ];
}

function listChoices({ choices, otherValues }: ChoiceDefinition): string[] {
  const others = otherValues ? indent(`or ${otherValues.rule}`, 2) : [];
  return ['Choices:', ...toList(Object.entries(choices), 24), ...others];
}

const ORIGINS = {
  document: 'document: the service document states it',
  reference: 'reference: the public reference of the service states it',
  assumed: 'assumed: no source states it; it is our choice',
};
