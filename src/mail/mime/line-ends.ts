const [LF, CR] = [0x0a, 0x0d];

/** Makes CR a line end of a mail that has no LF. */
export function repairLineEnds(mail: Uint8Array): Uint8Array {
  return mail.includes(LF) ? mail : mail.map((byte) => (byte === CR ? LF : byte));
}
