import type { ImapPart } from '../../../service/journal/entry-data.ts';

/** The last line of the reply to a command, without its tag. */
export interface LastLine {
  readonly result: ImapPart['result'];
  /** The text after the result, with a response code if there is one. */
  readonly text: string;
}

/** Returns the line for a command that is wrong. */
export function badLine(text: string): LastLine {
  return { result: 'BAD', text };
}

/** Returns the line that refuses a command, with a response code (RFC 5530) if there is one. */
export function refusalLine(text: string, code?: string): LastLine {
  return { result: 'NO', text: code === undefined ? text : `[${code}] ${text}` };
}
