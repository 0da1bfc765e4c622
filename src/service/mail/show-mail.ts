import { z } from 'zod';
import type { OutputOf } from '../../basics/input-of.ts';
import { lazy } from '../../basics/lazy.ts';
import { type AttachmentRow, type MessageRow, pick, type ShownFields, shownFields } from '../../world/store/rows.ts';
import { showRow } from '../../world/store/seed/show-row.ts';
import type { World } from '../../world/store/world.ts';
import { findProblems } from './incoming/find-problems.ts';
import { readHeaders } from './mime/header.ts';

/** The columns of a file of a mail, except for its bytes. */
export const FILE_COLUMNS = ['id', 'filename', 'contentType', 'sizeBytes'] as const;

/** Returns the schemas of these columns. */
export const fileFields = (): ShownFields<AttachmentRow, (typeof FILE_COLUMNS)[number]> =>
  shownFields('attachments', FILE_COLUMNS);

/** A file of a mail without its bytes. */
export interface MailFile extends OutputOf<ReturnType<typeof fileFields>> {}

const contentField = () => ({
  /** The bytes, in base64. */
  content: z.string().describe('The bytes, in base64.'),
});

/** A file of a mail. */
export interface MailAttachment extends OutputOf<ReturnType<typeof fileFields> & ReturnType<typeof contentField>> {}

const PLACE_COLUMNS = ['inboxId', 'threadId', 'direction', 'from', 'to', 'cc', 'bcc', 'replyTo'] as const;
const TEXT_COLUMNS = ['subject', 'plainBody', 'htmlBody', 'messageIdHeader', 'inReplyTo', 'receivedAt'] as const;
const COLUMNS = [...PLACE_COLUMNS, ...TEXT_COLUMNS] as const;

const columnFields = (): ShownFields<MessageRow, 'id' | (typeof COLUMNS)[number]> =>
  shownFields('messages', ['id', ...COLUMNS]);

/** Returns the schema of the field that names the tenant of a mail. */
export const ownerField = () => ({
  /** The id of the tenant. */
  tenantId: z.string(),
});

const ownFields = () => ({
  /**
   * The header fields by lower-case name, as the raw mail has them. If several have the same name, this is the one of
   * the emulator, or else the last one.
   */
  headers: z.record(z.string(), z.string()).describe('By lower-case name.'),
  /** The files, with their bytes. */
  attachments: z.array(z.strictObject({ ...fileFields(), ...contentField() }) as z.ZodType<MailAttachment>),
  /** What could not be read of a raw mail, each in one sentence; left out if there is nothing. */
  problems: z.array(z.string()).exactOptional().describe('What could not be read of a raw mail, each in one sentence.'),
  /** To how many event streams its event was sent; left out if to none. */
  streams: z
    .int()
    .min(0)
    .exactOptional()
    .describe('To how many event streams its event was sent; left out if to none.'),
});

/** The schema of a mail. */
export const mailReply = lazy(() => {
  const { id, receivedAt, ...columns } = columnFields();
  const shown = { ...columns, receivedAt: receivedAt.describe("By the tenant's clock.") };
  return z.strictObject({ id, ...ownerField(), ...shown, ...ownFields() });
});

/** A mail that arrived in an inbox or was sent by one, with everything that it contains. */
export interface Mail
  extends OutputOf<ReturnType<typeof columnFields> & ReturnType<typeof ownerField> & ReturnType<typeof ownFields>> {}

/** Shows a message with its header fields and files. */
export function showMail(world: World, message: MessageRow): Mail {
  const files = world.attachments.by('messageId', message.id);
  const problems = findProblems(message, files);
  return {
    ...{ id: message.id, tenantId: world.id, ...pick(message, COLUMNS) },
    headers: readHeaders(message),
    attachments: files.map((file) => showRow(pick(file, [...FILE_COLUMNS, 'content']))),
    ...(problems.length > 0 && { problems }),
  };
}
