/** The name of a header or of a query parameter whose whole value is secret. */
const SECRET_NAME = /authorization|cookie|token|secret|password|passwd|api[-_]?key/i;

/** A value that consists of one API key, with or without the scheme of `Authorization`. */
const ONLY_A_KEY = /^(?:bearer +)?(?:sa|tk|wk|ak)_[\w-]{10,}$/i;

/** A secret field of JSON, such as `client_secret`, with its value. A truncated text may end within the value. */
const SECRET_FIELD = /((?:password|passwd|secret|api[-_]?key)"\s*:\s*")(?:[^"\\]|\\.)+/gi;

/** A secret field of a form or a query, with its value. An API key needs no field name, because its prefix is known. */
const SECRET_FORM_FIELD = /((?:password|passwd|secret)=)[^&\s"'<>\\]+/gi;

/** Matches a part of every secret, also of an encoded secret. Most texts have no match, and need no full search. */
const MAY_HAVE_SECRETS = /[_%@]|\\u00|password|passwd|secret|api-?key/i;

/**
 * Shortens every API key in a text to a recognisable start, such as `tk_acme_…`, and removes webhook secrets, passwords
 * in fields of JSON and of forms, and logins of URLs. Secrets that are percent-encoded or have JSON escapes are found,
 * too.
 */
export function maskText(text: string): string {
  if (!MAY_HAVE_SECRETS.test(text)) return text;
  const decoded = decodeSecrets(text);
  const masked = maskPlain(decoded);
  return masked === decoded ? text : masked;
}

/** Masks the value of a header or a query parameter. If the name is secret, shows at most the start of a key. */
export function maskNamed(name: string, value: string): string {
  const mustHide = SECRET_NAME.test(name) && !ONLY_A_KEY.test(value);
  return mustHide ? HIDDEN : maskText(value);
}

const HIDDEN = '(hidden)';

/** Masks every text in a value of any depth. */
export function maskDeep<Value>(value: Value): Value {
  return mapTexts(value) as Value;
}

function mapTexts(value: unknown): unknown {
  if (typeof value === 'string') return maskText(value);
  if (Array.isArray(value)) return value.map(mapTexts);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [maskText(name), mapTexts(each)]));
}

function maskPlain(text: string): string {
  return text
    .replace(SECRET_FIELD, '$1…')
    .replace(SECRET_FORM_FIELD, '$1…')
    .replace(/whsec_[\w+/=-]+/g, 'whsec_…')
    .replace(/\/\/[^/@\s]+@/g, '//…@')
    .replace(/(sa|tk|wk|ak)_[\w-]{10,}/g, (key) => `${key.slice(0, 8)}…`);
}

/** Decodes percent-encoded and escaped characters that secrets can contain, up to `times` times in succession. */
function decodeSecrets(text: string, times = 3): string {
  const decoded = text.replace(/\\\//g, '/').replace(/(?:%|\\u00)([2-7][0-9a-f])/gi, (encoded, hex: string) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16));
    return /[\w+/=%-]/.test(character) ? character : encoded;
  });
  return decoded === text || times === 1 ? decoded : decodeSecrets(decoded, times - 1);
}
