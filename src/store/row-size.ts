import type { AttachmentRow, DraftRow, MessageRow } from './rows.ts';

/** How many bytes a row takes besides its texts, roughly. */
const ROW_BYTES = 256;

type MailRow = Partial<MessageRow> | Partial<AttachmentRow> | Partial<DraftRow>;

/** How many bytes a row counts as stored mail: one for each character, and for base64 the bytes that it encodes. */
export function sizeOfMailRow(row: MailRow): number {
  const { raw = null, content = '' } = row as { readonly raw?: string | null; readonly content?: string };
  return ROW_BYTES + countCharacters(row) - Math.floor((raw ?? content).length / 4);
}

function countCharacters(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.entries(value).reduce((sum, [name, part]) => sum + name.length + countCharacters(part), 0);
}
