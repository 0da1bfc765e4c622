/** The package has no types of its own. */
declare module 'punycode.js' {
  /** Returns a domain name with each label in its international form; a label that is not encoded stays. */
  export function toUnicode(domain: string): string;
}
