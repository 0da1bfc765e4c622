import { addressParser } from 'postal-mime';
import { isDomainName } from '../basics/text.ts';

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
 * Returns whether a text is a bare address that mail from outside may have. Such an address may also be international
 * (RFC 6532), have a domain without a dot, or have dots where RFC 5322 does not allow them.
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
  // The parser also accepts text after the address, and a display name without angle brackets. Both are refused here.
  if (text.trim() !== parsed.address && !text.trim().endsWith(`<${parsed.address}>`)) return undefined;
  return { name: parsed.name.trim(), address: parsed.address };
}

/** Matches a token of a header field: quoted text, a comment, an address in angle brackets, a separator, other text. */
const FIELD_TOKENS = /"(?:[^"\\\n]|\\.)*"?|\((?:[^()\\\n]|\\.)*\)?|<[^<>\n]*>?|[,;:]|[^",;:(<]+/g;

/** How many addresses of a header field are read. */
const MAX_ADDRESSES_READ = 1_000;
/** How many characters of an address with its display name are read, counted from the end. */
const MAX_LENGTH_READ = 4_000;

/** Parses the addresses of a header field, and replaces a group by its members. Reads at most 1,000 addresses. */
export function parseAddressList(text: string): EmailAddress[] {
  const parts: string[] = [''];
  for (const [token] of text.matchAll(FIELD_TOKENS)) {
    // The text before a colon is not an address, but the name of a group.
    if (token === ':') parts[parts.length - 1] = '';
    else if (token === ',' || token === ';') parts.push('');
    else parts[parts.length - 1] += token;
  }
  return parts
    .filter((part) => part.trim() !== '')
    .slice(0, MAX_ADDRESSES_READ)
    .flatMap((part) => addressParser(part.slice(-MAX_LENGTH_READ), { flatten: true }))
    .map(({ name, address = '' }) => ({ name, address }));
}

/** Removes the tag from the local part: `helpdesk+orders@acme.test` becomes `helpdesk@acme.test`. */
export function withoutTag(address: string): string {
  const plus = address.indexOf('+');
  const at = address.lastIndexOf('@');
  return plus === -1 || at < plus ? address : address.slice(0, plus) + address.slice(at);
}

/** Returns an address in lower case and without its display name, for comparison. Any other text stays. */
export function toBareAddress(text: string): string {
  // The pattern matches most addresses. The parser takes thirty times as long.
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

/**
 * Matches a token of an address list (RFC 5322, section 3.4): quoted text, an address in brackets, a comment or plain
 * text. An unclosed quote or bracket extends to the end of the text, so that matching never backtracks.
 */
const LIST_TOKENS = /\\.|"(?:[^"\\]|\\.)*\\?(?:"|$)|<[^>]*(?:>|$)|\((?:[^()\\]|\\.)*\)|[^"<(:;,\\]+|./gs;

/**
 * Splits an address list at its commas and replaces a group such as `Team: ada@acme.test, bo@acme.test;` by its
 * members. It does not validate the addresses.
 */
export function splitAddresses(text: string): string[] {
  return splitAtCommas(text).flatMap((part) => membersOf(part) ?? [part]);
}

/** Splits an address list at the commas that are outside of quotes, brackets, comments and groups. */
function splitAtCommas(text: string): string[] {
  const commas: number[] = [];
  let isInGroup = false;
  for (const { 0: token, index } of text.matchAll(LIST_TOKENS)) {
    if (token === ':') isInGroup = true;
    if (token === ';') isInGroup = false;
    if (token === ',' && !isInGroup) commas.push(index);
  }
  const parts = [...commas, text.length].map((end, at) => text.slice((commas[at - 1] ?? -1) + 1, end));
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

/** Returns the members of a group, or `undefined` if the text is not a group. */
function membersOf(part: string): string[] | undefined {
  if (!part.endsWith(';')) return undefined;
  const colon = [...part.matchAll(LIST_TOKENS)].find(([token]) => token === ':');
  return colon && splitAtCommas(part.slice(colon.index + 1, -1));
}

/** The domain that the inboxes of every tenant may use. */
export const DEFAULT_DOMAIN = 'mailbox.test';

/** The domain of the simulator addresses; no inbox may use it. */
export const SIMULATOR_DOMAIN = 'simulator.test';

/** The domain that contains the domains of all sandboxes, such as `3f9c2a71b04d.sandbox.test`. */
export const SANDBOX_DOMAIN = 'sandbox.test';

/**
 * Returns whether a domain belongs to the emulator itself, so that no tenant may register it. A sandbox
 * may register its own domain, `sandboxDomain`, and the domains below it.
 */
export function isEmulatorDomain(domain: string, sandboxDomain?: string): boolean {
  if (isSandboxDomain(domain)) return sandboxDomain === undefined || !isWithin(domain, sandboxDomain);
  return domain === DEFAULT_DOMAIN || domain === SIMULATOR_DOMAIN;
}

/** Returns whether a domain is `sandbox.test` or below it. */
export function isSandboxDomain(domain: string): boolean {
  return isWithin(domain.toLowerCase().replace(/\.$/, ''), SANDBOX_DOMAIN);
}

function isWithin(domain: string, parent: string): boolean {
  return domain === parent || domain.endsWith(`.${parent}`);
}

/** Returns the part of an address after its last `@`, in lower case. */
export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1).toLowerCase();
}
