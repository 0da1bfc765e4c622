/** A part of a text that has the form of a secret. */
export interface SecretForm {
  /** The index of its first character. */
  readonly start: number;
  /** The index after its last character. */
  readonly end: number;
}

/** The name of a header or of a parameter of a query whose whole value is secret. */
const SECRET_NAME =
  /authori[sz]ation|cookie|token|secret|password|passwd|passphrase|passcode|(?:api|access|private)[-_]?key|^x[-_]auth|(?:^|[-_])(?:auth|jwt|session|session[-_]?id|sid|pass|pwd)$/i;

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

/** An API key. In a word, as in `break_even_calculation`, the same letters are none. */
const API_KEY = /(?<![a-z0-9])(?:sa|tk|wk|ak)_[\w-]{10,}/gi;

const WEBHOOK_SECRET = /whsec_[\w+/=-]+/g;

/** A JSON Web Token. */
const JSON_WEB_TOKEN = /eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g;

/** A token after `Bearer`. One without a digit is an English word. */
const BEARER = /\bbearer[ +]{1,4}(?=[a-z.~_-]{0,80}\d)([\w.~+/=-]{8,})/gi;

/** The login of a URL, which ends at the last `@` before the path. A text may have backslashes in place of slashes. */
const LOGIN = /[\\/]{2}([^\s"'<>/?#\\]{0,2000})@/g;

/** The login of a URL whose password has `/`, `?` or `#`, so that a number, as of a port, does not come before these. */
const ODD_LOGIN = /[\\/]{2}([^\s"'<>/?#\\@:[]{0,200}:(?!\d{0,5}[/?#])[^\s"'<>/?#\\@]{0,200}[/?#][^\s"'<>]{0,2000})@/g;

/** The login of a URL without `//`, which WHATWG's parser of URLs takes, too. */
const LOGIN_WITHOUT_SLASHES = /\b(?:https?|wss?|ftp):[\\/]?(?![\\/])([^\s"'<>/?#\\]{0,2000})@/gi;

/** A login before a host with a port or a path, without a scheme. */
const LOGIN_OF_HOST =
  /(?<![\w.+%:/@\\-])(?!(?:mailto|https?|wss?|ftp):)([\w.+%~-]{1,64}:[^\s"'<>@/\\]{1,200})@[\w.-]{1,253}(?=:\d|\/)/gi;

/** The start of a quoted value of a secret field, up to the quotation mark: JSON, or a program. */
const QUOTED_FIELD =
  /(?:password|passwd|passphrase|passcode|pwd|secret|token|(?:api|access|private|secret)[-_]?key|authorization|cookie|jwt|session[-_]?id|x[-_]auth[\w-]{0,40}|(?<![a-z])auth|(?<![a-z])pass)["']?\]?\s{0,20}(?:[:=]|=>)\s{0,20}(["'])/gi;

/** A number as the value of a secret field of JSON. */
const NUMBER_FIELD = /(?:password|passwd|passphrase|passcode|pwd|secret)["']\s{0,20}:\s{0,20}(\d{4,})/gi;

/** The value of a secret field of a form, a query or a fragment. A variable, such as `$KEY`, is none. */
const FORM_FIELD =
  /(?:password|passwd|passphrase|passcode|pwd|secret|token|(?:api|access|private|secret)[-_]?key|authorization|jwt|session[-_]?id|x[-_]auth[\w-]{0,40}|(?<![a-z])auth|(?<![a-z])pass)\]?=(?!\$\{|\$[A-Z][A-Z\d_]{0,80}(?:[\s&"'`]|$)|[;,.)`]{1,3}(?:\s|$))([^&\s"'<>\\]+)/gi;

/** A secret field of a form in parts (RFC 7578), up to its value. */
const FORM_PART =
  /form-data; ?name="?[\w[\].-]{0,60}(?:password|passwd|passphrase|passcode|pwd|secret|token|(?:api|access|private|secret)[-_]?key|pass)\]?"?[^\r\n]{0,200}\r?\n(?:[\w-]{1,60}:[^\r\n]{0,200}\r?\n){0,4}\r?\n([^\r\n]+)/gi;

/** A secret element of XML. */
const ELEMENT =
  /<(?:[\w-]{1,40}:)?[\w-]{0,40}(?:password|passwd|passphrase|passcode|pwd|secret|token|api[-_]?key)>([^<]+)</gi;

/** A secret header in a text. */
const HEADER =
  /(?<![\w-])(?:(?:proxy-)?authorization:[ \t]{0,20}|(?:x-api-key|api-key|x-auth[\w-]{0,40}|x-[\w-]{1,40}-token):[ \t]{0,20}|(?:set-)?cookie:[ \t]{0,20}(?=[\w!#$%&'*+.^`|~-]{1,80}=))(?!\$\{|\$[A-Z][A-Z\d_]{0,80}(?:[\s&"'`]|$)|[;,.)`]{1,3}(?:\s|$))([^\s"'][^\r\n"']*)/gi;

/** Matches a part of every name of a secret field or header. */
const SECRET_WORD = /pass|pwd|secret|token|key|authorization|cookie|jwt|session|auth|bearer/i;

/** The patterns, each list with what a text must have to match one of them. Most texts need no search by most of them. */
const PATTERNS: readonly { readonly isNeeded: (text: string) => boolean; readonly patterns: readonly RegExp[] }[] = [
  { isNeeded: (text) => text.includes('_'), patterns: [API_KEY, WEBHOOK_SECRET] },
  { isNeeded: (text) => text.includes('eyJ'), patterns: [JSON_WEB_TOKEN] },
  { isNeeded: (text) => text.includes('@'), patterns: [LOGIN, ODD_LOGIN, LOGIN_WITHOUT_SLASHES, LOGIN_OF_HOST] },
  {
    isNeeded: (text) => SECRET_WORD.test(text),
    patterns: [BEARER, NUMBER_FIELD, FORM_FIELD, FORM_PART, ELEMENT, HEADER],
  },
];

/** Finds the parts of a decoded text that have the form of a secret. They may overlap. */
export function findSecretForms(text: string): SecretForm[] {
  const found: SecretForm[] = [];
  for (const { isNeeded, patterns } of PATTERNS) {
    if (!isNeeded(text)) continue;
    for (const pattern of patterns) {
      for (const match of text.matchAll(pattern)) {
        const [whole, group] = match;
        // Each pattern has at most one group, which is the secret. What may follow it cannot contain it.
        const start = group === undefined ? match.index : match.index + whole.lastIndexOf(group);
        found.push({ start, end: start + (group ?? whole).length });
      }
    }
  }
  let searchedTo = 0;
  for (const match of SECRET_WORD.test(text) ? text.matchAll(QUOTED_FIELD) : []) {
    // A field may be within the value of another.
    if (match.index < searchedTo) continue;
    const start = match.index + match[0].length;
    searchedTo = endOfQuoted(text, start, match[1] ?? '"');
    found.push({ start, end: searchedTo });
  }
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
