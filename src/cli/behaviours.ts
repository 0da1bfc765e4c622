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
import { parseEach, parsePair } from './read-given.ts';

/** Shows the behaviour ledger. */
export const behaviours: RunCommand = async (terminal, given, id) => {
  const entries = readEntries(given, id);
  if (given.json?.value === true) terminal.out(JSON.stringify({ behaviours: entries }));
  else terminal.out((id === undefined ? entries.flatMap(summarise) : entries.flatMap(explain)).join('\n'));
};

/** An entry of the ledger, as the control plane shows it too. */
type LedgerEntry = BehaviourDefinition & {
  readonly id: string;
  /** What a choice would be in an emulator that is started with the same flags. */
  readonly value?: string;
};

function readEntries(given: GivenFlags, id: string | undefined): LedgerEntry[] {
  const switched = parseEach(given.behaviour, (text, source) => parsePair(text, source, '<id>=<value>'));
  const values = chooseOrRefuse(Object.fromEntries(switched));
  // Parsing refuses an unknown id, whatever the value, and says what may have been meant.
  if (id !== undefined && !isBehaviourId(id)) chooseOrRefuse({ [id]: '' });
  return BEHAVIOUR_IDS.filter((known) => id === undefined || known === id).map((known) => ({
    id: known,
    ...BEHAVIOURS[known],
    ...(isChoice(known) && { value: values[known] }),
  }));
}

function chooseOrRefuse(options: Readonly<Record<string, string>>) {
  try {
    return parseBehaviours(options);
  } catch (error) {
    throw error instanceof BehaviourError ? new UsageError(error.message) : error;
  }
}

/** A choice as `--behaviour` takes it, and below it what else it could be; or what is assumed. */
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
    ...('choices' in entry ? valuesOf(entry) : []),
    ['Origin', ORIGINS[origin]],
  ];
  const answer = 'choices' in entry ? readings(entry) : ['Assumption:', ...indent(entry.assumption, 2)];
  return [id, ...wrap(question, WIDTH), '', ...toList(facts), '', ...answer];
}

function valuesOf({ value = '', ...entry }: LedgerEntry & ChoiceDefinition): Entry[] {
  return [
    ['Value', value],
    ['Default', entry.default],
  ];
}

function readings({ choices, otherValues }: ChoiceDefinition): string[] {
  const others = otherValues ? indent(`or ${otherValues.rule}`, 2) : [];
  return ['Choices:', ...toList(Object.entries(choices), 24), ...others];
}

const ORIGINS = {
  document: 'document: the service document states it',
  reference: 'reference: the public reference of the service has it',
  assumed: 'assumed: it is our choice',
};
