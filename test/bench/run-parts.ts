import type { Row } from './measure.ts';

/** A part of the bench: its name, and what measures it. */
export type Part = readonly [name: string, measure: () => Promise<readonly Row[]>];

/**
 * Measures parts one after the other, and shows each row. A part that fails gives a row that says why, and the next part
 * is measured. Returns how many figures missed their target, and the names of the parts that failed.
 */
export async function runParts(parts: readonly Part[], show: (row: Row) => void) {
  let missed = 0;
  const failed: string[] = [];
  for (const [name, measure] of parts) {
    try {
      for (const row of await measure()) {
        show(row);
        if (!row.met) missed += 1;
      }
    } catch (error) {
      failed.push(name);
      const [reason = ''] = String(error instanceof Error ? error.message : error).split('\n');
      show({ what: `${name}: failed`, figure: reason, target: '', met: false });
    }
  }
  return { missed, failed };
}
