import { toPrintableJson } from '../../basics/printable.ts';
import { indent, WIDTH, wrap } from '../../basics/wrap-text.ts';
import {
  BEHAVIOUR_IDS,
  BEHAVIOURS,
  type BehaviourDefinition,
  BehaviourError,
  type ChangeableDefinition,
  isBehaviourId,
  isChangeable,
  parseBehaviours,
} from '../../contract/behaviours.ts';
import { type GivenFlags, parseEach, parsePair, type RunCommand, UsageError } from '../command.ts';
import { toList } from '../layout.ts';

/** Prints all behaviours, or one of them. */
export const behaviours: RunCommand = async (terminal, flags, id) => {
  const entries = readEntries(flags, id);
  if (flags.json?.value === true) terminal.out(toPrintableJson({ behaviours: entries }));
  else terminal.out((id === undefined ? entries.flatMap(summarise) : entries.flatMap(explain)).join('\n'));
};

/** A behaviour, in the same form as in the reply to `GET /__mock/behaviours`. */
type ShownBehaviour = BehaviourDefinition & {
  readonly id: string;
  /** The value that a changeable behaviour has in an emulator that is started with the same flags. */
  readonly value?: string;
};

function readEntries(flags: GivenFlags, id: string | undefined): ShownBehaviour[] {
  const overrides = parseEach(flags.behaviour, (text, source) => parsePair(text, source, '<id>=<value>'));
  const given = Object.fromEntries(overrides);
  const values = parseOverrides(given);
  // For an unknown id, this call throws an error that suggests similar ids. The value is not important.
  if (id !== undefined && !isBehaviourId(id)) parseOverrides({ [id]: '' });
  return BEHAVIOUR_IDS.filter((known) => id === undefined || known === id).map((known) => ({
    id: known,
    ...BEHAVIOURS[known],
    ...(isChangeable(known) && {
      value: values[known],
      start: values[known],
      isPinned: false,
      source: Object.hasOwn(given, known) ? 'option' : 'default',
    }),
  }));
}

function parseOverrides(options: Readonly<Record<string, string>>) {
  try {
    return parseBehaviours(options);
  } catch (error) {
    throw error instanceof BehaviourError ? new UsageError(error.message) : error;
  }
}

/** Shows a changeable behaviour as `id=value`, and its other values below. For an assumption, shows its text below. */
function summarise(entry: ShownBehaviour): string[] {
  if ('assumption' in entry) return [entry.id, ...indent(`assumption: ${entry.assumption}`, 4)];
  const { id, value, choices, otherValues } = entry;
  const listed = [...Object.keys(choices), ...(otherValues ? [otherValues.rule] : [])];
  return [`${id}=${value}`, ...indent(`or ${listed.filter((other) => other !== value).join(', ')}`, 4)];
}

function explain(entry: ShownBehaviour): string[] {
  const { id, question, section, origin } = entry;
  const values = 'choices' in entry ? { Value: entry.value ?? '', Default: entry.default } : {};
  const facts = Object.entries({ Section: section, ...values, Origin: ORIGINS[origin] });
  const details = 'choices' in entry ? listPossibleValues(entry) : ['Assumption:', ...indent(entry.assumption, 2)];
  return [id, ...wrap(question, WIDTH), '', ...toList(facts), '', ...details];
}

function listPossibleValues({ choices, otherValues }: ChangeableDefinition): string[] {
  const others = otherValues ? indent(`or ${otherValues.rule}`, 2) : [];
  return ['Values:', ...toList(Object.entries(choices), 24), ...others];
}

const ORIGINS = {
  document: 'document: the service document states it',
  reference: 'reference: the public reference of the service states it',
  assumed: 'assumed: no source states it; it is our decision',
};
