/** The package has no types of its own. Node loads its CommonJS file, which has only a default export. */
declare module 'punycode.js' {
  const punycode: {
    /** Returns a domain name with each label in its international form; a label that is not encoded stays. */
    toUnicode(domain: string): string;
  };
  export default punycode;
}
