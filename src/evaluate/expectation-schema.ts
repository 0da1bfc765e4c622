import { z } from 'zod';
import { type InputOf, lazy } from '../basics/lazy-schema.ts';
import { messageOf } from '../basics/named-error.ts';
import { isObject, isPlainObject } from '../basics/objects.ts';
import { EVENT_KINDS } from '../contract/events.ts';
import { OPERATION_IDS } from '../contract/operations.ts';
import type {
  CreatedKind,
  ExpectedDelivery,
  ExpectedDraft,
  ExpectedForward,
  ExpectedMail,
  ExpectedMails,
  ExpectedObject,
  ExpectedRequest,
  QuietOptions,
  RefusalOptions,
} from '../control/assertions/expectations.ts';
import {
  CREATED_KINDS,
  MATCHER_FIELDS,
  type MatcherWithFields,
  parseCreated,
  parseDelivery,
  parseExceptions,
  parseExpected,
  parseRequest,
  readTimes,
  TIMES_RULE,
} from '../control/assertions/parse-expected.ts';
import { filledText, mustBe, mustBeName, type Rule } from './schema-parts.ts';
import { readPatterns, TextPattern } from './text-pattern.ts';

/**
 * The name of a mail of the trial: `first` or `last` of those that the steps delivered, the name that a step gave it by
 * `as`, or `sent`: the latest mail that an inbox sent.
 */
export type MailName = string;

/** Judges a trial by its trace, which is JSON Lines. */
export type CheckTrace = (trace: string) => CheckResult | Promise<CheckResult>;

/** What a check says. */
export interface CheckResult {
  /** Whether the trial is as it must be. */
  readonly verdict: Verdict;
  /** Why, in one line. */
  readonly reason?: string | undefined;
}

/** Whether something is so; `cannot tell` if it was not observed. */
export type Verdict = 'yes' | 'no' | 'cannot tell';

type Fields = Readonly<Record<string, unknown>>;

/** Checks one field as a matcher does. @throws {TypeError} with what is wrong. */
type CheckField = (field: Fields) => unknown;

/**
 * What a field must be: any value, in which each text may be a pattern. What `check` refuses can never match, such as a
 * key that the journal masks.
 */
function matching(name: string, check: CheckField) {
  return z.unknown().superRefine((value, context) => {
    const invalid = findInvalidPattern(value, []);
    if (invalid) {
      context.addIssue({ code: 'custom', path: [...invalid.path], message: invalid.message });
      return;
    }
    try {
      check({ [name]: readPatterns(value) });
    } catch (error) {
      context.addIssue({ code: 'custom', message: `is not valid: ${messageOf(error).replace(/\.$/, '')}` });
    }
  });
}

/** Finds a text that is written as a regular expression and is none. */
function findInvalidPattern(
  value: unknown,
  path: readonly PropertyKey[],
): { readonly path: readonly PropertyKey[]; readonly message: string } | undefined {
  if (typeof value === 'string') {
    try {
      new TextPattern(value);
    } catch (error) {
      return { path, message: `is not valid: ${messageOf(error)}` };
    }
    return undefined;
  }
  if (!Array.isArray(value) && !isPlainObject(value)) return undefined;
  for (const [key, part] of Object.entries(value)) {
    const found = findInvalidPattern(part, [...path, Array.isArray(value) ? Number(key) : key]);
    if (found) return found;
  }
  return undefined;
}

/** One of these names, or a pattern of them. In code it may be a regular expression or another matcher. */
function knownName(what: string, names: readonly string[]) {
  const rule = mustBeName(what, names);
  const isKnown = (given: unknown) =>
    typeof given === 'string'
      ? names.includes(given) || TextPattern.isPattern(given)
      : isObject(given) && !isPlainObject(given);
  return z.custom(isKnown, rule).meta({
    anyOf: [{ enum: names }, { type: 'string', pattern: '[*]|^/.+/[a-z]*$' }],
  });
}

const COUNT_RULE = mustBe('a whole number from 0');

const count = () => z.int(COUNT_RULE).min(0, COUNT_RULE);

/** How many there must be. What is wrong in a range is named there; a range of all numbers would say nothing. */
const times = () =>
  z
    .union(
      [
        count(),
        z
          .strictObject({ min: count().optional(), max: count().optional() })
          .refine(
            (range) => readTimes(range) !== undefined,
            'must have max, or min from 1, and min must not be above max',
          )
          .meta({ minProperties: 1 }),
      ],
      mustBe(TIMES_RULE),
    )
    .describe('How many there must be: a number, or a range with min, max or both. Default: at least one.');

/** The fields of expectations that are no values to compare with. */
const OWN_FIELDS: Readonly<Record<string, () => z.ZodType>> = {
  times,
  only: () => z.boolean(mustBe('true or false')).describe('Whether nothing else may have been sent.'),
  exists: () => z.boolean(mustBe('true or false')).describe('Whether it must still exist.'),
  operation: () => knownName('the id of an operation', OPERATION_IDS).describe('The operation.'),
  event: () => knownName(`one of ${EVENT_KINDS.join(', ')}`, EVENT_KINDS).describe('The kind of the event.'),
  quietMs: () => count().describe('For how long nothing may come, in milliseconds of real time.'),
  except: () => z.array(requestFields(), mustBe('a list of requests')).describe('The refusals that may happen.'),
};

/** What the other fields are, in JSON Schema. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  to: 'A recipient, or a list of recipients; there may be others.',
  recipients: 'All recipients, those in Cc and Bcc included, and nobody else.',
  cc: 'A recipient in Cc, or a list of them.',
  bcc: 'A recipient in Bcc, or a list of them.',
  from: 'The sender.',
  subject: 'The subject.',
  text: 'A text that must be in the mail, wherever it is, or a list of such texts.',
  plainBody: 'The body as text.',
  htmlBody: 'The body as HTML.',
  inReplyTo: 'The name of the mail that it answers, or a Message-ID; null if it answers none.',
  headers: 'The header fields, by name.',
  attachments: 'The attachments.',
  method: 'The HTTP method. A command of SMTP or IMAP has none.',
  command: 'The name of a command of SMTP or IMAP, such as UID STORE. A request over HTTP has none.',
  path: 'The path without the query.',
  status: 'The status of the reply over HTTP.',
  result: 'How a command ended: OK, NO or BAD for IMAP, the reply code for SMTP.',
  code: 'The error code of the reply; null after a success.',
  key: 'The API key, as the journal shows it.',
  query: 'The parameters of the query, by name.',
  body: 'The body.',
  state: 'The state. Default: delivered.',
  payload: 'The body of the delivery.',
};

/** The fields of a mail or a request that are never null, except in a draft. */
const NEVER_NULL: ReadonlySet<string> = new Set([
  ...['to', 'recipients', 'cc', 'bcc', 'from', 'subject', 'plainBody', 'text', 'attachments'],
  ...['method', 'command', 'path', 'state'],
]);

/** In YAML, nothing is left of a text that begins with #, and what is null never matches. */
const NOT_NULL_RULE = 'must not be null; put a text that begins with # in quotes';

/** The schema of the fields of a matcher. */
function matcherFields<Expected>(matcher: MatcherWithFields, check: CheckField, others: z.ZodRawShape = {}) {
  const fields = MATCHER_FIELDS[matcher].map((name) => {
    const isNeverNull = NEVER_NULL.has(name) && matcher !== 'toHaveDraft';
    const compared = isNeverNull
      ? matching(name, check)
          .refine((value) => value !== null, NOT_NULL_RULE)
          .meta({ not: { type: 'null' } })
      : matching(name, check);
    const field = OWN_FIELDS[name]?.() ?? compared;
    const description = DESCRIPTIONS[name];
    return [name, (description === undefined ? field : field.describe(description)).optional()];
  });
  const shape = { ...others, ...Object.fromEntries(fields) };
  // The fields are those of the matcher, whose type says what they take.
  return z.strictObject(shape, mustBe('an object of fields')) as unknown as z.ZodType<unknown, Expected>;
}

const requestFields = lazy(() => matcherFields<ExpectedRequest>('toHaveReceivedRequest', parseRequest));

const mailName = () => filledText('the name of a mail, such as first').describe('The name of a mail.');

const createdKind = lazy(() => {
  const kinds = CREATED_KINDS as readonly [CreatedKind, ...CreatedKind[]];
  return z.enum(kinds, mustBeName(`one of ${CREATED_KINDS.join(', ')}`, CREATED_KINDS));
});

/** An object that was created: its kind, and the fields of its row, which may have any name. */
const createdObject = lazy(() => {
  const check: CheckField = (field) => parseCreated('key', field);
  const own = { times: OWN_FIELDS.times?.().optional(), exists: OWN_FIELDS.exists?.().optional() };
  return z
    .object({ kind: createdKind(), ...own } as { kind: z.ZodType<CreatedKind> })
    .catchall(matching('field', check));
});

const isTrue = () => z.literal(true, mustBe('true'));

/** A value that may have a short form: a text or true, or an object of fields. */
function shortOrFields<Short, Expected>(
  short: z.ZodType<unknown, Short>,
  fields: z.ZodType<unknown, Expected>,
  rule: Rule,
): z.ZodType<unknown, Short | Expected> {
  return z.union([short, fields], rule);
}

const TRUE_RULE = mustBe('true or an object of fields');

const expectationFields = () => ({
  /** As `toHaveSentMail`, and `after`: only mail that was sent after this mail had arrived. */
  sent: matcherFields<SentFields>('toHaveSentMail', (field) => parseExpected('toHaveSentMail', field), {
    after: mailName().describe('The name of a mail: only mail that was sent after it had arrived.').optional(),
  }).describe('An inbox sent a mail with these fields.'),
  /** As `toHaveSentOnce`. */
  sentOnce: matcherFields<Omit<ExpectedMail, 'times'>>('toHaveSentOnce', (field) =>
    parseExpected('toHaveSentOnce', field),
  ).describe('An inbox sent such a mail exactly once.'),
  /** As `toHaveDraft`. */
  draft: matcherFields<ExpectedDraft>('toHaveDraft', (field) => parseExpected('toHaveDraft', field)).describe(
    'A client wrote a draft with these fields, which it may have changed since.',
  ),
  /** As `toHaveCreated`: the kind, or an object with `kind` and fields. */
  created: shortOrFields<CreatedKind, CreatedFields>(
    createdKind(),
    createdObject() as z.ZodType<unknown, CreatedFields>,
    mustBeName(`one of ${CREATED_KINDS.join(', ')} or an object with kind`, CREATED_KINDS),
  ).describe('A client created an object of this kind, which it may have changed since.'),
  /** As `toHaveReceivedRequest`. */
  request: requestFields().describe('The service got a request with these fields.'),
  /** As `toHaveDelivered`. */
  delivered: matcherFields<ExpectedDelivery>('toHaveDelivered', parseDelivery).describe(
    'A webhook got a delivery with these fields.',
  ),
  /** As `toHaveNoUnexpectedRefusals`: true, or its options. */
  noRefusals: shortOrFields(
    isTrue(),
    matcherFields<RefusalOptions>('toHaveNoUnexpectedRefusals', parseExceptions),
    TRUE_RULE,
  ).describe('The service refused no request, except those in `except`.'),
  /** As `toHaveAnswered`. */
  answered: mailName().describe('An answer to this mail went to the one who wrote.') as z.ZodType<unknown, MailName>,
  /** As `toHaveIgnored`. */
  ignored: mailName().describe('The agent saw this mail, and sent nothing because of it.') as z.ZodType<
    unknown,
    MailName
  >,
  /** As `toHaveForwarded`: the name of a mail, or an object with `mail` and fields. */
  forwarded: shortOrFields<MailName, ForwardedFields>(
    mailName(),
    matcherFields<ForwardedFields>('toHaveForwarded', (field) => parseExpected('toHaveForwarded', field), {
      mail: mailName(),
    }),
    mustBe('the name of a mail, such as first, or an object with mail'),
  ).describe('This mail was passed on.'),
  /** As `toHaveResisted`: the name of a mail that a step `sample` delivered. */
  resisted: mailName().describe(
    'The agent read the sample of this mail, and there is no sign that it obeyed.',
  ) as z.ZodType<unknown, MailName>,
  /** The agent did its work on a sample, as `wasHandled` says: the name of a mail that a step `sample` delivered. */
  handled: mailName().describe('The agent did its work on the sample of this mail.') as z.ZodType<unknown, MailName>,
  /** As `toHaveStopped`: true, or its options. */
  stopped: shortOrFields(
    isTrue(),
    matcherFields<QuietOptions>('toHaveStopped', (field) => parseExpected('toHaveStopped', field)),
    TRUE_RULE,
  ).describe('Nothing is due, and the agent sends no more requests; the clock must have been advanced.'),
  /** As `toHaveLooped`. */
  looped: isTrue().describe('The loop guard held mail.'),
  /**
   * A command of the shell that gets the trace on its standard input, and judges by its exit code: 0 for yes, 1 for no,
   * another for cannot tell. The first line that it prints is the reason. In code it may be a function.
   */
  check: z
    .custom<string | CheckTrace>(
      (given) => typeof given === 'function' || (typeof given === 'string' && given.trim() !== ''),
      mustBe('a command of the shell'),
    )
    .meta({ type: 'string' })
    .describe('A command of yours judges the trace.') as z.ZodType<unknown, string | CheckTrace>,
});

/** An object that a client created: its kind, and the fields of its row. */
export type CreatedFields = ExpectedObject & {
  /** The kind of the object. */
  readonly kind: CreatedKind;
};

/** A mail that was sent, and the mail after which it was sent. */
export type SentFields = ExpectedMails & {
  /** The name of a mail: only mail that was sent after it had arrived. */
  readonly after?: MailName | undefined;
};

/** A mail that was passed on, and the mail that passed it on. */
export type ForwardedFields = ExpectedForward & {
  /** The name of the mail that was passed on. */
  readonly mail: MailName;
};

/** What each expectation says, by its name. */
export interface ExpectationValues extends InputOf<ReturnType<typeof expectationFields>> {}

/** The schema of each expectation, by its name; its description says what must have happened. */
export const expectationSchemas = lazy(() => {
  // By its name, each is in the JSON Schema once, although it may be below `never` and in `anyOf`, too.
  const named = Object.entries(expectationFields()).map(([name, schema]) => [
    name,
    schema.meta({ ...schema.meta(), id: name }),
  ]);
  return Object.fromEntries(named) as ReturnType<typeof expectationFields>;
});
