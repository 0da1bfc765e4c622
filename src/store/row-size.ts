import { isBytes } from '../contract/base64.ts';
import type { AttachmentRow, DraftRow, MessageRow, RowKind } from './rows.ts';

/** The approximate size of a row without its texts. */
const ROW_BYTES = 256;

export type MailRow = Partial<MessageRow> | Partial<AttachmentRow> | Partial<DraftRow>;

/** Returns the size of a row in bytes. A text has two for each character if a character of it is not in Latin-1. */
export function sizeOfMailRow(row: MailRow): number {
  return ROW_BYTES + countBytes(row);
}

/** The kinds of rows that count as stored mail, whose size is limited. */
export const MAIL_KINDS = ['messages', 'attachments', 'drafts'] as const satisfies RowKind[];

/** Returns the size of a row as stored mail, in bytes; 0 if it is not mail or there is no row. */
export function sizeOfRow(kind: RowKind, row: object | undefined): number {
  return row && MAIL_KINDS.some((each) => each === kind) ? sizeOfMailRow(row) : 0;
}

function countBytes(value: unknown): number {
  if (typeof value === 'string') return isWide(value) ? 2 * value.length : value.length;
  if (typeof value !== 'object' || value === null) return 0;
  if (isBytes(value)) return value.byteLength;
  return Object.entries(value).reduce((sum, [name, part]) => sum + name.length + countBytes(part), 0);
}

/** Returns whether a text needs two bytes for each character. Of short texts this does not matter. */
function isWide(text: string): boolean {
  return text.length > 1_000 && /[^\0-\xff]/.test(text);
}
