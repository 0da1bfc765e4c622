import { z } from 'zod';
import { fromBase64, isBytes } from '../basics/base64.ts';
import { type InputOf, lazy } from '../basics/lazy-schema.ts';
import { emailAddresses, incomingAddress } from './addresses/email-address-schema.ts';
import { envelopeFields } from './mail-envelope.ts';
import { MAX_MAIL_BYTES } from './mail-limits.ts';
import { line, MAX_SUBJECT_LENGTH, mailBody, text } from './schemas.ts';

/** Limits for the parts of an inbound mail. A raw mail may exceed the limits; the message made from it is truncated. */
export const MAIL_LIMITS = {
  /** Maximum characters of a body. */
  body: 500_000,
  filename: 255,
  contentType: 200,
  messageId: 900,
  attachments: 100,
  references: 100,
} as const;

/** The recipients of an inbound mail. */
export const recipients = lazy(() =>
  emailAddresses().refine((list) => list.length > 0, 'must name at least one address'),
);

/** A Message-ID. */
export const messageId = lazy(() =>
  text(MAIL_LIMITS.messageId).regex(/^<[^<>\s]+>$/, 'must be a Message-ID such as <login-1@customer.test>'),
);

/** Headers that are generated from the other fields of a message. The field `headers` must not contain them. */
const GENERATED_FIELDS =
  /^(?:from|to|cc|bcc|reply-to|subject|date|message-id|in-reply-to|references|mime-version|content-.*)$/i;

const headerName = () =>
  z
    .string()
    .regex(/^[A-Za-z0-9-]{1,76}$/, 'must have a name of letters, digits and -, such as X-Ticket')
    .refine((name) => !GENERATED_FIELDS.test(name), 'must not be set as a header; use the field of the message for it');

/** A `Uint8Array`. The OpenAPI document shows `not: {}` for this schema, because JSON cannot represent bytes. */
const plainBytes = () => z.custom<Uint8Array>(isBytes).meta({ not: {} });

const bytes = lazy(() =>
  z
    .union([z.base64('must be base64'), plainBytes()], 'must be base64')
    // The bytes are copied, because the `Uint8Array` of a simulated page such as jsdom differs from that of Node.
    .transform((content) => (typeof content === 'string' ? fromBase64(content) : new Uint8Array(content))),
);

const attachmentFields = () => ({
  /** The file name on one line, 1 to 255 characters. */
  filename: line(MAIL_LIMITS.filename).min(1, 'must not be empty'),
  /** `application/octet-stream` if left out. */
  contentType: line(MAIL_LIMITS.contentType).default('application/octet-stream'),
  /** The bytes, or a text with the bytes in base64. */
  content: bytes().optional(),
  /** The content as text, in UTF-8, instead of `content`. */
  text: text(MAX_MAIL_BYTES).optional(),
});

/** An attachment of an inbound mail: its bytes, or its text. */
const attachment = () =>
  z
    .strictObject(attachmentFields(), 'must be an object with filename')
    .refine((file) => (file.content === undefined) !== (file.text === undefined), 'must have content or text')
    .transform(({ filename, contentType, content, text: plain = '' }) => {
      const file = content ?? new TextEncoder().encode(plain);
      return { filename, contentType, content: file, sizeBytes: file.byteLength };
    });

/** Names the type of the input. Otherwise a declaration file would write out this type without its comments. */
type AttachmentSchema = z.ZodType<z.output<ReturnType<typeof attachment>>, IncomingAttachment>;

/** The id of the only tenant that may receive a mail. */
export const tenant = lazy(() =>
  z
    .guid('must be the UUID of a tenant')
    .transform((id) => id.toLowerCase())
    .optional(),
);

const composedFields = () => ({
  /** The recipients: inboxes of this emulator, of any tenant. */
  to: recipients(),
  /** The sender, in the `From` header; any address. */
  from: incomingAddress(),
  /** Shown in the mail only; nothing is delivered to these addresses. */
  cc: emailAddresses().default([]),
  /** The address in the `Reply-To` header. Default: null, no such header. */
  replyTo: incomingAddress().nullish(),
  /** The subject on one line, up to 998 characters. Default: empty. */
  subject: line(MAX_SUBJECT_LENGTH).default(''),
  /** The plain-text body, up to 500,000 characters; the same limit applies to `htmlBody`. */
  plainBody: mailBody().default(''),
  /** The body as HTML, up to 500,000 characters. Default: null, no HTML part. */
  htmlBody: mailBody().nullish(),
  /** Up to 100 files, 10 MiB in total. */
  attachments: z
    .array(attachment() as AttachmentSchema, 'must be an array of files')
    .max(MAIL_LIMITS.attachments, `must be at most ${MAIL_LIMITS.attachments}`)
    .default([]),
  /** The Message-ID, such as `<login-1@customer.test>`. Default: a generated one. */
  messageId: messageId().optional(),
  /** The Message-ID of the message that this mail replies to; both are in the same thread. */
  inReplyTo: messageId().nullish(),
  /** The Message-IDs of the conversation, oldest first. Default: `inReplyTo`. */
  references: z
    .array(messageId(), 'must be an array of Message-IDs')
    .max(MAIL_LIMITS.references, `must be at most ${MAIL_LIMITS.references}`)
    .optional(),
  /** Additional header fields, which `…/raw` returns. */
  headers: z.record(headerName(), line(MAX_SUBJECT_LENGTH), 'must be an object of headers').default({}),
  /** The id of a tenant. If set, every recipient must be an inbox of this tenant. */
  tenant: tenant(),
  ...envelopeFields(),
});

/** An inbound mail, given by its parts. */
export const composedMessage = lazy(() => z.strictObject(composedFields()));

/** The text of a raw mail: it has several lines, and is not base64 with line breaks. */
const rawText = () =>
  z
    .string()
    .regex(/[\r\n]/)
    .regex(/[^\w+/=\s]/)
    .transform((written) => new TextEncoder().encode(written));

const rawFields = () => ({
  /** The raw mail (RFC 5322), up to 10 MiB: its text with line breaks, its bytes, or its bytes in base64. */
  eml: z.union([rawText(), bytes()], 'must be base64'),
  /** The recipients. Default: the addresses in To, Cc and Bcc that belong to inboxes of this emulator. */
  to: recipients().optional(),
  /** The id of a tenant. If set, every recipient must be an inbox of this tenant. */
  tenant: tenant(),
  ...envelopeFields(),
});

/** An inbound mail, given as raw RFC 5322. */
export const rawMessage = lazy(() => z.strictObject(rawFields()));

/** An attachment of an inbound mail: its bytes, or its text. */
export type IncomingAttachment = InputOf<ReturnType<typeof attachmentFields>>;

/** An inbound mail, given by its parts. Addresses are bare or in display form (`Dana Reyes <dana@customer.test>`). */
export type ComposedMessage = InputOf<ReturnType<typeof composedFields>>;

/**
 * An inbound mail, given as raw RFC 5322. `…/raw` returns exactly these bytes, even if the message is truncated. With
 * `envelopeFrom` or `auth`, the trace header of the emulator comes before them.
 */
export type RawMessage = InputOf<ReturnType<typeof rawFields>>;

/**
 * An inbound mail: its parts, or the raw mail.
 *
 * @example
 * const [to, from] = ['helpdesk@acme.test', 'dana@customer.test'];
 * await mailbox.receiveMessage({ to, from, subject: 'Hi', plainBody: 'Hello!' });
 * await mailbox.receiveMessage({ eml: await readFile('mail.eml') });
 */
export type IncomingMessage = ComposedMessage | RawMessage;
