import { z } from 'zod';
import { fromBase64, isBytes, toBase64 } from './base64.ts';
import { emailAddress, emailAddresses } from './email-address-schema.ts';
import type { InputOf } from './input-of.ts';
import { MAX_SUBJECT_LENGTH, mailBody } from './operations/sending.ts';
import { line, text } from './schemas.ts';

/** The most bytes that a mail from outside may have, with its attachments. */
export const MAX_MAIL_BYTES = 10 * 1024 * 1024;

/** How much the parts of a mail from outside may have; a whole mail that has more is shown cut. */
export const MAIL_LIMITS = {
  /** Characters of a body. */
  body: 500_000,
  filename: 255,
  contentType: 200,
  messageId: 900,
  attachments: 100,
  references: 100,
} as const;

const recipients = emailAddresses.refine((list) => list.length > 0, 'must name at least one address');

const messageId = text(MAIL_LIMITS.messageId).regex(
  /^<[^<>\s]+>$/,
  'must be a Message-ID such as <login-1@customer.test>',
);

/** Fields that a mail has from its other parts: given twice, they would contradict each other. */
const OWN_FIELDS =
  /^(?:from|to|cc|bcc|reply-to|subject|date|message-id|in-reply-to|references|mime-version|content-.*)$/i;

const headerName = z
  .string()
  .regex(/^[A-Za-z0-9-]{1,76}$/, 'must have a name of letters, digits and -, such as X-Ticket')
  .refine((name) => !OWN_FIELDS.test(name), 'must not be set as a header; use the field of the message for it');

/** JSON has no bytes, so a document says that a request cannot carry them. */
const plainBytes = z.custom<Uint8Array>(isBytes).meta({ not: {} });

const bytes = z
  .union([z.base64('must be base64'), plainBytes], 'must be base64')
  // A copy, because a page that a test runner imitates has a `Uint8Array` of its own.
  .transform((content) => (typeof content === 'string' ? fromBase64(content) : new Uint8Array(content)));

const attachmentFields = {
  /** The file name on one line, 1 to 255 characters. */
  filename: line(MAIL_LIMITS.filename).min(1, 'must not be empty'),
  /** `application/octet-stream` if left out. */
  contentType: line(MAIL_LIMITS.contentType).default('application/octet-stream'),
  /** The bytes, or the same in base64. */
  content: bytes.optional(),
  /** The content as text, in UTF-8, instead of `content`. */
  text: text(MAX_MAIL_BYTES).optional(),
};

/** A file of a mail from outside: its bytes, or its text. */
const attachment = z
  .strictObject(attachmentFields)
  .refine((file) => (file.content === undefined) !== (file.text === undefined), 'must have content or text')
  .transform(({ filename, contentType, content, text: plain = '' }) => {
    const file = content ?? new TextEncoder().encode(plain);
    return { filename, contentType, content: toBase64(file), sizeBytes: file.byteLength };
  });

/** Names the type that a caller writes: otherwise a declaration file spells it out without its comments. */
type AttachmentSchema = z.ZodType<z.output<typeof attachment>, IncomingAttachment>;

/** The tenant whose inboxes alone may receive it; without one, those that own the addresses. */
const tenant = z
  .guid('must be the UUID of a tenant')
  .transform((id) => id.toLowerCase())
  .optional();

const composedFields = {
  /** Who gets it: inboxes of this emulator, whichever tenant owns them. */
  to: recipients,
  /** The sender, in the `From` header; any address. */
  from: emailAddress,
  /** Only named in the mail; it does not arrive there. */
  cc: emailAddresses.default([]),
  /** The address in the `Reply-To` header. Default: null, no such header. */
  replyTo: emailAddress.nullish(),
  /** The subject on one line, up to 998 characters. Default: empty. */
  subject: line(MAX_SUBJECT_LENGTH).default(''),
  /** The body as text; up to 500,000 characters, as the HTML. */
  text: mailBody.default(''),
  /** The body as HTML, up to 500,000 characters. Default: null, no HTML part. */
  html: mailBody.nullish(),
  /** Up to 100 files, 10 MiB together. */
  attachments: z
    .array(attachment as AttachmentSchema)
    .max(MAIL_LIMITS.attachments, `must be at most ${MAIL_LIMITS.attachments}`)
    .default([]),
  /** Its Message-ID, such as `<login-1@customer.test>`; one is made if left out. */
  messageId: messageId.optional(),
  /** The Message-ID of what it answers: it arrives in the thread of that message. */
  inReplyTo: messageId.nullish(),
  /** The Message-IDs of the conversation, oldest first; `inReplyTo` if left out. */
  references: z.array(messageId).max(MAIL_LIMITS.references, `must be at most ${MAIL_LIMITS.references}`).optional(),
  /** Further header fields, as `…/raw` shows them. */
  headers: z.record(headerName, line(MAX_SUBJECT_LENGTH)).default({}),
  /** The id of a tenant: then every recipient must be an inbox of it. */
  tenant,
};

/** A mail from outside by its parts. */
export const composedMessage = z.strictObject(composedFields);

const rawFields = {
  /** A mail as RFC 5322 writes it, up to 10 MiB: its bytes, or the same in base64. */
  eml: bytes,
  /** Who gets it; if left out, those in its To, Cc and Bcc that are inboxes here. */
  to: recipients.optional(),
  /** The id of a tenant: then every recipient must be an inbox of it. */
  tenant,
};

/** A mail from outside as it travels. */
export const rawMessage = z.strictObject(rawFields);

/** A file of a mail from outside: its bytes, or its text. */
export type IncomingAttachment = InputOf<typeof attachmentFields>;

/** A mail from outside by its parts. Addresses are bare (`dana@customer.test`) or `Dana Reyes <dana@customer.test>`. */
export type ComposedMessage = InputOf<typeof composedFields>;

/** A mail from outside as it travels; `…/raw` gives back just these bytes, also where the message shows it cut. */
export type RawMessage = InputOf<typeof rawFields>;

/**
 * A mail from outside: its parts, or the whole as it travels.
 *
 * @example
 * await mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: 'dana@customer.test', subject: 'Hi', text: 'Hello!' });
 * await mailbox.receiveMessage({ eml: await readFile('mail.eml') });
 */
export type IncomingMessage = ComposedMessage | RawMessage;
