import { writeNString, writeString } from './argument.ts';

/** How many addresses of a field are shown. */
const MAX_ADDRESSES = 1_000;

/** Writes an ENVELOPE (RFC 3501, section 7.4.2) from header fields by lower-case name. */
export function writeEnvelope(fields: Readonly<Record<string, string>>): string {
  const from = writeAddresses(fields.from);
  const list = (name: string) => {
    const written = writeAddresses(fields[name]);
    return written === 'NIL' && (name === 'sender' || name === 'reply-to') ? from : written;
  };
  const [date, subject, ...ids] = ['date', 'subject', 'in-reply-to', 'message-id'].map((name) =>
    writeNString(fields[name]),
  );
  return `(${[date, subject, from, ...['sender', 'reply-to', 'to', 'cc', 'bcc'].map(list), ...ids].join(' ')})`;
}

/** A piece of an address list: a quoted text, a comment, an address in brackets, a separator, or an atom. */
const TOKEN = /"((?:[^"\\]|\\.)*)"?|\(((?:[^()\\]|\\.)*)\)?|<([^<>]*)>?|([,;:@])|([^\s",;:@<>()]+)|[()>]/gs;

/** Writes a list of addresses, with the groups that it has. */
function writeAddresses(field = ''): string {
  const writer = new AddressWriter();
  for (const [token, quoted, comment, angle, separator] of field.matchAll(TOKEN)) {
    if (separator !== undefined && separator !== '@') writer.separate(separator);
    else if (comment === undefined && angle === undefined) writer.words.push(unescapeQuoted(quoted ?? token));
    else {
      writer.comment = comment?.trim() ?? writer.comment;
      writer.angle ??= angle?.trim();
    }
  }
  return writer.end();
}

/** Writes addresses, each from what came since the separator before. */
class AddressWriter {
  words: string[] = [];
  comment: string | undefined;
  angle: string | undefined;
  readonly #addresses: string[] = [];
  #isInGroup = false;

  separate(separator: string): void {
    if (separator === ':' && !this.#isInGroup) {
      this.#addresses.push(`(NIL NIL ${writeString(this.words.join(' '))} NIL)`);
      this.words = [];
      this.#isInGroup = true;
      return;
    }
    const isEmpty = this.words.length === 0 && this.angle === undefined;
    if (!isEmpty && this.#addresses.length < MAX_ADDRESSES) {
      this.#addresses.push(writeAddress(this.words, this.angle, this.comment));
    }
    this.words = [];
    this.comment = undefined;
    this.angle = undefined;
    if (separator !== ';' || !this.#isInGroup) return;
    this.#addresses.push('(NIL NIL NIL NIL)');
    this.#isInGroup = false;
  }

  end(): string {
    this.separate(',');
    if (this.#isInGroup) this.separate(';');
    return this.#addresses.length === 0 ? 'NIL' : `(${this.#addresses.join('')})`;
  }
}

/** Writes an address: `angle` is what was in brackets, and `words` what was outside of them. */
function writeAddress(words: readonly string[], angle: string | undefined, comment: string | undefined): string {
  const isBare = angle === undefined;
  const address = isBare ? words.join('').trim() : angle;
  const [, route, rest = address] = /^(@[^:]*):(.*)$/s.exec(address) ?? [];
  const at = rest.lastIndexOf('@');
  const local = (at < 0 ? rest : rest.slice(0, at)).replace(/^"((?:[^"\\]|\\.)*)"$/s, (_, text) =>
    unescapeQuoted(text),
  );
  const host = at < 0 ? '' : rest.slice(at + 1);
  const name = (isBare ? '' : words.join(' ')) || (comment && unescapeQuoted(comment)) || undefined;
  return `(${writeNString(name)} ${writeNString(route)} ${writeString(local.trim())} ${writeString(host.trim())})`;
}

function unescapeQuoted(text: string): string {
  return text.replace(/\\(.)/gs, '$1');
}
