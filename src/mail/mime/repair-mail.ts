import { repairLineEnds } from './line-ends.ts';
import { readPart, splitMultipart } from './split-parts.ts';

/**
 * Repairs what the parser would show as an empty mail: lines that end with CR only, and a `multipart` whose boundary is
 * missing or does not occur, which becomes a text.
 */
export function repairMail(mail: Uint8Array): Uint8Array {
  const lines = repairLineEnds(mail);
  const part = readPart(new TextDecoder('windows-1252').decode(lines));
  const type = /^content-type:[ \t]*(?:\r?\n[ \t]+)?multipart\/[^\r\n]*(?:\r?\n[ \t][^\r\n]*)*/im.exec(part.head);
  if (!type || splitMultipart(part).length > 0) return lines;
  const plain = new TextEncoder().encode('Content-Type: text/plain');
  return join([lines.subarray(0, type.index), plain, lines.subarray(type.index + type[0].length)]);
}

function join(pieces: readonly Uint8Array[]): Uint8Array {
  const result = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    result.set(piece, at);
    at += piece.length;
  }
  return result;
}
