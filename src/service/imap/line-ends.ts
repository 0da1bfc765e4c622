import type { Work } from '../../basics/work.ts';

const [LF, CR] = [0x0a, 0x0d];

/** How many bytes are looked at between two pauses. */
const PAUSE_BYTES = 64 * 1024;

/**
 * Returns how many bytes a mail has if each of its lines ends with CRLF, as IMAP requires. A line may end with LF alone
 * and, in a mail without any LF, with CR alone.
 */
export function* countWithCrlf(mail: Uint8Array): Work<number> {
  const hasLf = mail.includes(LF);
  let added = 0;
  for (let start = 0; start < mail.length; start += PAUSE_BYTES) {
    const end = Math.min(start + PAUSE_BYTES, mail.length);
    for (let index = start; index < end; index += 1) {
      if (mail[index] === (hasLf ? LF : CR) && (!hasLf || mail[index - 1] !== CR)) added += 1;
    }
    yield;
  }
  return mail.length + added;
}

/** Returns a mail with `head` before it, and with CRLF at the end of each of its lines. `length` is their length. */
export function* writeWithCrlf(head: Uint8Array, mail: Uint8Array, length: number): Work<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(length);
  bytes.set(head);
  if (head.length + mail.length === length) {
    bytes.set(mail, head.length);
    return bytes;
  }
  const hasLf = mail.includes(LF);
  let at = head.length;
  for (let start = 0; start < mail.length; start += PAUSE_BYTES) {
    const end = Math.min(start + PAUSE_BYTES, mail.length);
    for (let index = start; index < end; index += 1) {
      const byte = mail[index] ?? 0;
      if (hasLf && byte === LF && mail[index - 1] !== CR) {
        bytes[at] = CR;
        at += 1;
      }
      bytes[at] = byte;
      at += 1;
      if (!hasLf && byte === CR) {
        bytes[at] = LF;
        at += 1;
      }
    }
    yield;
  }
  return bytes;
}
