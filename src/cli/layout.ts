import { stripVTControlCharacters, styleText } from 'node:util';
import { indent } from '../basics/wrap-text.ts';

/** A term for the first column, and its meaning for the second. */
export type Entry = readonly [term: string, meaning: string];

/**
 * Lists terms and meanings in two columns. If a term is too wide for its column, its meaning is on the next line. The
 * first column is as wide as the longest term in `aligned`, so that several lists can have the same columns.
 */
export function toList(entries: readonly Entry[], maxTermWidth = 30, aligned = entries): string[] {
  const widths = aligned.map(([term]) => term.length).filter((width) => width <= maxTermWidth);
  const start = Math.max(0, ...widths) + 4;
  return entries.flatMap(([term, meaning]) => {
    const [first = '', ...rest] = indent(meaning, start);
    const head = `  ${term}`;
    if (head.length + 2 > start) return [head, first, ...rest];
    return [head + first.slice(head.length), ...rest];
  });
}

/** If a line is wider than the terminal, shortens its ids, but not the id in the link to a delivery. */
export function shortenIdsToFit(line: string, columns = 0): string {
  // A terminal without a known width has the width 0.
  if (columns === 0 || stripVTControlCharacters(line).length <= columns) return line;
  return line.replace(ID, '$1…$2');
}

const ID = /(?<!#\/webhooks\/)\b([\da-f]{4})[\da-f]{4}(?:-[\da-f]{4}){3}-[\da-f]{8}([\da-f]{4})\b/g;

/** Returns a function that makes a text bold or dim, if `colour` allows it. */
export function createStyle(colour: boolean): (format: 'bold' | 'dim', text: string) => string {
  // Without the option, newer versions of Node ignore `colour` and check the stream themselves.
  return (format, text) => (colour ? styleText(format, text, { validateStream: false }) : text);
}

/** Aligns rows of cells in columns. Each column is as wide as its widest cell. `styleFirst` styles the first column. */
export function toColumns(rows: readonly (readonly string[])[], styleFirst: (cell: string) => string): string[] {
  const widthOf = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0));
  return rows.map((row) => {
    const cells = row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widthOf(column))));
    const [first = '', ...rest] = cells;
    return `  ${[styleFirst(first), ...rest].join('  ')}`;
  });
}
