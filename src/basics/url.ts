/** Maximum length of a URL, in characters. */
export const MAX_URL_LENGTH = 2048;

/**
 * Returns whether a text is an absolute URL of valid length, with both slashes and without characters that a URL
 * parser would trim.
 */
export function isUrlWithProtocol(url: string, protocol: RegExp): boolean {
  const scheme = /^([a-z]+):\/\/[^\s/\\][^\s\\]*$/i.exec(url)?.[1];
  // The parser of URLs takes quadratic time for a long host name of many different letters.
  const isShort = url.length <= MAX_URL_LENGTH;
  return isShort && scheme !== undefined && protocol.test(scheme.toLowerCase()) && URL.canParse(url);
}
