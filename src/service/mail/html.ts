import { escapeHtml } from '../../basics/markup.ts';

/** Writes a plain text as HTML. */
export function toHtml(text: string): string {
  return text === '' ? '' : `<p>${escapeHtml(text).replace(/\r?\n/g, '<br>')}</p>`;
}
