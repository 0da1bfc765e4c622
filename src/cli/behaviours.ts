import {
  BEHAVIOUR_IDS,
  BEHAVIOURS,
  type BehaviourDefinition,
  BehaviourError,
  parseBehaviours,
} from '../contract/behaviours.ts';
import { type Command, type GivenFlags, UsageError } from './command.ts';
import { BEHAVIOURS_FLAGS } from './flags.ts';
import { type Entry, indent, toList, WIDTH, wrap } from './layout.ts';
import { parseEach, parsePair } from './read-given.ts';

/** Shows the behaviour ledger. */
export const behaviours: Command = {
  help: 'List what the service document leaves open, or explain one entry',
  argument: '[id]',
  flags: BEHAVIOURS_FLAGS,
  async run(terminal, given, id) {
    const entries = readEntries(given, id);
    if (given.json?.value === true) terminal.out(JSON.stringify({ behaviours: entries }));
    else terminal.out((id === undefined ? entries.flatMap(summarise) : entries.flatMap(explain)).join('\n'));
  },
};

/** An entry of the ledger, as the control plane shows it too. */
interface LedgerEntry extends BehaviourDefinition {
  readonly id: string;
  /** What it would be in an emulator that is started with the same flags. */
  readonly value: string;
}

function readEntries(given: GivenFlags, id: string | undefined): LedgerEntry[] {
  const switched = parseEach(given.behaviour, (text, source) => parsePair(text, source, '<id>=<value>'));
  const values = chooseOrRefuse(Object.fromEntries(switched));
  // Asked for by a value that nobody can have, an unknown id is refused as everywhere else.
  if (id !== undefined && !BEHAVIOUR_IDS.some((known) => known === id)) chooseOrRefuse({ [id]: '' });
  return BEHAVIOUR_IDS.filter((known) => id === undefined || known === id).map((known) => ({
    id: known,
    ...BEHAVIOURS[known],
    value: values[known],
  }));
}

function chooseOrRefuse(options: Readonly<Record<string, string>>) {
  try {
    return parseBehaviours(options);
  } catch (error) {
    throw error instanceof BehaviourError ? new UsageError(error.message) : error;
  }
}

/** An entry as `--behaviour` takes it, and below it what else it could be. */
function summarise({ id, value, choices, otherValues }: LedgerEntry): string[] {
  const listed = [...Object.keys(choices), ...(otherValues ? [otherValues.rule] : [])];
  const others = listed.filter((choice) => choice !== value);
  return [`${id}=${value}`, ...(others.length > 0 ? indent(`or ${others.join(', ')}`, 4) : [])];
}

function explain({ id, question, section, choices, value, origin, ...entry }: LedgerEntry): string[] {
  const facts: Entry[] = [
    ['Section', section],
    ['Value', value],
    ['Default', entry.default],
    ['Origin', ORIGINS[origin]],
  ];
  const other = entry.otherValues ? indent(`or ${entry.otherValues.rule}`, 2) : [];
  return [
    id,
    ...wrap(question, WIDTH),
    '',
    ...toList(facts),
    '',
    'Choices:',
    ...toList(Object.entries(choices), 24),
    ...other,
  ];
}

const ORIGINS = {
  document: 'document: the service document states the default',
  reference: 'reference: the public reference of the service has the default',
  assumed: 'assumed: the default is our choice',
};
