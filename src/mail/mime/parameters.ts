import { bytesOf, decodeText } from './decode.ts';

/** The value of a header field such as Content-Type. */
interface ParameterisedValue {
  /** What comes before the parameters, in lower case. */
  readonly value: string;
  /** The parameters by lower-case name, each in one piece; of parameters with one name, the first. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** A piece of a parameter. */
interface Piece {
  readonly text: string;
  readonly at: number;
  readonly isEncoded: boolean;
}

/** A quoted text, or a comment where one may stand. */
const QUOTED_OR_COMMENT = /"(?:[^"\\]|\\.)*"?|(?<![^\s;])\((?:[^()\\]|\\.)*\)/gs;
const PARAMETER = /;\s*([^\s=;"]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"?|([^;"]*))/gs;

/** Reads a value with parameters (RFC 2045, section 5.1), which may be encoded and in pieces (RFC 2231). */
export function parseParameters(field = ''): ParameterisedValue {
  const text = field.replace(QUOTED_OR_COMMENT, (found) => (found.startsWith('"') ? found : ''));
  const plain = new Map<string, string>();
  const pieces = new Map<string, Piece[]>();
  for (const [, written = '', quoted, token = ''] of text.matchAll(PARAMETER)) {
    const value = quoted?.replace(/\\(.)/gs, '$1') ?? token.trim();
    const [, name = written, at = '0', mark] = /^([^*]+)(?=\*)(?:\*(\d+))?(\*)?$/.exec(written) ?? [];
    const key = name.toLowerCase();
    const list = pieces.get(key) ?? [];
    if (name === written) plain.set(key, plain.get(key) ?? value);
    else pieces.set(key, list);
    list.push({ text: value, at: Number(at), isEncoded: mark !== undefined });
  }
  const joined = Array.from(pieces, ([name, list]) => [name, joinPieces(list)] as const);
  return {
    value: /^[^\s;(]*/.exec(text.trimStart())?.[0].toLowerCase() ?? '',
    parameters: Object.fromEntries([...plain, ...joined]),
  };
}

function joinPieces(pieces: readonly Piece[]): string {
  const sorted = pieces.toSorted((a, b) => a.at - b.at);
  const isEncoded = sorted.some((piece) => piece.isEncoded);
  if (!isEncoded) return sorted.map(({ text }) => text).join('');
  const whole = sorted.map((piece) => (piece.isEncoded ? piece.text : encodeURIComponent(piece.text))).join('');
  const [, charset = '', encoded = whole] = (sorted[0]?.isEncoded && /^([^']*)'[^']*'(.*)$/s.exec(whole)) || [];
  const binary = encoded.replace(/%([\dA-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return decodeText(bytesOf(binary), charset || 'utf-8');
}
