import type { Assume } from '../../contract/behaviours.ts';
import { cut } from '../../mail/cut.ts';

/** The maximum total length of all bodies of one reply, in characters of JSON. */
const MAX_TOTAL_LENGTH = 16 * 1024 * 1024;

/** The length to which a body is cut when the total is exceeded, in characters. */
const CUT_LENGTH = 1000;

/** The maximum number of JSON characters that encode one character of text. */
const MAX_ESCAPED_LENGTH = 6;

/** A row with bodies, such as a message or a draft. */
interface WithBodies {
  readonly plainBody: string | null;
  readonly htmlBody: string | null;
}

/** Cuts the bodies of later rows if the total would make the reply too large. The first rows stay complete. */
export function limitBodies<Row extends WithBodies>(rows: readonly Row[], assume: Assume): readonly Row[] {
  const characters = rows.reduce((sum, { plainBody, htmlBody }) => sum + lengthOf(plainBody) + lengthOf(htmlBody), 0);
  if (characters * MAX_ESCAPED_LENGTH <= MAX_TOTAL_LENGTH) return rows;
  let left = MAX_TOTAL_LENGTH;
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
