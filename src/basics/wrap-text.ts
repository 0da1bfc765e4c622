/** The default width of a terminal, in characters. */
export const WIDTH = 80;

/** Breaks a text into lines of at most `width` characters. A longer word gets its own line. */
export function wrap(text: string, width: number): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    if (line === '') lines.splice(-1, 1, word);
    else if (`${line} ${word}`.length <= width) lines.splice(-1, 1, `${line} ${word}`);
    else lines.push(word);
  }
  return lines;
}

/** Breaks a text into lines that begin with `spaces` spaces and fit the terminal. */
export function indent(text: string, spaces: number): string[] {
  return wrap(text, WIDTH - spaces).map((line) => ' '.repeat(spaces) + line);
}
