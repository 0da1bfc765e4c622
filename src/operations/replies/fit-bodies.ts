import type { Assume } from '../../contract/behaviours.ts';
import { cut } from '../../mail/cut.ts';

/** The most characters of JSON to which the bodies of one reply come. */
const MAX_TOTAL = 16 * 1024 * 1024;

/** How much of a body is left where they come to more. */
const CUT_LENGTH = 1000;

/** The most characters of JSON that one character of a text can take. */
const MAX_ESCAPE = 6;

/** What has bodies, as messages and drafts do. */
interface WithBodies {
  readonly plainBody: string | null;
  readonly htmlBody: string | null;
}

/** Cuts bodies of a list that together would make a reply too large: those that come first stay whole. */
export function fitBodies<Row extends WithBodies>(rows: readonly Row[], assume: Assume): readonly Row[] {
  const characters = rows.reduce((sum, { plainBody, htmlBody }) => sum + lengthOf(plainBody) + lengthOf(htmlBody), 0);
  if (characters * MAX_ESCAPE <= MAX_TOTAL) return rows;
  let left = MAX_TOTAL;
  return rows.map((row) => {
    if (left > 0) left -= lengthAsJson(row);
    return left > 0 ? row : cutBodies(row, assume);
  });
}

function lengthOf(body: string | null): number {
  return body?.length ?? 0;
}

function lengthAsJson({ plainBody, htmlBody }: WithBodies): number {
  return JSON.stringify([plainBody, htmlBody]).length;
}

function cutBodies<Row extends WithBodies>(row: Row, assume: Assume): Row {
  if (Math.max(lengthOf(row.plainBody), lengthOf(row.htmlBody)) <= CUT_LENGTH) return row;
  assume('messages.list.large');
  return { ...row, plainBody: cutBody(row.plainBody), htmlBody: cutBody(row.htmlBody) };
}

function cutBody(body: string | null): string | null {
  return body === null ? null : cut(body, CUT_LENGTH);
}
