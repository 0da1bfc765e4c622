/**
 * The tokens of an address list (RFC 5322, section 3.4): quoted text, addresses in brackets, comments and plain text.
 * An unclosed quote or bracket extends to the end of the text, so that matching never backtracks.
 */
const TOKENS = /\\.|"(?:[^"\\]|\\.)*\\?(?:"|$)|<[^>]*(?:>|$)|\((?:[^()\\]|\\.)*\)|[^"<(:;,\\]+|./gs;

/**
 * Splits an address list at its commas and replaces a group such as `Team: ada@acme.test, bo@acme.test;` by its
 * members. It does not validate the addresses.
 */
export function splitAddresses(text: string): string[] {
  return splitAtCommas(text).flatMap((part) => membersOf(part) ?? [part]);
}

/** Splits at the commas outside quotes, brackets, comments and groups. */
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

/** Returns the members of a group, or `undefined` if the text is not a group. */
function membersOf(part: string): string[] | undefined {
  if (!part.endsWith(';')) return undefined;
  const colon = [...part.matchAll(TOKENS)].find(([token]) => token === ':');
  return colon && splitAtCommas(part.slice(colon.index + 1, -1));
}
