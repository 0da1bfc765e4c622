import { z } from 'zod';
import { toBase64 } from '../../../basics/base64.ts';
import { type InputOf, lazy } from '../../../basics/lazy-schema.ts';
import { createNameCheck } from '../../../basics/named-error.ts';
import { ApiError } from '../../../contract/errors.ts';
import { composedMessage } from '../../../contract/incoming-message.ts';
import { line, MAX_SUBJECT_LENGTH } from '../../../contract/schemas.ts';
import type { Mail } from '../show-mail.ts';
import type { Quoting } from './quoting.ts';

/** The kinds of correspondents. */
export const CORRESPONDENT_KINDS = [
  'person',
  'out-of-office',
  'autoresponder',
  'ticket-system',
  'mailing-list',
  'bounces',
] as const;

/** The kind of a correspondent. The kind decides which mail the correspondent answers, and how. */
export type CorrespondentKind = (typeof CORRESPONDENT_KINDS)[number];

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

/** The schema of a reply as an object. */
export const replyObject = lazy(() => z.strictObject(replyFields(), REPLY_RULE));

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

/** A file of a reply. */
export interface ShownReplyFile {
  /** The file name. */
  readonly filename: string;
  /** The media type. */
  readonly contentType: string;
  /** The bytes, in base64. */
  readonly content: string;
}

/** A reply of a correspondent that is a list of replies. */
export interface ShownReply {
  /** The text of the answer. */
  readonly plainBody: string;
  /** The answer as HTML; null or left out if it has no HTML part. */
  readonly htmlBody?: string | null | undefined;
  /** The subject; left out if it is the subject of the mail, with `Re:`. */
  readonly subject?: string | undefined;
  /** Further header fields. */
  readonly headers: Readonly<Record<string, string>>;
  /** The files. */
  readonly attachments: readonly ShownReplyFile[];
}

/** An answer that is due later. */
export interface DueAnswer {
  /** The address of the recipient. */
  readonly to: string;
  /** The subject of the answered mail. */
  readonly subject: string;
  /** When the answer comes: ISO 8601 UTC, by the clock of the tenant. */
  readonly at: string;
  /** The id of the tenant that sent the answered mail. */
  readonly tenantId: string;
}

/** Somebody outside of the emulator who answers mail. */
export interface Correspondent {
  /** The id, a UUID, for `removeCorrespondent`. */
  readonly id: string;
  /** The id of the only tenant whose mail the correspondent answers; null for any tenant. */
  readonly tenantId: string | null;
  /** The address, as it was given. */
  readonly address: string;
  /** Who answers. */
  readonly kind: CorrespondentKind;
  /** How long after a mail the answer comes, in milliseconds. */
  readonly afterMs: number;
  /** The mail client whose quoting style the answers have. */
  readonly quoting: Quoting;
  /** The replies; null if a function writes the answers. */
  readonly replies: readonly ShownReply[] | null;
  /** The members of a mailing list; empty if the sender of the mail is the only member. */
  readonly members: readonly string[];
  /** The status code of the bounces; null for a kind without bounces. */
  readonly status: string | null;
  /** The reply of the mail server in the bounces; null for the usual reply, or for a kind without bounces. */
  readonly diagnostic: string | null;
  /** How many mails have reached the correspondent. */
  readonly received: number;
  /** The answers that are due later, the earliest first. */
  readonly due: readonly DueAnswer[];
}

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
