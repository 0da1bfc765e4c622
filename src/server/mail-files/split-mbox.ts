/**
 * Splits the content of a file into mails: an mbox, which begins with a line that starts with `From `, or one mail. A
 * line of a mail that an mbox had to quote as `>From ` gets its first character removed (RFC 4155, mboxrd).
 */
export function splitMbox(content: Buffer): Buffer[] {
  // In Latin-1 each byte is one character, so that no byte changes.
  const text = content.toString('latin1');
  if (!text.startsWith('From ')) return [content];
  const starts = Array.from(text.matchAll(/(?:^|(?<=\n\r?\n))From [^\n]*\n/g), ({ index, 0: line }) => ({
    index,
    line,
  }));
  return starts.map(({ index, line }, position) => {
    const mail = text.slice(index + line.length, starts[position + 1]?.index);
    return Buffer.from(mail.replace(/(?<=\n)\r?\n$/, '').replace(/^>(?=>*From )/gm, ''), 'latin1');
  });
}
