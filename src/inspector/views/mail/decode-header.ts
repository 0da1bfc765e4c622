/** Matches an encoded word (RFC 2047): its charset, its encoding and its content. */
const ENCODED_WORD = /=\?([\w.:-]{1,60})(?:\*[\w-]{1,40})?\?([bq])\?([^?\s]*)\?=/gi;

/** The space between two encoded words, which is not part of the text. */
const SPACE_BETWEEN = /(=\?[\w.:*-]{1,100}\?[bq]\?[^?\s]*\?=)\s+(?==\?[\w.:*-]{1,100}\?[bq]\?)/gi;

/** Decodes the encoded words in the value of a header field. A word that cannot be decoded stays as it is. */
export function decodeHeader(value: string): string {
  // A character may be split between two words, so words of one charset are decoded together.
  let waiting: { charset: string; bytes: number[]; written: string } | undefined;
  let decoded = '';
  const finish = () => {
    if (waiting) decoded += decodeBytes(waiting.charset, waiting.bytes) ?? waiting.written;
    waiting = undefined;
  };
  let end = 0;
  const joined = value.replace(SPACE_BETWEEN, '$1');
  for (const { 0: written, 1: charset = '', 2: encoding = '', 3: content = '', index } of joined.matchAll(
    ENCODED_WORD,
  )) {
    const bytes = encoding.toLowerCase() === 'b' ? readBase64(content) : readQuotedPrintable(content);
    if (index > end || waiting?.charset !== charset.toLowerCase()) {
      finish();
      decoded += joined.slice(end, index);
    }
    if (bytes) {
      waiting ??= { charset: charset.toLowerCase(), bytes: [], written: '' };
      for (const byte of bytes) waiting.bytes.push(byte);
      waiting.written += written;
    } else {
      finish();
      decoded += written;
    }
    end = index + written.length;
  }
  finish();
  return decoded + joined.slice(end);
}

function readBase64(content: string): number[] | undefined {
  try {
    return Array.from(atob(content), (letter) => letter.charCodeAt(0));
  } catch {
    // The sender wrote something else than base64.
    return undefined;
  }
}

function readQuotedPrintable(content: string): number[] {
  const text = content
    .replaceAll('_', ' ')
    .replace(/=([\da-f]{2})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
  return Array.from(text, (letter) => letter.charCodeAt(0));
}

function decodeBytes(charset: string, bytes: readonly number[]): string | undefined {
  try {
    return new TextDecoder(charset).decode(Uint8Array.from(bytes));
  } catch {
    // The browser does not know this charset.
    return undefined;
  }
}
