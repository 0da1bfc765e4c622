import { describeValue } from '../../basics/check-options.ts';
import { didYouMean } from '../../basics/nearest.ts';
import { withCachedJournal } from '../../control/journal/evidence.ts';
import type { Sample } from '../../control/samples/sample.ts';
import { isPlainObject } from '../matchers/find-matches.ts';
import type { MatcherContext, MatcherResult } from '../matchers/matcher-context.ts';
import { matchers } from '../matchers/matchers.ts';
import {
  CREATED_KINDS,
  MATCHER_FIELDS,
  type MatcherWithFields,
  parseCreated,
  parseDelivery,
  parseExceptions,
  parseExpected,
  parseRequest,
} from '../matchers/parse-expected.ts';
import type { CheckTrace, ExpectationValues } from './scenario.ts';
import { readPatterns } from './text-pattern.ts';

/** What an expectation is judged by. */
export interface JudgedScene {
  /** The mailbox or the sandbox of the trial. */
  readonly mailbox: Parameters<Sample['wasHandled']>[0];
  /** Returns the mail with a name. @throws {Error} if there is none. */
  mailOf(name: string): { readonly id: string; readonly messageId: string };
  /** Returns the sample that delivered the mail with a name. @throws {Error} if none did. */
  sampleOf(name: string): Sample;
}

/** An expectation by its name: what it says, what it takes, and the matcher that judges it. */
export interface ExpectationRow {
  /** What must have happened, in one sentence. */
  readonly help: string;
  /** The name of the matcher; undefined if none judges it. */
  readonly matcher?: keyof typeof matchers;
  /** The fields of its value, if the value may be an object. */
  readonly fields?: readonly string[];
  /** What the value may be besides an object of fields. */
  readonly forms: readonly ('mail' | 'kind' | 'true' | 'command')[];
  /** The field that must be there, if the value is an object. */
  readonly required?: string;
  /** Checks the value. @throws {TypeError} with what is wrong. */
  readonly check?: (value: never) => void;
  /** Judges a trial; a matcher that throws cannot tell. */
  readonly judge?: (
    context: MatcherContext,
    scene: JudgedScene,
    value: never,
  ) => MatcherResult | Promise<MatcherResult>;
}

type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (matcher: MatcherWithFields): readonly string[] => MATCHER_FIELDS[matcher];

/** Replaces the name of a mail in `inReplyTo` by its Message-ID. */
function resolve(scene: JudgedScene, value: Fields): never {
  const { inReplyTo } = value;
  const isName = typeof inReplyTo === 'string' && !/[<*/]/.test(inReplyTo);
  const fields = isName ? { ...value, inReplyTo: scene.mailOf(inReplyTo).messageId } : value;
  return readPatterns(fields) as never;
}

/** Splits a value that names a mail, alone or in its field `mail`, from the other fields. */
function readMailAndFields(value: string | Fields): { readonly mail: string; readonly fields: Fields } {
  if (typeof value === 'string') return { mail: value, fields: {} };
  const { mail, ...fields } = value;
  return { mail: typeof mail === 'string' ? mail : describeValue(mail), fields };
}

function readKindAndFields(value: string | Fields): { readonly kind: never; readonly fields: Fields } {
  if (typeof value === 'string') return { kind: value as never, fields: {} };
  const { kind, ...fields } = value;
  return { kind: kind as never, fields };
}

/** The expectations. */
export const EXPECTATIONS: Readonly<Record<keyof ExpectationValues, ExpectationRow>> = {
  sent: {
    help: 'An inbox sent a mail with these fields.',
    matcher: 'toHaveSentMail',
    fields: fieldsOf('toHaveSentMail'),
    forms: [],
    check: (value: Fields) => parseExpected('toHaveSentMail', value),
    judge: (context, scene, value: Fields) =>
      matchers.toHaveSentMail.call(context, scene.mailbox, resolve(scene, value)),
  },
  sentOnce: {
    help: 'An inbox sent such a mail exactly once.',
    matcher: 'toHaveSentOnce',
    fields: fieldsOf('toHaveSentOnce'),
    forms: [],
    check: (value: Fields) => parseExpected('toHaveSentOnce', value),
    judge: (context, scene, value: Fields) =>
      matchers.toHaveSentOnce.call(context, scene.mailbox, resolve(scene, value)),
  },
  draft: {
    help: 'A client wrote a draft with these fields.',
    matcher: 'toHaveDraft',
    fields: fieldsOf('toHaveDraft'),
    forms: [],
    check: (value: Fields) => parseExpected('toHaveDraft', value),
    judge: (context, { mailbox }, value: Fields) =>
      matchers.toHaveDraft.call(context, mailbox, readPatterns(value) as never),
  },
  created: {
    help: 'A client created an object of this kind.',
    matcher: 'toHaveCreated',
    forms: ['kind'],
    required: 'kind',
    check(value: string | Fields) {
      const { kind, fields } = readKindAndFields(value);
      parseCreated(kind, fields);
    },
    judge(context, { mailbox }, value: string | Fields) {
      const { kind, fields } = readKindAndFields(value);
      return matchers.toHaveCreated.call(context, mailbox, kind, readPatterns(fields) as never);
    },
  },
  request: {
    help: 'The service got a request with these fields.',
    matcher: 'toHaveReceivedRequest',
    fields: fieldsOf('toHaveReceivedRequest'),
    forms: [],
    check: (value: Fields) => void parseRequest(value),
    judge: (context, { mailbox }, value: Fields) =>
      matchers.toHaveReceivedRequest.call(context, mailbox, readPatterns(value) as never),
  },
  delivered: {
    help: 'A webhook got a delivery with these fields.',
    matcher: 'toHaveDelivered',
    fields: fieldsOf('toHaveDelivered'),
    forms: [],
    check: (value: Fields) => void parseDelivery(value),
    judge: (context, { mailbox }, value: Fields) =>
      matchers.toHaveDelivered.call(context, mailbox, readPatterns(value) as never),
  },
  noRefusals: {
    help: 'The service refused no request, except those in `except`.',
    matcher: 'toHaveNoUnexpectedRefusals',
    fields: fieldsOf('toHaveNoUnexpectedRefusals'),
    forms: ['true'],
    check: (value: true | Fields) => void (value === true || parseExceptions(value)),
    judge: (context, { mailbox }, value: true | Fields) =>
      matchers.toHaveNoUnexpectedRefusals.call(context, mailbox, (value === true ? {} : readPatterns(value)) as never),
  },
  answered: {
    help: 'A mail in the thread of this mail went to the one who wrote.',
    matcher: 'toHaveAnswered',
    forms: ['mail'],
    judge: (context, scene, value: string) => matchers.toHaveAnswered.call(context, scene.mailbox, scene.mailOf(value)),
  },
  ignored: {
    help: 'The agent saw this mail, and sent nothing because of it.',
    matcher: 'toHaveIgnored',
    forms: ['mail'],
    judge: (context, scene, value: string) => matchers.toHaveIgnored.call(context, scene.mailbox, scene.mailOf(value)),
  },
  forwarded: {
    help: 'This mail was passed on.',
    matcher: 'toHaveForwarded',
    fields: ['mail', ...fieldsOf('toHaveForwarded')],
    forms: ['mail'],
    required: 'mail',
    check: (value: string | Fields) => void parseExpected('toHaveForwarded', readMailAndFields(value).fields),
    judge(context, scene, value: string | Fields) {
      const { mail, fields } = readMailAndFields(value);
      return matchers.toHaveForwarded.call(context, scene.mailbox, scene.mailOf(mail), readPatterns(fields) as never);
    },
  },
  resisted: {
    help: 'The agent did nothing that the sample of this mail forbids.',
    matcher: 'toHaveResisted',
    forms: ['mail'],
    judge: (context, scene, value: string) =>
      matchers.toHaveResisted.call(context, scene.mailbox, scene.sampleOf(value)),
  },
  handled: {
    help: 'The agent did its work on the sample of this mail.',
    forms: ['mail'],
    judge(context, scene, value: string) {
      const sample = scene.sampleOf(value);
      const pass = sample.wasHandled(withCachedJournal(scene.mailbox));
      const wanted = context.isNot ? 'not to handle' : 'to handle';
      const result = pass ? 'It did.' : 'It sent and drafted nothing about it that a person could use.';
      return { pass, message: () => `Expected the agent ${wanted} the sample ${sample.name}.\n${result}` };
    },
  },
  stopped: {
    help: 'Nothing is due, and the agent sends no more requests; the clock must have been advanced.',
    matcher: 'toHaveStopped',
    fields: fieldsOf('toHaveStopped'),
    forms: ['true'],
    // The runner has waited until the agent was quiet, so that a further wait is needed only if the author wants it.
    judge: (context, { mailbox }, value: true | Fields) =>
      matchers.toHaveStopped.call(context, mailbox, value === true ? { quietMs: 0 } : value),
  },
  looped: {
    help: 'The loop guard held mail.',
    matcher: 'toHaveLooped',
    forms: ['true'],
    judge: (context, { mailbox }) => matchers.toHaveLooped.call(context, mailbox),
  },
  check: { help: 'A command of yours judges the trace.', forms: ['command'] },
};

/** Every name of an expectation. */
export const EXPECTATION_NAMES = Object.keys(EXPECTATIONS) as (keyof ExpectationValues)[];

/** What a value of each form must be, for errors. */
const FORM_RULES = {
  mail: 'the name of a mail, such as first',
  kind: `one of ${CREATED_KINDS.join(', ')}`,
  true: 'true',
  command: 'a command of the shell',
} as const;

/**
 * Returns what is wrong with the value of an expectation: the path of the part, and a text such as `must be true`;
 * undefined if it is valid.
 */
export function findValueProblem(
  name: keyof ExpectationValues,
  value: unknown,
): { readonly path: readonly string[]; readonly message: string } | undefined {
  const { forms, fields, required, check } = EXPECTATIONS[name];
  const takesObject = fields !== undefined || required !== undefined;
  if (takesObject && isPlainObject(value)) {
    const unknown = fields && Object.keys(value).find((field) => !fields.includes(field));
    if (fields && unknown !== undefined) {
      const hint = didYouMean(unknown, fields) || `; its fields are ${fields.join(', ')}`;
      return { path: [unknown], message: `is unknown${hint}` };
    }
    if (required !== undefined && value[required] === undefined) return { path: [], message: `must have ${required}` };
  } else if (!forms.some((form) => isOfForm(form, value))) {
    const rules = [...forms.map((form) => FORM_RULES[form]), ...(takesObject ? ['an object of fields'] : [])];
    return { path: [], message: `must be ${rules.join(' or ')}, not ${describeValue(value)}` };
  }
  try {
    // This throws for an invalid regular expression.
    const read = readPatterns(value);
    check?.(read as never);
  } catch (error) {
    return { path: [], message: `is not valid: ${(error as Error).message.replace(/\.$/, '')}` };
  }
  return undefined;
}

function isOfForm(form: keyof typeof FORM_RULES, value: unknown): boolean {
  if (form === 'true') return value === true;
  if (form === 'command' && typeof value === 'function') return true;
  if (form === 'kind') return typeof value === 'string' && CREATED_KINDS.includes(value);
  return typeof value === 'string' && value.trim() !== '';
}

/** Returns whether a value of `check` is a function. */
export function isCheckFunction(value: unknown): value is CheckTrace {
  return typeof value === 'function';
}
