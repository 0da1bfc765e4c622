import { foldAddress } from '../../basics/domain-name.ts';
import type { Work } from '../../basics/work.ts';
import { formatAddress, toAddressText } from '../../contract/addresses/email-address.ts';
import { type ListedAddress, readAddressList } from '../../contract/addresses/email-address-list.ts';
import {
  Base64Decoder,
  bytesOf,
  decodeBody,
  decodeText,
  decodeWords,
  escapeWordBytes,
  toBinary,
} from '../mail/mime/decode.ts';
import { eachField, type MailPart, type MailText, textOfBytes } from '../mail/mime/split-parts.ts';
import type { MailReader, MailSource } from './mail-reader.ts';

/** Returns a text in a form in which letter case and the kind of white space do not matter. */
export function toSearchable(text: string): string {
  return text.toLowerCase().replace(/\s+/g, ' ');
}

/** How many characters of a mail are decoded at once. */
const PIECE_LENGTH = 16 * 1024;

/** Decodes a header field in which one character stands for each byte. Encoded words are decoded, too. */
function decodeField(field: string): string {
  const text = decodeText(bytesOf(escapeWordBytes(field)));
  return text.includes('=?') ? decodeWords(text.replace(/\r?\n(?=[ \t])/g, '')) : text;
}

/** Decodes a field of addresses. */
function decodeAddresses(field: string): string {
  const { entries } = readAddressList(decodeText(bytesOf(escapeWordBytes(field))));
  const write = (entry: ListedAddress) => {
    const address = toAddressText(entry);
    const written = formatAddress({ name: decodeWords(entry.name), address });
    // An international domain can be found by both of its forms.
    const folded = foldAddress(address);
    return folded === address.toLowerCase() ? written : `${written} ${folded}`;
  };
  return entries
    .map((entry) =>
      'members' in entry ? `${decodeWords(entry.name)}: ${entry.members.map(write).join(', ')};` : write(entry),
    )
    .join(', ');
}

/** A piece of a header field, which is decoded when it is needed. */
export interface EncodedPiece {
  decode(): string;
  /** Writes each address in the form in which people search for it. */
  decodeAddresses(): string;
}

/** How much of a header field is read. The header of a mail is not longer, but those of mails within it may be. */
const MAX_FIELD_LENGTH = 256 * 1024;

/** Calls a function for each field of a header, with its name in lower case and its value in pieces. */
export function readFields(
  text: MailText,
  from: number,
  to: number,
  take: (name: string, pieces: readonly EncodedPiece[]) => Work<void> | undefined,
): Work<void> {
  return eachField(text, from, to, (name, start, end) => {
    const written = text.slice(start, Math.min(end, start + MAX_FIELD_LENGTH));
    const value = written.slice(name === '' ? 0 : written.indexOf(':') + 1).trim();
    return take(name, splitField(value));
  });
}

/** Splits a long field at spaces, because no encoded word and no character of several bytes has one. */
function splitField(field: string): EncodedPiece[] {
  const pieces: EncodedPiece[] = [];
  for (let start = 0; start < field.length; ) {
    const limit = start + PIECE_LENGTH;
    const cuts = limit < field.length ? [field.lastIndexOf(', ', limit) + 1, field.lastIndexOf(' ', limit)] : [];
    const end = cuts.find((cut) => cut > start) ?? limit;
    const piece = field.slice(start, end);
    pieces.push({
      decode: () => toSearchable(decodeField(piece)),
      decodeAddresses: () => toSearchable(decodeAddresses(piece)),
    });
    start = end;
  }
  return pieces;
}

/** Takes the texts of a mail, each piece by piece, in a form in which letter case and white space do not matter. */
export interface TextsReader {
  /** `isInBody` is false in the header of the mail, and in the headers of its parts. */
  read(piece: string, isInBody: boolean): Work<void>;
  endText(): void;
  /** Whether no further text is needed. */
  isDone(): boolean;
}

/**
 * Reads the texts of a mail: its header, those of its parts, and each part of text, also in the mails within it. After a
 * pause, the mail is asked for again, because its memory is not kept for a search that waits for its turn.
 */
export function* readTexts(reader: MailReader, source: MailSource, texts: TextsReader): Work<void> {
  for (let index = 0; !texts.isDone(); index += 1) {
    const part = (yield* reader.partsOf(source))[index];
    if (!part) return;
    const { parent, headerStart, bodyStart } = part;
    const isInnerMail = parent?.message === part;
    const text = textOfBytes(yield* reader.bytesOf(source));
    yield* readFields(text, headerStart, bodyStart, (name, pieces) => readField(texts, name, pieces, isInnerMail));
    if (isTextual(part)) yield* readBody(reader, source, describeBody(part), texts);
  }
}

function* readField(texts: TextsReader, name: string, pieces: readonly EncodedPiece[], isInBody: boolean): Work<void> {
  if (name !== '') yield* texts.read(`${name}: `, isInBody);
  for (const piece of pieces) {
    yield* texts.read(piece.decode(), isInBody);
    if (pieces.length > 1) yield;
  }
  texts.endText();
}

/** Whether a part is read as a text: also a report or a piece of a mail. */
function isTextual({ type, message }: MailPart): boolean {
  return type === 'text' || (type === 'message' && !message);
}

/** Where the body of a part is, and how it is encoded. */
interface Body {
  readonly start: number;
  readonly end: number;
  readonly encoding: string;
  readonly charset: string | undefined;
}

function describeBody({ bodyStart, bodyEnd, fields, parameters }: MailPart): Body {
  const encoding = fields['content-transfer-encoding'] ?? '';
  return { start: bodyStart, end: bodyEnd, encoding, charset: parameters.charset };
}

function* readBody(reader: MailReader, source: MailSource, body: Body, texts: TextsReader): Work<void> {
  const charset = body.charset ?? ((yield* isUtf8(reader, source, body)) ? 'utf-8' : 'windows-1252');
  const decode = createTextDecoder(charset);
  let endsWithSpace = false;
  yield* decodePieces(reader, source, body, function* (bytes) {
    const piece = toSearchable(decode(bytes));
    if (piece !== '') {
      yield* texts.read(endsWithSpace && piece.startsWith(' ') ? piece.slice(1) : piece, true);
      endsWithSpace = piece.endsWith(' ');
    }
    return !texts.isDone();
  });
  texts.endText();
}

/** Returns a function that decodes the pieces of a text in order. */
function createTextDecoder(charset: string): (bytes: Uint8Array) => string {
  try {
    const decoder = new TextDecoder(charset);
    return (bytes) => decoder.decode(bytes, { stream: true });
  } catch {
    return (bytes) => decodeText(bytes, charset);
  }
}

function* isUtf8(reader: MailReader, source: MailSource, body: Body): Work<boolean> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const isValid = (bytes?: Uint8Array) => {
    try {
      decoder.decode(bytes, { stream: bytes !== undefined });
      return true;
    } catch {
      return false;
    }
  };
  let isUtf8 = true;
  // biome-ignore lint/correctness/useYield: it takes one piece at once.
  yield* decodePieces(reader, source, body, function* (bytes) {
    isUtf8 = isValid(bytes);
    return isUtf8;
  });
  return isUtf8 && isValid();
}

/** Decodes the transfer encoding of a body piece by piece, as long as `take` returns true. */
function* decodePieces(
  reader: MailReader,
  source: MailSource,
  { start, end, encoding }: Body,
  take: (bytes: Uint8Array) => Work<boolean>,
): Work<void> {
  const decode = createPieceDecoder(encoding);
  let isWanted = true;
  for (let at = start; at < end && isWanted; at += PIECE_LENGTH) {
    const bytes = yield* reader.bytesOf(source);
    const isLast = at + PIECE_LENGTH >= end;
    isWanted = yield* take(decode(bytes.subarray(at, Math.min(at + PIECE_LENGTH, end)), isLast));
    yield;
  }
}

function createPieceDecoder(encoding: string): (bytes: Uint8Array, isLast: boolean) => Uint8Array {
  if (/base64/i.test(encoding)) {
    const decoder = new Base64Decoder();
    return (bytes) => decoder.decode(toBinary(bytes));
  }
  if (!/quoted-printable/i.test(encoding)) return (bytes) => bytes;
  let rest = '';
  return (bytes, isLast) => {
    const text = rest + toBinary(bytes);
    // A line break, or an encoded byte such as `=C3`, may be cut.
    const cut = isLast ? -1 : text.slice(-3).search(/[=\r]/);
    const length = cut < 0 ? text.length : Math.max(text.length - 3, 0) + cut;
    rest = text.slice(length);
    return decodeBody(text.slice(0, length).replaceAll('\r\n', '\n'), encoding);
  };
}
