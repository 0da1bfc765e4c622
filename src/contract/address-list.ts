/**
 * What a list of addresses (RFC 5322, section 3.4) is made of: quoted text, addresses in brackets, comments, and the
 * text between them. What is not closed reaches to the end, so that reading takes the same time for any text.
 */
const TOKENS = /\\.|"(?:[^"\\]|\\.)*\\?(?:"|$)|<[^>]*(?:>|$)|\((?:[^()\\]|\\.)*\)|[^"<(:;,\\]+|./gs;

/**
 * Splits a text at the commas between its addresses; a group such as `Team: ada@acme.test, bo@acme.test;` stands for
 * its members. What is no address is a part of the list like any other: nothing is checked here.
 */
export function splitAddresses(text: string): string[] {
  return splitAtCommas(text).flatMap((part) => membersOf(part) ?? [part]);
}

/** Splits at the commas that are in no quotes, brackets, comment or group. */
function splitAtCommas(text: string): string[] {
  const parts = [''];
  let isInGroup = false;
  for (const [token] of text.matchAll(TOKENS)) {
    if (token === ':') isInGroup = true;
    if (token === ';') isInGroup = false;
    if (token === ',' && !isInGroup) parts.push('');
    else parts.push(`${parts.pop()}${token}`);
  }
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

/** The members of a whole group; `undefined` for what is none. */
function membersOf(part: string): string[] | undefined {
  if (!part.endsWith(';')) return undefined;
  const colon = [...part.matchAll(TOKENS)].find(([token]) => token === ':');
  return colon && splitAtCommas(part.slice(colon.index + 1, -1));
}
