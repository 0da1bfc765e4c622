import { bytesOf } from '../mail/mime/split-parts.ts';
import { RefusedCommand } from './argument.ts';
import { FOLDER_NAMES, type FolderName } from './folder.ts';

/** Decodes a name in modified UTF-7 (RFC 3501, section 5.1.3). What is not valid stays as it is. */
export function decodeName(name: string): string {
  return name.replace(/&([A-Za-z\d+,]*)-/g, (written, base64: string) => {
    if (base64 === '') return '&';
    if (base64.length % 4 === 1) return written;
    const bytes = bytesOf(atob(base64.replaceAll(',', '/')));
    return bytes.length % 2 === 1 ? written : new TextDecoder('utf-16be').decode(bytes);
  });
}

/** Returns the folder with a name. INBOX may be written in any letter case. @throws {RefusedCommand} */
export function findFolderName(name: string): FolderName {
  const known = FOLDER_NAMES.find((each) => each === name || (each === 'INBOX' && name.toUpperCase() === each));
  if (known) return known;
  throw new RefusedCommand(
    `There is no folder ${decodeName(name).slice(0, 100)}; there are ${FOLDER_NAMES.join(', ')}.`,
    'NONEXISTENT',
  );
}

/** Returns the folders that a pattern of LIST matches. No folder is within another, so `%` and `*` are the same. */
export function matchFolders(pattern: string): FolderName[] {
  const pieces = pattern.slice(0, 1_000).split(/[%*]+/);
  return FOLDER_NAMES.filter((name) => {
    const isInbox = name === 'INBOX';
    return matchesPieces(name, isInbox ? pieces.map((piece) => piece.toUpperCase()) : pieces);
  });
}

/** Returns whether a name begins with the first piece, ends with the last, and has the others in between, in order. */
function matchesPieces(name: string, pieces: readonly string[]): boolean {
  const [first = '', ...rest] = pieces;
  const last = rest.pop();
  if (last === undefined) return name === first;
  let at = first.length;
  for (const piece of rest) {
    const found = name.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return name.startsWith(first) && name.endsWith(last) && name.length - last.length >= at;
}
