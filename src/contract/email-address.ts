import { addressParser } from 'postal-mime';
import { isDomainName } from './schemas.ts';

/** A sender or recipient of mail. */
interface EmailAddress {
  /** The display name; may be empty. */
  readonly name: string;
  /** The bare address, with its original letter case. */
  readonly address: string;
}

/** A dot-atom (RFC 5322, section 3.2.3) that cannot be mistaken for an encoded word (RFC 2047). */
const LOCAL_PART = /^(?!\.)(?!.*(?:\.\.|=\?))[\w!#$%&'*+./=?^`{|}~-]+(?<!\.)$/;

/** Returns whether a text is a bare e-mail address, such as `ada@example.com`. */
export function isBareAddress(text: string): boolean {
  const at = text.lastIndexOf('@');
  return text.length <= 254 && at <= 64 && LOCAL_PART.test(text.slice(0, at)) && isDomainName(text.slice(at + 1));
}

/**
 * Returns whether a text is a bare address as mail from outside may have it: also international (RFC 6532), of a host
 * without a dot, or with dots that RFC 5322 does not allow.
 */
export function isIncomingAddress(text: string): boolean {
  return text.length <= MAX_ADDRESS_LENGTH && /^[^\s\p{Cc}<>()",;:@\\]+@[^\s\p{Cc}<>()",;@\\]+$/u.test(text);
}

/**
 * Parses one address, bare or in display form (`Ada <ada@example.com>`); returns `undefined` for any other text.
 * `isAddress` checks the bare address.
 */
export function parseAddress(text: string, isAddress = isBareAddress): EmailAddress | undefined {
  if (/[\r\n\0]/.test(text)) return undefined;
  const [parsed, ...more] = addressParser(text);
  if (parsed?.address === undefined || more.length > 0 || !isAddress(parsed.address)) return undefined;
  // The parser is lenient: refuse text after the address, and a display name without angle brackets.
  if (![parsed.address, `<${parsed.address}>`].some((end) => isWhole(text.trim(), end))) return undefined;
  return { name: parsed.name.trim(), address: parsed.address };
}

/** Quoted texts, comments, addresses in angle brackets, separators, and what is between these. */
const TOKEN = /"(?:[^"\\\n]|\\.)*"?|\((?:[^()\\\n]|\\.)*\)?|<[^<>\n]*>?|[,;:]|[^",;:(<]+/g;

/** How many addresses of a list are read, and how many characters of each, from its end. */
const MAX_LISTED = 1_000;
const MAX_WRITTEN_LENGTH = 4_000;

/** Parses the addresses of a header field; a group is replaced by its members. Further ones than 1,000 are left out. */
export function parseAddressList(text: string): EmailAddress[] {
  const written: string[] = [''];
  for (const [token] of text.matchAll(TOKEN)) {
    // Before a colon is the name of a group.
    if (token === ':') written[written.length - 1] = '';
    else if (token === ',' || token === ';') written.push('');
    else written[written.length - 1] += token;
  }
  return written
    .filter((each) => each.trim() !== '')
    .slice(0, MAX_LISTED)
    .flatMap((each) => addressParser(each.slice(-MAX_WRITTEN_LENGTH), { flatten: true }))
    .map(({ name, address = '' }) => ({ name, address }));
}

function isWhole(text: string, end: string): boolean {
  return text === end || (end.startsWith('<') && text.endsWith(end));
}

/** Removes the tag from the local part: `helpdesk+orders@acme.test` becomes `helpdesk@acme.test`. */
export function withoutTag(address: string): string {
  const plus = address.indexOf('+');
  const at = address.lastIndexOf('@');
  return plus === -1 || at < plus ? address : address.slice(0, plus) + address.slice(at);
}

/** Returns the bare address of a valid text in lower case, for comparison. */
export function toBareAddress(text: string): string {
  // Most texts need no parser, which takes thirty times as long.
  const plain = /^(?:[^"<>(),;:\\@\r\n\0]*|"[^"\\\r\n\0]*" )<([^<>]*)>$/.exec(text)?.[1] ?? text;
  if (isIncomingAddress(plain)) return plain.toLowerCase();
  return (parseAddress(text, isIncomingAddress)?.address ?? text).toLowerCase();
}

/** Formats an address in display form; a name with special characters is quoted. */
export function formatAddress({ name, address }: EmailAddress): string {
  if (name === '') return address;
  const quoted = /[()<>[\]:;@\\,."]/.test(name) ? `"${name.replace(/["\\]/g, '\\$&')}"` : name;
  return `${quoted} <${address}>`;
}

/** Maximum length of an address with its display name, in characters. */
export const MAX_ADDRESS_LENGTH = 1000;

/** Maximum number of addresses in a field or an SMTP envelope. */
export const MAX_ADDRESSES = 50;
