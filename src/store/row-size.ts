import type { AttachmentRow, DraftRow, MessageRow, RowKind } from './rows.ts';

/** The approximate size of a row without its texts. */
const ROW_BYTES = 256;

type MailRow = Partial<MessageRow> | Partial<AttachmentRow> | Partial<DraftRow>;

/** Returns the size of a row in bytes: one for each character, and for base64 the size of the decoded bytes. */
export function sizeOfMailRow(row: MailRow): number {
  const { raw = null, content = '' } = row as { readonly raw?: string | null; readonly content?: string };
  return ROW_BYTES + countCharacters(row) - Math.floor((raw ?? content).length / 4);
}

/** The kinds of rows that count as stored mail, whose size is limited. */
const MAIL_KINDS: ReadonlySet<RowKind> = new Set(['messages', 'attachments', 'drafts']);

/** Returns the size of a row as stored mail, in bytes; 0 if it is not mail or there is no row. */
export function sizeOfRow(kind: RowKind, row: object | undefined): number {
  return row && MAIL_KINDS.has(kind) ? sizeOfMailRow(row) : 0;
}

function countCharacters(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.entries(value).reduce((sum, [name, part]) => sum + name.length + countCharacters(part), 0);
}
