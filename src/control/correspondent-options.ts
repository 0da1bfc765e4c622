import { z } from 'zod';
import { type FieldsOf, type InputOf, lazy } from '../basics/lazy-schema.ts';
import { incomingAddress } from '../contract/addresses/email-address-schema.ts';
import { line, MAX_SUBJECT_LENGTH, timestamp } from '../contract/schemas.ts';
import {
  CORRESPONDENT_KINDS,
  type Correspondent,
  type CorrespondentReply,
  correspondentReply,
  type DueAnswer,
  type ReplyFunction,
  replyObject,
  type ShownReply,
  type ShownReplyFile,
} from '../service/mail/correspondents/correspondent.ts';
import { QUOTING_STYLES } from '../service/mail/correspondents/quoting.ts';
import { durationField, tenantField } from './call-fields.ts';

/** The maximum number of replies of a correspondent, and of members of a mailing list. */
const MAX_REPLIES = 1_000;
const MAX_MEMBERS = 50;

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

const KIND_RULE = `must be one of ${CORRESPONDENT_KINDS.join(', ')}`;

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

const shownReply = () =>
  z.strictObject({
    plainBody: z.string(),
    htmlBody: z.string().nullish(),
    subject: z.string().optional(),
    headers: z.record(z.string(), z.string()),
    attachments: z.array(
      z.strictObject({
        filename: z.string(),
        contentType: z.string(),
        content: z.string(),
      } satisfies FieldsOf<ShownReplyFile>),
    ),
  } satisfies FieldsOf<ShownReply>);

const dueAnswer = () =>
  z.strictObject({
    to: z.string(),
    subject: z.string(),
    at: timestamp(),
    tenantId: z.string(),
  } satisfies FieldsOf<DueAnswer>);

/** The schema of a correspondent. */
export const anyCorrespondent = lazy(() =>
  z.strictObject({
    id: z.string(),
    tenantId: z.string().nullable().describe('The only tenant whose mail it answers; null for any.'),
    address: z.string(),
    kind: z.enum(CORRESPONDENT_KINDS),
    afterMs: z.int().min(0),
    quoting: z.enum(QUOTING_STYLES),
    replies: z.array(shownReply()).nullable().describe('Null if a function writes them.'),
    members: z.array(z.string()),
    status: z.string().nullable(),
    diagnostic: z.string().nullable(),
    received: z.int().min(0).describe('How many mails have reached it.'),
    due: z.array(dueAnswer()).describe('Its answers that are due later, the next one first.'),
  } satisfies FieldsOf<Correspondent>),
);

/** The options after they are parsed. */
export type ParsedCorrespondent = z.output<ReturnType<typeof correspondentOptions>>;
