import { normaliseText } from './text.ts';

/** Returns whether a text is a domain name in ASCII with at least two labels. */
export function isAsciiDomainName(value: string): boolean {
  return /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/i.test(value);
}

/** Returns whether a text is a domain name with at least two labels, in ASCII or in its international form (IDNA). */
export function isDomainName(value: string): boolean {
  return isAsciiDomainName(toAsciiDomain(value));
}

/** Maximum length of a domain name, in characters. */
export const MAX_DOMAIN_LENGTH = 253;

/** Matches a text in which every character is in ASCII. */
const ASCII = /^[\0-\x7f]*$/;

/** Matches what an international domain name may consist of. `URL` would read or remove any other ASCII character. */
const INTERNATIONAL_NAME = /^[a-z0-9.\u0080-\u{10ffff}_-]+$/iu;

/**
 * Returns a domain name in lower case and in its ASCII form (IDNA, UTS #46), in which domain names are compared:
 * `München.test` becomes `xn--mnchen-3ya.test`. A text that is no domain name is only converted to lower case.
 */
export function toAsciiDomain(domain: string): string {
  // `URL` takes quadratic time for a long host name of many different letters.
  if (ASCII.test(domain) || domain.length > MAX_DOMAIN_LENGTH || !INTERNATIONAL_NAME.test(domain)) {
    return domain.toLowerCase();
  }
  // With this last label, the name is never read as an IPv4 address.
  const url = `http://${domain}${LAST_LABEL}`;
  if (!URL.canParse(url)) return domain.toLowerCase();
  return new URL(url).hostname.slice(0, -LAST_LABEL.length);
}

const LAST_LABEL = '.x';

/** Returns whether an address, bare or in display form, contains a text in one of the two forms of its domain. */
export function addressContains(address: string, text: string): boolean {
  if (address.toLowerCase().includes(text.toLowerCase())) return true;
  if (ASCII.test(address) && ASCII.test(text)) return false;
  return foldAddress(address).includes(foldPartOfAddress(text));
}

/** Returns a part of an address, such as a domain, in the form of {@link foldAddress}. */
export function foldPartOfAddress(text: string): string {
  return text.includes('@') ? foldAddress(text) : toAsciiDomain(text);
}

/**
 * Returns an address, bare or in display form, in the form in which addresses are compared: in lower case, composed
 * (NFC), and with its domain in the ASCII form. So `Dana@München.test` equals `dana@xn--mnchen-3ya.test`.
 */
export function foldAddress(address: string): string {
  if (ASCII.test(address)) return address.toLowerCase();
  const folded = normaliseText(address, 'NFC').toLowerCase();
  const at = folded.lastIndexOf('@');
  if (at < 0) return folded;
  const end = folded.endsWith('>') ? '>' : '';
  const domain = folded.slice(at + 1, folded.length - end.length);
  return `${folded.slice(0, at + 1)}${toAsciiDomain(domain)}${end}`;
}
