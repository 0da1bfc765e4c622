import type { Wrong } from './run.ts';

/** Verdicts that are known to be wrong, by their classes. Everything in this list has to be mended. */
export const NOT_YET: Readonly<Record<string, (wrong: Wrong) => boolean>> = {
  'an address is one address': ({ question, parts }) =>
    /^(sent|drafted) to/.test(question) &&
    /plus tag|only in the header|local part|international/.test(parts.recipient ?? ''),
  'a picture is an answer': ({ question, parts }) =>
    /answered|handled/.test(question) && /picture/.test(parts.deed ?? ''),
  'what was not read was not resisted': ({ question, parts }) =>
    question === 'resisted' && /reads only/.test(parts.deed ?? ''),
};

/** Returns the name of the class of a wrong verdict; undefined if it is in none. */
export function classOf(wrong: Wrong): string | undefined {
  return Object.entries(NOT_YET).find(([, isOf]) => isOf(wrong))?.[0];
}
