/** A part of a text that has the form of a secret. */
export interface SecretForm {
  /** The index of its first character. */
  readonly start: number;
  /** The index after its last character. */
  readonly end: number;
}

/** The name of a header or of a parameter of a query whose whole value is secret. */
const SECRET_NAME =
  /authorization|authorisation|cookie|token|secret|password|passwd|passphrase|passcode|(?:api|access|private)[-_]?key|^x[-_]auth|(?:^|[-_])(?:auth|jwt|session|session[-_]?id|sid|pass|pwd)$/i;

/** Returns whether the whole value of a header or of a parameter of a query with this name is secret. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

/** The end of the name of a secret field. Other names, such as `maxTokens` or `webhooks.list.secret`, are not secret. */
const SECRET_FIELD =
  /^[\w-]*(?:password|passwd|passphrase|passcode|pwd|secret|token|(?:api|access|private|secret)[-_]?key|authorization|cookie|jwt|session[-_]?id)$|^x[-_]auth[\w-]*$|^(?:[\w-]*[-_])?(?:auth|pass)$/i;

/** Returns whether a field of an object with this name is secret. */
export function isSecretField(name: string): boolean {
  return SECRET_FIELD.test(name);
}

/** An API key. */
const API_KEY = /(?:sa|tk|wk|ak)_[\w-]{10,}/iy;

/** Finds API keys by their `_`, which most texts seldom have. In a word, as in `break_even_calculation`, it is none. */
function findApiKeys(text: string): SecretForm[] {
  const found: SecretForm[] = [];
  for (let index = text.indexOf('_'); index >= 0; index = text.indexOf('_', index + 1)) {
    const start = index - 'tk'.length;
    if (start < 0 || /[a-z0-9]/i.test(text.charAt(start - 1))) continue;
    API_KEY.lastIndex = start;
    const end = start + (API_KEY.exec(text)?.[0].length ?? 0);
    if (end <= start) continue;
    found.push({ start, end });
    index = end - 1;
  }
  return found;
}

const WEBHOOK_SECRET = /whsec_[\w+/=-]+/g;

/** A JSON Web Token. */
const JSON_WEB_TOKEN = /(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g;

/** A token after `Bearer`. One without a digit is an English word. */
const BEARER = /\bbearer[ +]{1,4}(?=[a-z.~_-]{0,80}\d)([\w.~+/=-]{8,})/gi;

/** Where the authority of a URL begins. A text may have backslashes in place of slashes. */
const SLASHES = /[\\/]{2}(?![\\/])/g;

/** The authority of a URL, and all that can belong to the URL. */
const AUTHORITY = /[^\s"'<>/?#\\]*/y;
const REST_OF_URL = /[^\s"'<>]*/y;

/** The login of a URL without `//`, which WHATWG's parser of URLs takes, too. */
const LOGIN_WITHOUT_SLASHES = /(?<![^\s"'<>/?#\\=(,])(?:https?|wss?|ftp):[\\/]?([^\s"'<>/?#\\=(,]*)@/gi;

/** A host with a port or a path, after a login that has no scheme. */
const HOST = /@[\w.-]+(?=:\d|\/)/g;

/** The longest login before a host, in characters. */
const MAX_LOGIN_LENGTH = 300;

/** Finds the logins of URLs. A login ends at the last `@` before the path. */
function findLogins(text: string): SecretForm[] {
  const found: SecretForm[] = [];
  let searchedTo = 0;
  const hasSlashes = text.includes('//') || text.includes('\\');
  for (const { index } of hasSlashes ? text.matchAll(SLASHES) : []) {
    const start = index + 2;
    AUTHORITY.lastIndex = start;
    const authority = AUTHORITY.exec(text)?.[0] ?? '';
    const at = authority.lastIndexOf('@');
    if (at >= 0) found.push({ start, end: start + at });
    // What follows the colon of a host is a port. Otherwise it is a password that has `/`, `?` or `#` although it must not.
    else if (start >= searchedTo && /^[^:[]+:(?!\d{0,5}$)/.test(authority)) {
      REST_OF_URL.lastIndex = start;
      const rest = REST_OF_URL.exec(text)?.[0] ?? '';
      searchedTo = start + rest.length;
      const end = start + rest.lastIndexOf('@');
      if (end > start) found.push({ start, end });
    }
  }
  for (const { index } of text.matchAll(HOST)) {
    let start = index;
    while (start > 0 && index - start < MAX_LOGIN_LENGTH && /[^\s"'<>()@/\\]/.test(text.charAt(start - 1))) start -= 1;
    const [user = '', ...password] = text.slice(start, index).split(':');
    const isLogin =
      /^[\w.+%~=&-]+$/.test(user) && password.join('') !== '' && !/^(?:mailto|https?|wss?|ftp)$/i.test(user);
    if (isLogin) found.push({ start, end: index });
  }
  return found;
}

/** The end of the name of a secret field, in a text. */
const FIELD_NAME =
  /(?:password|passwd|passphrase|passcode|pwd|secret|token|(?:api|access|private|secret)[-_]?key|authorization|cookie|jwt|session[-_]?id|x[-_]auth[\w-]*|(?<![a-z])auth|(?<![a-z])pass)/gi;

/** What follows the name of a field, up to the quotation mark of its value: JSON, or a program. */
const QUOTED = /["']?\]?\s*(?:=>|[:=])\s*(["'])/y;

/** A number as the value of a field of JSON. */
const NUMBER = /["']\s*:\s*(\d{4,})/y;

/** The value of a field of a form, a query or a fragment. A variable, such as `$KEY`, is none. */
const FORM_VALUE = /\]?=(?!\$\{|\$[A-Z][A-Z\d_]*(?:[\s&"'`]|$)|[;,.)`]{1,3}(?:\s|$))([^&\s"'<>\\]+)/y;

/** The content of an element of XML. */
const CONTENT = />([^<]+)</y;

/** What follows the name of a part of a form (RFC 7578), with the value, which is on one line. */
const PART_VALUE = /\]?"?[^\r\n]{0,200}\r?\n(?:[\w-]+:[^\r\n]*\r?\n)?\r?\n([^\r\n]+)/y;

/** How many characters before a name say what kind of field it is. */
const LOOK_BACK = 100;

/** Finds the values of secret fields of JSON, forms, queries, XML and programs. */
function findFields(text: string): SecretForm[] {
  const found: SecretForm[] = [];
  let searchedTo = 0;
  for (const match of text.matchAll(FIELD_NAME)) {
    const [name] = match;
    // A field may be within the value of another.
    if (match.index < searchedTo) continue;
    const end = match.index + name.length;
    const matchAfter = (pattern: RegExp) => {
      pattern.lastIndex = end;
      return pattern.exec(text);
    };
    const quoted = matchAfter(QUOTED);
    if (quoted) {
      const start = end + quoted[0].length;
      searchedTo = endOfQuoted(text, start, quoted[1] ?? '"');
      found.push({ start, end: searchedTo });
      continue;
    }
    const before = text.slice(Math.max(0, match.index - LOOK_BACK), match.index);
    let value = /cookie$/i.test(name) ? null : matchAfter(FORM_VALUE);
    if (/^(?:pass|pwd|secret$)/i.test(name)) value ??= matchAfter(NUMBER);
    if (/<[\w:-]*$/.test(before)) value ??= matchAfter(CONTENT);
    if (/form-data; ?name="?[\w[\].-]*$/.test(before)) value ??= matchAfter(PART_VALUE);
    const [whole, secret] = value ?? [];
    if (whole === undefined || secret === undefined) continue;
    const start = end + whole.lastIndexOf(secret);
    searchedTo = start + secret.length;
    found.push({ start, end: searchedTo });
  }
  return found;
}

/** A secret header in a text. */
const HEADER =
  /(?<![\w-])(?:(?:proxy-)?authorization:[ \t]{0,20}|(?:x-api-key|api-key|x-auth[\w-]{0,40}|x-[\w-]{1,40}-token):[ \t]{0,20}|(?:set-)?cookie:[ \t]{0,20}(?=[\w!#$%&'*+.^`|~-]{1,80}=))(?!(?:\w+ )?<[\w-]+>|\$\{|\$[A-Z][A-Z\d_]{0,80}(?:[\s&"'`]|$)|[;,.)`]{1,3}(?:\s|$))([^\s"'][^\r\n"']*)/gi;

/** Matches a part of every name of a secret field or header. */
const SECRET_WORD = /pass|pwd|secret|token|key|authorization|cookie|jwt|session|auth|bearer/i;

/** The parts of a text that match a pattern. If the pattern has a group, this is the secret, at the end of the match. */
function findAll(text: string, pattern: RegExp): SecretForm[] {
  return Array.from(text.matchAll(pattern), (match) => {
    const [whole, group = whole] = match;
    const start = match.index + whole.lastIndexOf(group);
    return { start, end: start + group.length };
  });
}

/** Finds the parts of a decoded text that have the form of a secret. They may overlap. */
export function findSecretForms(text: string): SecretForm[] {
  const found: SecretForm[] = [];
  // Most texts have none of these, and need no further search.
  if (text.includes('_')) found.push(...findApiKeys(text), ...findAll(text, WEBHOOK_SECRET));
  // The letter J is far less frequent than the other two.
  if (text.includes('J')) found.push(...findAll(text, JSON_WEB_TOKEN));
  if (text.includes('@')) found.push(...findLogins(text));
  if (text.includes('@') && /[ps]:/i.test(text)) found.push(...findAll(text, LOGIN_WITHOUT_SLASHES));
  if (SECRET_WORD.test(text)) found.push(...findFields(text), ...findAll(text, BEARER), ...findAll(text, HEADER));
  return found.filter(({ start, end }) => end > start && !isMasked(text.slice(start, end)));
}

/** Returns whether a value is masked already. */
export function isMasked(value: string): boolean {
  return /^(?:…|\(hidden\)|whsec_…|(?:bearer +)?(?:sa|tk|wk|ak)_[\w-]{0,5}…)$/i.test(value);
}

/** Returns the index of the quotation mark that ends a value; the end of the text if the text was cut in the value. */
function endOfQuoted(text: string, start: number, quote: string): number {
  for (let index = start; index < text.length; index += 1) {
    if (text[index] === '\\') index += 1;
    else if (text[index] === quote) return index;
  }
  return text.length;
}

/** The credentials in a URL: its password, a user without a password, and parameters of the query with secret names. */
export function secretsInUrl(text: string): string[] {
  if (!URL.canParse(text)) return [];
  const { username, password, searchParams } = new URL(text);
  const encoded = password === '' ? [username] : [password];
  const inQuery = [...searchParams].flatMap(([name, value]) => (isSecretName(name) ? [value] : []));
  return [...encoded.map(decodeUserinfo), ...inQuery].filter((secret) => secret !== '');
}

function decodeUserinfo(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}
