import { z } from 'zod';
import { toBase64 } from '../../../basics/base64.ts';
import { type InputOf, lazy, type OutputOf } from '../../../basics/lazy-schema.ts';
import { createNameCheck } from '../../../basics/named-error.ts';
import { incomingAddress } from '../../../contract/addresses/email-address-schema.ts';
import { ApiError } from '../../../contract/errors.ts';
import { composedMessage } from '../../../contract/incoming-message.ts';
import { line, MAX_SUBJECT_LENGTH, timestamp } from '../../../contract/schemas.ts';
import { durationField } from '../../../world/clock.ts';
import { tenantField } from '../../../world/target-fields.ts';
import type { Mail } from '../show-mail.ts';
import { QUOTING_STYLES } from './quoting.ts';

/** The kinds of correspondents. */
const KINDS = ['person', 'out-of-office', 'autoresponder', 'ticket-system', 'mailing-list', 'bounces'] as const;

/** The kind of a correspondent. The kind decides which mail the correspondent answers, and how. */
export type CorrespondentKind = (typeof KINDS)[number];

/** The maximum number of replies of a correspondent, and of members of a mailing list. */
const MAX_REPLIES = 1_000;
const MAX_MEMBERS = 50;

const replyFields = () => ({
  /** The text of the answer. Default: empty. */
  plainBody: composedMessage().shape.plainBody,
  /** The answer as HTML. Default: no HTML part. */
  htmlBody: composedMessage().shape.htmlBody,
  /** The subject. Default: the subject of the mail, with `Re:`. */
  subject: line(MAX_SUBJECT_LENGTH).optional(),
  /** Further header fields. */
  headers: composedMessage().shape.headers,
  /** Files, each with `filename` and `text` or base64 `content`. */
  attachments: composedMessage().shape.attachments.transform((files) =>
    files.map(({ filename, contentType, content }) => ({ filename, contentType, content: toBase64(content) })),
  ),
});

const REPLY_RULE = 'must be a text, or an object with plainBody, htmlBody, subject, headers or attachments';

const replyObject = lazy(() => z.strictObject(replyFields(), REPLY_RULE));

/** The schema of one reply: a text or an object. Parsing returns an object. */
export const correspondentReply = lazy(() =>
  z.preprocess((reply) => (typeof reply === 'string' ? { plainBody: reply } : reply), replyObject()),
);

/** One reply of a correspondent: a text, or an object with the parts of the answer. */
export type CorrespondentReply = string | InputOf<ReturnType<typeof replyFields>>;

/** Writes the answer to a mail. If it returns null or `undefined`, there is no answer. */
export type ReplyFunction = (
  mail: Mail,
) => CorrespondentReply | null | undefined | Promise<CorrespondentReply | null | undefined>;

const REPLIES_RULE = `must be a list of 1 to ${MAX_REPLIES} replies, or in code a function`;

const listOf = <Reply extends z.ZodType>(reply: Reply) =>
  z.array(reply, REPLIES_RULE).min(1, REPLIES_RULE).max(MAX_REPLIES, REPLIES_RULE);
const parsedReplyList = lazy(() => listOf(correspondentReply()));

/** Parses a list of replies, and reports each problem with its path. A function is returned unchanged. */
const replies = lazy(() =>
  z.custom<readonly CorrespondentReply[] | ReplyFunction>().transform((given, { issues }) => {
    if (typeof given === 'function') return given;
    const parsed = parsedReplyList().safeParse(given);
    if (parsed.success) return parsed.data;
    for (const issue of parsed.error.issues) issues.push({ ...issue, input: given } as (typeof issues)[number]);
    return z.NEVER;
  }),
);

const commonFields = () => ({
  /** The address, bare or in display form: `Dana Reyes <dana@customer.test>`. No inbox may have this address. */
  address: incomingAddress(),
  /** The id of the only tenant whose mail the correspondent answers. Default: any tenant. */
  tenant: tenantField().optional(),
  /** How long after a mail the answer comes, by the clock of the tenant. Default: 0, at once. */
  after: durationField().default(0),
});

const quoting = () => z.enum(QUOTING_STYLES, `must be one of ${QUOTING_STYLES.join(', ')}`).default('none');

const personFields = () => ({
  /** May be left out, because `person` is the default. */
  kind: z.literal('person').optional(),
  /** The answers to the first mail, the second mail, and so on; or a function that gets the mail. */
  replies: replies(),
  /** The mail client whose quoting style the answers have. Default: `none`, no quote. */
  quoting: quoting(),
});

const automaticFields = () => ({
  /**
   * Who answers. An absent person (`out-of-office`) sends one notice to each sender. An autoresponder answers each
   * mail, also mail from programs. A ticket system gives each new mail a number.
   */
  kind: z.enum(['out-of-office', 'autoresponder', 'ticket-system']),
  /**
   * The text of the notice; only the first text is used. For a ticket system: the answers to the later mails of a
   * ticket. Default: a usual text; a ticket system does not answer later mails.
   */
  replies: replies().optional(),
  /** The mail client whose quoting style the answers have. Default: `none`, no quote. */
  quoting: quoting(),
});

const MEMBERS_RULE = `must be a list of 1 to ${MAX_MEMBERS} addresses`;

const mailingListFields = () => ({
  /** A mailing list. */
  kind: z.literal('mailing-list'),
  /** The addresses that get a copy of each mail, 1 to 50. Default: the sender of the mail. */
  members: z.array(incomingAddress(), MEMBERS_RULE).min(1, MEMBERS_RULE).max(MAX_MEMBERS, MEMBERS_RULE).default([]),
});

const STATUS_RULE = 'must be a status code of RFC 3463 that begins with 5';

const bouncesFields = () => ({
  /** An address to which no mail can be delivered. */
  kind: z.literal('bounces'),
  /** The status code of RFC 3463. Default: `5.1.1`. */
  status: z
    .string(STATUS_RULE)
    .regex(/^5\.\d{1,3}\.\d{1,3}$/, STATUS_RULE)
    .default('5.1.1'),
  /** What the mail server of the address replies. Default: a usual reply, such as `There is no such mailbox`. */
  diagnostic: line(MAX_SUBJECT_LENGTH).min(1, 'must not be empty').nullable().default(null),
});

const KIND_RULE = `must be one of ${KINDS.join(', ')}`;

/** Creates the schema of each kind from the schema of the replies. */
function createKindSchemas<Replies extends z.ZodType>(replyList: Replies) {
  const optionalList = replyList.optional().transform((given) => given ?? []);
  return [
    z.strictObject({
      ...personFields(),
      ...commonFields(),
      /** The answers to the first mail, the second mail, and so on. */
      replies: replyList,
    }),
    z.strictObject({
      ...automaticFields(),
      ...commonFields(),
      /** The text of the notice or, for a ticket system, the answers to the later mails of a ticket. */
      replies: optionalList,
    }),
    z.strictObject({ ...mailingListFields(), ...commonFields() }),
    z.strictObject({ ...bouncesFields(), ...commonFields() }),
  ] as const;
}

/** The schema of the options of `addCorrespondent`. */
export const correspondentOptions = lazy(() =>
  z.discriminatedUnion('kind', createKindSchemas(replies()), {
    error: ({ code }) => (code === 'invalid_union' ? KIND_RULE : 'must be an object'),
  }),
);

/** Like {@link correspondentOptions}, but for the body of a request, which cannot contain a function. */
export const correspondentBody = lazy(() => z.union(createKindSchemas(listOf(z.union([z.string(), replyObject()])))));

/** The options of `addCorrespondent`: an address, and who answers there. */
export type CorrespondentOptions =
  | InputOf<ReturnType<typeof personFields> & ReturnType<typeof commonFields>>
  | InputOf<ReturnType<typeof automaticFields> & ReturnType<typeof commonFields>>
  | InputOf<ReturnType<typeof mailingListFields> & ReturnType<typeof commonFields>>
  | InputOf<ReturnType<typeof bouncesFields> & ReturnType<typeof commonFields>>;

const shownFileFields = () => ({
  /** The file name. */
  filename: z.string(),
  /** The media type. */
  contentType: z.string(),
  /** The bytes, in base64. */
  content: z.string(),
});

const shownReplyFields = () => ({
  /** The text of the answer. */
  plainBody: z.string(),
  /** The answer as HTML; null or left out if it has no HTML part. */
  htmlBody: z.string().nullish(),
  /** The subject; left out if it is the subject of the mail, with `Re:`. */
  subject: z.string().optional(),
  /** Further header fields. */
  headers: z.record(z.string(), z.string()),
  /** The files. */
  attachments: z.array(z.strictObject(shownFileFields())),
});

const dueAnswerFields = () => ({
  /** The address of the recipient. */
  to: z.string(),
  /** The subject of the answered mail. */
  subject: z.string(),
  /** When the answer comes: ISO 8601 UTC, by the clock of the tenant. */
  at: timestamp(),
  /** The id of the tenant that sent the answered mail. */
  tenantId: z.string(),
});

const correspondentFields = () => ({
  /** The id, a UUID, for `removeCorrespondent`. */
  id: z.string(),
  /** The id of the only tenant whose mail the correspondent answers; null for any tenant. */
  tenantId: z.string().nullable().describe('The only tenant whose mail it answers; null for any.'),
  /** The address, as it was given. */
  address: z.string(),
  /** Who answers. */
  kind: z.enum(KINDS),
  /** How long after a mail the answer comes, in milliseconds. */
  afterMs: z.int().min(0),
  /** The mail client whose quoting style the answers have. */
  quoting: z.enum(QUOTING_STYLES),
  /** The replies; null if a function writes the answers. */
  replies: z.array(z.strictObject(shownReplyFields())).nullable().describe('Null if a function writes them.'),
  /** The members of a mailing list; empty if the sender of the mail is the only member. */
  members: z.array(z.string()),
  /** The status code of the bounces; null for a kind without bounces. */
  status: z.string().nullable(),
  /** The reply of the mail server in the bounces; null for the usual reply, or for a kind without bounces. */
  diagnostic: z.string().nullable(),
  /** How many mails have reached the correspondent. */
  received: z.int().min(0).describe('How many mails have reached it.'),
  /** The answers that are due later, the earliest first. */
  due: z.array(z.strictObject(dueAnswerFields())).describe('Its answers that are due later, the next one first.'),
});

/** The schema of a correspondent. */
export const anyCorrespondent = lazy(() => z.strictObject(correspondentFields()));

/** Somebody outside of the emulator who answers mail. */
export type Correspondent = OutputOf<ReturnType<typeof correspondentFields>>;

/** The options after they are parsed. */
export type ParsedCorrespondent = z.output<ReturnType<typeof correspondentOptions>>;

/** The error of a correspondent that did not answer: its function failed, or its mail does not fit in the storage. */
export class CorrespondentError extends Error {
  /** Recognises the error by its name, so that an error from a second copy of this package is recognised, too. */
  static override readonly [Symbol.hasInstance] = createNameCheck('CorrespondentError');
  override readonly name = 'CorrespondentError';

  constructor(address: string, cause: unknown) {
    super(`The correspondent ${address} did not answer: ${reasonOf(cause)}`, { cause });
  }
}

function reasonOf(cause: unknown): string {
  if (cause instanceof ApiError) return cause.message;
  return `its function failed with ${JSON.stringify(cause instanceof Error ? cause.message : String(cause))}.`;
}
