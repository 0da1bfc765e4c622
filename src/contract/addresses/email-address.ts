import { foldAddress, isDomainName, toAsciiDomain } from '../../basics/domain-name.ts';
import { byteLengthOf } from '../../basics/text.ts';
import { type ListedAddress, readAddressList } from './email-address-list.ts';

/** A sender or recipient of mail. */
interface EmailAddress {
  /** The display name; may be empty. */
  readonly name: string;
  /** The bare address, with its original letter case. */
  readonly address: string;
}

/**
 * A dot-atom (RFC 5322, section 3.2.3) that cannot be mistaken for an encoded word (RFC 2047). It may have letters,
 * marks, digits, punctuation and symbols outside of ASCII (RFC 6532), but no spaces and no invisible characters.
 */
const LOCAL_PART =
  /^(?!\.)(?!.*(?:\.\.|=\?))(?:[\w!#$%&'*+./=?^`{|}~-]|(?![\0-\x7f])[\p{L}\p{M}\p{N}\p{P}\p{S}])+(?<!\.)$/u;

/**
 * Returns whether a text is a bare e-mail address, such as `ada@example.com`. It may be international (RFC 6531), such as
 * `ü@bücher.test`. The lengths are those in UTF-8, with the domain in its ASCII form.
 */
export function isBareAddress(text: string): boolean {
  const at = text.lastIndexOf('@');
  if (text.length > 254 || at < 1) return false;
  const [local, domain] = [text.slice(0, at), toAsciiDomain(text.slice(at + 1))];
  const localBytes = byteLengthOf(local);
  return localBytes <= 64 && localBytes + domain.length < 254 && LOCAL_PART.test(local) && isDomainName(domain);
}

/** A part before the `@` that needs no quotes. More is allowed in mail from outside than in RFC 5322. */
const INCOMING_LOCAL = /^[^\s\p{Cc}<>()",;:@\\]+$/u;

const INCOMING_ADDRESS = /^(?:[^\s\p{Cc}<>()",;:@\\]+|"(?:[^"\\\p{Cc}]|\\\P{Cc})*")@[^\s\p{Cc}<>()",;@\\]+$/u;

/**
 * Returns whether a text is a bare address that mail from outside may have. Such an address may also be international
 * (RFC 6532), have a domain without a dot, be quoted before the `@`, or have dots where RFC 5322 does not allow them.
 */
export function isIncomingAddress(text: string): boolean {
  return text.length <= MAX_ADDRESS_LENGTH && INCOMING_ADDRESS.test(text);
}

/**
 * Parses one address, bare or in display form (`Ada <ada@example.com>`); returns `undefined` for any other text.
 * `isAddress` checks the bare address.
 */
export function parseAddress(text: string, isAddress = isBareAddress): EmailAddress | undefined {
  if (/[\r\n\0]/.test(text)) return undefined;
  const { entries, isWellFormed } = readAddressList(text);
  const [entry, ...more] = entries;
  if (!entry || more.length > 0 || !isWellFormed || 'members' in entry || entry.route !== undefined) return undefined;
  const address = toAddressText(entry);
  if (!isAddress(address)) return undefined;
  // A comment, and a display name without angle brackets, are refused here.
  const isWhole = address === '' || text.trim() === address || text.trim().endsWith(`<${address}>`);
  if (!isWhole) return undefined;
  return { name: entry.name, address };
}

/** Writes an address in its usual form: `Cron <root>` stays, and `<root>` becomes `root`. Any other text stays. */
export function normalizeAddress(text: string): string {
  const parsed = parseAddress(text, () => true);
  return parsed ? formatAddress(parsed) : text;
}

/** Writes the bare address of an entry of a list. If the entry has no domain, this is only the part before the `@`. */
export function toAddressText({ local, domain }: Pick<ListedAddress, 'local' | 'domain'>): string {
  const isPlain = domain === '' ? !/[<>()",;:@\\[\]]/.test(local) : INCOMING_LOCAL.test(local) || local === '';
  const written = isPlain ? local : quoteText(local);
  return domain === '' ? written : `${written}@${domain}`;
}

/**
 * Says why no mail can be sent to an address of a mail from outside, bare or in display form, in words that follow the
 * address in a sentence. Returns `undefined` if mail can be sent to it.
 */
export function findAddressProblem(text: string): string | undefined {
  const parsed = parseAddress(text, () => true);
  if (parsed === undefined || parsed.address === '') return 'is not an address';
  if (isIncomingAddress(parsed.address)) return undefined;
  return parsed.address.includes('@') ? 'is not a valid address' : 'has no domain';
}

/** Returns the address, shortened, and why no mail can be sent to it. */
export function describeAddressProblem(text: string): string {
  return `${JSON.stringify(text.slice(0, 100))} ${findAddressProblem(text)}`;
}

/** Removes the tag from the local part: `helpdesk+orders@acme.test` becomes `helpdesk@acme.test`. */
export function withoutTag(address: string): string {
  const plus = address.indexOf('+');
  const at = address.lastIndexOf('@');
  return plus === -1 || at < plus ? address : address.slice(0, plus) + address.slice(at);
}

/**
 * Returns the form of an address, bare or in display form, by which addresses are compared, indexed and found: without
 * its display name, in lower case, and with its domain in the ASCII form.
 */
export function toAddressKey(text: string): string {
  return foldAddress(toBareAddress(text));
}

/**
 * Returns an address in lower case and without its display name, as clients see it. The address may have no domain. Any
 * other text stays, but in lower case. To compare addresses, use {@link toAddressKey}.
 */
export function toBareAddress(text: string): string {
  // The pattern matches most addresses. The parser takes thirty times as long.
  const plain = /^(?:[^"<>(),;:\\@\r\n\0]*|"[^"\\\r\n\0]*" )<([^<>]*)>$/.exec(text)?.[1] ?? text;
  if (isIncomingAddress(plain)) return plain.toLowerCase();
  return (parseAddress(text, (address) => address !== '')?.address ?? text).toLowerCase();
}

/**
 * Formats an address in display form; a name with special characters is quoted. A name without an address is quoted
 * also if it is only one word, which would otherwise be an address without a domain.
 */
export function formatAddress({ name, address }: EmailAddress): string {
  if (name === '') return address;
  const isQuoted = /[()<>[\]:;@\\,."]/.test(name) || (address === '' && !name.includes(' '));
  const phrase = isQuoted ? quoteText(name) : name;
  return address === '' ? phrase : `${phrase} <${address}>`;
}

/** Writes a text in quotation marks, as a header field does. */
export function quoteText(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
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
  return isWithin(toAsciiDomain(domain).replace(/\.$/, ''), SANDBOX_DOMAIN);
}

function isWithin(domain: string, parent: string): boolean {
  return domain === parent || domain.endsWith(`.${parent}`);
}

/** Returns the part of an address after its last `@`, in lower case and in its ASCII form; empty if it has no `@`. */
export function domainOf(address: string): string {
  const at = address.lastIndexOf('@');
  return at < 0 ? '' : toAsciiDomain(address.slice(at + 1));
}
