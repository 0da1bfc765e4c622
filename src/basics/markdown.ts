import { escapeHtml } from './markup.ts';
import { toPrintable, toPrintableLines } from './printable.ts';

/** What begins or ends something in Markdown, also in that of GitHub and GitLab. HTML has escapes of its own. */
const MARKS = /[\\`*_{}[\]()#+\-!|~$=^%]/g;

/** What never shows, and keeps a letter from belonging to the sign before it. */
const NOTHING = '&#8203;';

/**
 * Escapes a text for one line of Markdown, such as a cell of a table: it shows as it is, calls nobody by `@name`, refers to
 * nothing, and is no link and no HTML. A line break becomes a space.
 */
export function escapeMarkdown(text: string): string {
  return breakNames(escapeLine(text).replace(MARKS, '\\$&'));
}

/** Escapes a text of one line for HTML in Markdown, such as a `summary`. */
export function escapeHtmlInMarkdown(text: string): string {
  return breakNames(escapeLine(text));
}

/** Writes text of several lines as it is, in a block of HTML that Markdown does not read. */
export function writePreformatted(text: string): string {
  return `<pre>${escapeHtml(toPrintableLines(text))}</pre>`;
}

/** Escapes a text for HTML, as one line. */
function escapeLine(text: string): string {
  return escapeHtml(toPrintable(text.replace(/\s+/g, ' ').trim()));
}

/** Keeps names and addresses from becoming mentions and links, which is done after Markdown was read. */
function breakNames(escaped: string): string {
  return escaped.replace(/@|:\/\/|www\./gi, (found) => `${found[0]}${NOTHING}${found.slice(1)}`);
}
