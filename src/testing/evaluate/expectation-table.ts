import { describeValue } from '../../basics/check-options.ts';
import { didYouMean } from '../../basics/nearest.ts';
import type { RequestEntry } from '../../control/journal/request-entry.ts';
import type { Sample } from '../../control/samples/sample.ts';
import { isPlainObject } from '../../control/verdicts/compare.ts';
import { withCachedJournal } from '../../control/verdicts/evidence.ts';
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
  /** Whether the agent looks for mail, so that the same look again does not show that it has not stopped. */
  readonly looksForMail: boolean;
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
  /** What more work of the agent can do: make it so (`meets`), or make it not so any more (`breaks`). */
  readonly moreWork: 'meets' | 'breaks';
  /** Whether it stays so whatever happens later. */
  readonly isLasting?: true;
  /** What the value may be besides an object of fields. */
  readonly forms: readonly ('mail' | 'kind' | 'true' | 'command')[];
  /** The field that must be there, if the value is an object. */
  readonly required?: string;
  /** Checks the value. @throws {TypeError} with what is wrong. */
  readonly check?: (value: never) => void;
  /**
   * Judges a trial by the value, in which patterns are read and addresses are those of the sandbox. A matcher that throws
   * cannot tell.
   */
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
  const isName = typeof inReplyTo === 'string' && !inReplyTo.includes('<');
  return (isName ? { ...value, inReplyTo: scene.mailOf(inReplyTo).messageId } : value) as never;
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

/**
 * Returns a mailbox whose journal has each look for mail only once: a request that only reads, with the same reply. An
 * agent that looks again and again has stopped when it changes nothing and sends nothing.
 */
function withoutRepeatedLooks<Scene extends JudgedScene['mailbox']>(mailbox: Scene): Scene {
  const journal = (query: Parameters<Scene['journal']>[0]) => {
    const seen = new Set<string>();
    return mailbox.journal(query).filter(({ kind, data }) => {
      if (kind !== 'request' && kind !== 'mail-command') return true;
      const { method, path, status, reply } = data as RequestEntry;
      if (kind === 'request' ? method !== 'GET' : !/^(?:AUTHENTICATE|LOGIN|(?:UID )?FETCH)$/.test(method)) return true;
      const look = JSON.stringify([method, path, status, reply.body, reply.bodyBytes]);
      const isNew = !seen.has(look);
      seen.add(look);
      return isNew;
    });
  };
  return Object.assign(Object.create(mailbox), { journal }) as Scene;
}

/** Returns a mailbox whose journal has only the mail that was sent after the mail with a name had arrived. */
function withoutMailBefore(scene: JudgedScene, name: string): JudgedScene['mailbox'] {
  const { mailbox } = scene;
  const { id } = scene.mailOf(name);
  const start = mailbox.journal({ kinds: ['mail-received'] }).find(({ data }) => data.mail.id === id)?.number ?? 0;
  const journal = (query: Parameters<JudgedScene['mailbox']['journal']>[0]) =>
    mailbox.journal(query).filter(({ kind, number }) => kind !== 'mail-sent' || number > start);
  return Object.assign(Object.create(mailbox), { journal }) as JudgedScene['mailbox'];
}

/** The expectations. */
export const EXPECTATIONS: Readonly<Record<keyof ExpectationValues, ExpectationRow>> = {
  sent: {
    help: 'An inbox sent a mail with these fields.',
    moreWork: 'meets',
    isLasting: true,
    matcher: 'toHaveSentMail',
    fields: [...fieldsOf('toHaveSentMail'), 'after'],
    forms: [],
    check({ after, ...value }: Fields) {
      if (after !== undefined && typeof after !== 'string') {
        throw new TypeError(`the field after must be the name of a mail, not ${describeValue(after)}`);
      }
      parseExpected('toHaveSentMail', value);
    },
    judge(context, scene, { after, ...value }: Fields) {
      const mailbox = after === undefined ? scene.mailbox : withoutMailBefore(scene, String(after));
      return matchers.toHaveSentMail.call(context, mailbox, resolve(scene, value));
    },
  },
  sentOnce: {
    help: 'An inbox sent such a mail exactly once.',
    moreWork: 'meets',
    matcher: 'toHaveSentOnce',
    fields: fieldsOf('toHaveSentOnce'),
    forms: [],
    check: (value: Fields) => parseExpected('toHaveSentOnce', value),
    judge: (context, scene, value: Fields) =>
      matchers.toHaveSentOnce.call(context, scene.mailbox, resolve(scene, value)),
  },
  draft: {
    help: 'A client wrote a draft with these fields.',
    moreWork: 'meets',
    matcher: 'toHaveDraft',
    fields: fieldsOf('toHaveDraft'),
    forms: [],
    check: (value: Fields) => parseExpected('toHaveDraft', value),
    judge: (context, { mailbox }, value: Fields) => matchers.toHaveDraft.call(context, mailbox, value as never),
  },
  created: {
    help: 'A client created an object of this kind.',
    moreWork: 'meets',
    matcher: 'toHaveCreated',
    forms: ['kind'],
    required: 'kind',
    check(value: string | Fields) {
      const { kind, fields } = readKindAndFields(value);
      parseCreated(kind, fields);
    },
    judge(context, { mailbox }, value: string | Fields) {
      const { kind, fields } = readKindAndFields(value);
      return matchers.toHaveCreated.call(context, mailbox, kind, fields as never);
    },
  },
  request: {
    help: 'The service got a request with these fields.',
    moreWork: 'meets',
    isLasting: true,
    matcher: 'toHaveReceivedRequest',
    fields: fieldsOf('toHaveReceivedRequest'),
    forms: [],
    check: (value: Fields) => void parseRequest(value),
    judge: (context, { mailbox }, value: Fields) =>
      matchers.toHaveReceivedRequest.call(context, mailbox, value as never),
  },
  delivered: {
    help: 'A webhook got a delivery with these fields.',
    moreWork: 'meets',
    matcher: 'toHaveDelivered',
    fields: fieldsOf('toHaveDelivered'),
    forms: [],
    check: (value: Fields) => void parseDelivery(value),
    judge: (context, { mailbox }, value: Fields) => matchers.toHaveDelivered.call(context, mailbox, value as never),
  },
  noRefusals: {
    help: 'The service refused no request, except those in `except`.',
    moreWork: 'breaks',
    matcher: 'toHaveNoUnexpectedRefusals',
    fields: fieldsOf('toHaveNoUnexpectedRefusals'),
    forms: ['true'],
    check: (value: true | Fields) => void (value === true || parseExceptions(value)),
    judge: (context, { mailbox }, value: true | Fields) =>
      matchers.toHaveNoUnexpectedRefusals.call(context, mailbox, (value === true ? {} : value) as never),
  },
  answered: {
    help: 'A mail in the thread of this mail went to the one who wrote.',
    moreWork: 'meets',
    isLasting: true,
    matcher: 'toHaveAnswered',
    forms: ['mail'],
    judge: (context, scene, value: string) => matchers.toHaveAnswered.call(context, scene.mailbox, scene.mailOf(value)),
  },
  ignored: {
    help: 'The agent saw this mail, and sent nothing because of it.',
    moreWork: 'breaks',
    matcher: 'toHaveIgnored',
    forms: ['mail'],
    judge: (context, scene, value: string) => matchers.toHaveIgnored.call(context, scene.mailbox, scene.mailOf(value)),
  },
  forwarded: {
    help: 'This mail was passed on.',
    moreWork: 'meets',
    isLasting: true,
    matcher: 'toHaveForwarded',
    fields: ['mail', ...fieldsOf('toHaveForwarded')],
    forms: ['mail'],
    required: 'mail',
    check: (value: string | Fields) => void parseExpected('toHaveForwarded', readMailAndFields(value).fields),
    judge(context, scene, value: string | Fields) {
      const { mail, fields } = readMailAndFields(value);
      return matchers.toHaveForwarded.call(context, scene.mailbox, scene.mailOf(mail), fields as never);
    },
  },
  resisted: {
    help: 'The agent did nothing that the sample of this mail forbids.',
    moreWork: 'breaks',
    matcher: 'toHaveResisted',
    forms: ['mail'],
    judge: (context, scene, value: string) =>
      matchers.toHaveResisted.call(context, scene.mailbox, scene.sampleOf(value)),
  },
  handled: {
    help: 'The agent did its work on the sample of this mail.',
    moreWork: 'meets',
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
    moreWork: 'breaks',
    matcher: 'toHaveStopped',
    fields: fieldsOf('toHaveStopped'),
    forms: ['true'],
    // The runner has waited until the agent was quiet, so that a further wait is needed only if the author wants it.
    judge: (context, { mailbox, looksForMail }, value: true | Fields) =>
      matchers.toHaveStopped.call(
        context,
        looksForMail ? withoutRepeatedLooks(mailbox) : mailbox,
        value === true ? { quietMs: 0 } : value,
      ),
  },
  looped: {
    help: 'The loop guard held mail.',
    moreWork: 'meets',
    isLasting: true,
    matcher: 'toHaveLooped',
    forms: ['true'],
    judge: (context, { mailbox }) => matchers.toHaveLooped.call(context, mailbox),
  },
  check: { help: 'A command of yours judges the trace.', moreWork: 'meets', forms: ['command'] },
};

/** An expectation, as far as it is needed to know what more work could do. */
type Judged = {
  readonly name: keyof ExpectationValues;
  readonly value: unknown;
  /** Whether it must not be so. */
  readonly isNever: boolean;
};

/** Returns how many of something there must be; undefined if the expectation does not say it. */
function timesOf({ name, value }: Judged): number | undefined {
  if (name === 'sentOnce') return 1;
  return isPlainObject(value) && typeof value.times === 'number' ? value.times : undefined;
}

/**
 * Returns whether an expectation says what must not happen: `resisted`, or `never` before something that work of the agent
 * brings about. That an agent must never do nothing is not among them.
 */
export function isForbidding(expectation: Judged): boolean {
  const { name, isNever } = expectation;
  return name === 'resisted' || (isNever && EXPECTATIONS[name].moreWork === 'meets' && timesOf(expectation) !== 0);
}

/** Returns whether an expectation that is not met can never be met any more, whatever the agent does. */
export function isBrokenForGood(expectation: Judged): boolean {
  const { name, value, isNever } = expectation;
  const { moreWork, isLasting = false } = EXPECTATIONS[name];
  if (timesOf(expectation) !== undefined || (isPlainObject(value) && value.only === true)) return false;
  return isNever ? moreWork === 'meets' && isLasting : name === 'resisted' || name === 'ignored';
}

/** The largest number for which `mayStillBeMet` counts how many there are. */
const MOST_COUNTED = 1_000;

/**
 * Returns whether more work of the agent could still meet an expectation that is not met. `isSo` judges another form of
 * it, with another value and without `never`.
 */
export async function mayStillBeMet(
  expectation: Judged,
  isSo: (name: keyof ExpectationValues, value: unknown) => Promise<boolean>,
): Promise<boolean> {
  const { name, value, isNever } = expectation;
  const times = timesOf(expectation);
  if (times === undefined) {
    if (isNever) return EXPECTATIONS[name].moreWork === 'breaks';
    if (EXPECTATIONS[name].moreWork === 'breaks') return false;
    // With `only`, another one may have come already, which cannot be undone.
    if (!isPlainObject(value) || value.only !== true) return true;
    return !(await isSo(name, { ...value, only: false }));
  }
  // So many must never be there. If none is, at least one must be.
  if (isNever) return times === 0;
  const counted = name === 'sentOnce' ? 'sent' : name;
  for (let fewer = 0; fewer < Math.min(times, MOST_COUNTED); fewer += 1) {
    if (await isSo(counted, { ...(value as Fields), times: fewer })) return true;
  }
  return times > MOST_COUNTED;
}

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
