import { KnownSecrets, MIN_SECRET_LENGTH } from './known-secrets.ts';
import { decodeOnce, type Range, type Reading, readAsItIs } from './readings.ts';
import { findSecretForms, isMasked, isSecretField, isSecretName } from './secret-forms.ts';

/** Replaces secrets in what is shown. */
export interface Mask {
  /**
   * Masks the secrets in a text. What is known as a secret is found in each usual encoding, also in several around each
   * other. Of an API key, the start stays, such as `tk_acme_…`; within base64, a secret becomes asterisks in base64.
   */
  text(text: string): string;
  /** Masks the value of a header or of a parameter of a query. If the name is secret, at most the start of a key stays. */
  named(name: string, value: string): string;
  /** Masks every text in a value of any depth. */
  deep<Value>(value: Value): Value;
}

/** How many encodings around each other are undone. */
const MAX_DEPTH = 6;

/** How many times its length a text may be read. A text that needs more is made to take time, and is hidden. */
const MAX_READINGS = 100;

/** The length that a short text may have for the limit above. */
const SHORT_LENGTH = 1000;

/** How many texts up to which length a mask remembers. */
const MAX_REMEMBERED = 4000;
const MAX_REMEMBERED_LENGTH = 120;

const HIDDEN = '(hidden)';

/** A value that consists of one API key, with or without the scheme of `Authorization`. */
const ONLY_A_KEY = /^(?:bearer +)?(?:sa|tk|wk|ak)_[\w-]{10,}$/i;

/** Creates a mask that hides what has the form of a secret and, if they are given, the secrets that a mailbox knows. */
export function createMask(known = new KnownSecrets()): Mask {
  /** What is shown instead of short texts. Ids, paths and the names of fields are in many entries of a journal. */
  const remembered = new Map<string, string>();
  let version = known.version;

  function text(given: string): string {
    if (given.length < MIN_SECRET_LENGTH) return given;
    if (given.length > MAX_REMEMBERED_LENGTH) return replaceAllSecrets(given, known);
    if (version !== known.version || remembered.size >= MAX_REMEMBERED) remembered.clear();
    version = known.version;
    let shown = remembered.get(given);
    if (shown === undefined) {
      shown = replaceAllSecrets(given, known);
      remembered.set(given, shown);
    }
    return shown;
  }

  const named = (name: string, value: string): string =>
    isSecretName(name) && !ONLY_A_KEY.test(value) ? HIDDEN : text(value);

  function deep(value: unknown): unknown {
    if (typeof value === 'string') return text(value);
    if (Array.isArray(value)) return value.map(deep);
    if (typeof value !== 'object' || value === null) return value;
    const fields = Object.entries(value).map(([name, field]) => {
      const isHidden = typeof field === 'string' && field !== '' && isSecretField(name) && !isMasked(field);
      return [text(name), isHidden ? startOfSecret(field) : deep(field)];
    });
    return Object.fromEntries(fields);
  }

  return { text, named, deep: <Value>(value: Value) => deep(value) as Value };
}

/** A part of the shown text to replace. */
interface Secret extends Range {
  /** What is shown instead; undefined for asterisks in base64. */
  readonly shown: string | undefined;
}

function replaceAllSecrets(text: string, known: KnownSecrets): string {
  const secrets: Secret[] = [];
  let left = MAX_READINGS * Math.max(text.length, SHORT_LENGTH);
  let readings: Iterable<Reading> = [readAsItIs(text)];
  for (let depth = 0; depth <= MAX_DEPTH; depth += 1) {
    const next: Reading[] = [];
    for (const reading of readings) {
      const values = reading.searchedFor === 'forms' ? [] : known.find(reading.text);
      const forms = reading.searchedFor === 'values' ? [] : findSecretForms(reading.text);
      for (const { start, end } of [...values, ...forms]) {
        const shown = reading.isBase64 ? undefined : startOfSecret(reading.text.slice(start, end));
        secrets.push({ ...reading.locate(start, end), shown });
      }
      if (depth === MAX_DEPTH) continue;
      for (const decoded of decodeOnce(reading, known)) {
        left -= decoded.text.length;
        if (left < 0) return HIDDEN;
        next.push(decoded);
      }
    }
    readings = next;
  }
  return secrets.length === 0 ? text : replaceParts(text, secrets);
}

/** The part of an API key that stays: `tk_acme_`. Of a short key, only its prefix stays. */
const KEY_START_LENGTH = 8;
const KEY_PREFIX_LENGTH = 3;

/** Returns what is shown instead of a secret. */
function startOfSecret(secret: string): string {
  if (secret.startsWith('whsec_')) return 'whsec_…';
  const [, scheme = '', key] = /^(bearer +)?((?:sa|tk|wk|ak)_[\w-]*)/i.exec(secret) ?? [];
  if (key === undefined) return '…';
  return `${scheme}${key.slice(0, key.length >= KEY_START_LENGTH + MIN_SECRET_LENGTH ? KEY_START_LENGTH : KEY_PREFIX_LENGTH)}…`;
}

/** Replaces parts of a text, which may overlap. Of several replacements for the same part, the longest says the most. */
function replaceParts(text: string, secrets: readonly Secret[]): string {
  const sorted = secrets.toSorted((one, other) => one.start - other.start || other.end - one.end);
  const merged: { start: number; end: number; shown: string | undefined }[] = [];
  for (const secret of sorted) {
    const last = merged.at(-1);
    if (!last || secret.start >= last.end) {
      merged.push({ ...secret });
      continue;
    }
    const isSame = secret.start === last.start && secret.end === last.end;
    if (isSame && (secret.shown ?? '').length > (last.shown ?? '').length) last.shown = secret.shown;
    last.end = Math.max(last.end, secret.end);
  }
  const parts: string[] = [];
  let copied = 0;
  for (const { start, end, shown } of merged) {
    parts.push(text.slice(copied, start), shown ?? toAsterisks(text.slice(start, end)));
    copied = end;
  }
  parts.push(text.slice(copied));
  return parts.join('');
}

/** Replaces groups of base64 by those of asterisks, and leaves line breaks, so that the text can still be decoded. */
function toAsterisks(base64: string): string {
  const length = base64.replace(/\s/g, '').length;
  let index = 0;
  return base64.replace(/\S/g, () => {
    const isEnd = length - index === 1 && length % 4 === 2;
    const character = isEnd ? 'g' : ASTERISKS.charAt(index % 4);
    index += 1;
    return character;
  });
}

/** Three asterisks in base64. A last group of two characters ends with `g`, which encodes one asterisk. */
const ASTERISKS = 'Kioq';

const BY_FORM = createMask();

/** Masks what has the form of a secret in a text, where no mailbox says which secrets it knows. */
export const maskText = BY_FORM.text;

/** Masks the value of a header or of a parameter of a query, as `maskText` does. */
export const maskNamed = BY_FORM.named;
