import { addressParser } from 'postal-mime';
import { isDomainName } from './schemas.ts';

/** Somebody who sends or receives mail. */
interface EmailAddress {
  /** The display name; empty where there is none. */
  readonly name: string;
  /** The bare address, as it was written. */
  readonly address: string;
}

/** Every dot-atom of RFC 5322, section 3.2.3, but for what could be read as an encoded word (RFC 2047). */
const LOCAL_PART = /^(?!\.)(?!.*(?:\.\.|=\?))[\w!#$%&'*+./=?^`{|}~-]+(?<!\.)$/;

/** Says whether a text is a bare e-mail address, such as `ada@example.com`. */
export function isBareAddress(text: string): boolean {
  const at = text.lastIndexOf('@');
  return text.length <= 254 && at <= 64 && LOCAL_PART.test(text.slice(0, at)) && isDomainName(text.slice(at + 1));
}

/** Reads one address, bare or in display form (`Ada <ada@example.com>`); `undefined` for anything else. */
export function parseAddress(text: string): EmailAddress | undefined {
  if (/[\r\n\0]/.test(text)) return undefined;
  const [parsed, ...more] = addressParser(text);
  if (parsed?.address === undefined || more.length > 0 || !isBareAddress(parsed.address)) return undefined;
  // The parser makes the best of what is no address; here nothing may stand behind one, and a name needs brackets.
  if (![parsed.address, `<${parsed.address}>`].some((end) => isWhole(text.trim(), end))) return undefined;
  return { name: parsed.name.trim(), address: parsed.address };
}

function isWhole(text: string, end: string): boolean {
  return text === end || (end.startsWith('<') && text.endsWith(end));
}

/** A bare address without the tag of its local part: `helpdesk@acme.test` for `helpdesk+orders@acme.test`. */
export function withoutTag(address: string): string {
  const plus = address.indexOf('+');
  const at = address.lastIndexOf('@');
  return plus === -1 || at < plus ? address : address.slice(0, plus) + address.slice(at);
}

/** The bare address of a text that is known to have one, in lower case, in which addresses compare. */
export function toBareAddress(text: string): string {
  return (parseAddress(text)?.address ?? text).toLowerCase();
}

/** Writes the display form; a name with characters that mean something in an address is quoted. */
export function formatAddress({ name, address }: EmailAddress): string {
  if (name === '') return address;
  const quoted = /[()<>[\]:;@\\,."]/.test(name) ? `"${name.replace(/["\\]/g, '\\$&')}"` : name;
  return `${quoted} <${address}>`;
}

/** The most characters of an address with its display name. */
export const MAX_ADDRESS_LENGTH = 1000;

/** How many addresses a field or an envelope may have. */
export const MAX_ADDRESSES = 50;
