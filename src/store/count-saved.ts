import { MAIL_KINDS, type MailRow, sizeOfMailRow } from './row-size.ts';
import type { World, WorldsSnapshot } from './world.ts';

/** Returns the size of the mail that only saved states have, in bytes. What they share is counted once. */
export function countOnlySaved(saved: readonly WorldsSnapshot[], findWorld: (id: string) => World | undefined): number {
  const counted = new Set<unknown>();
  const sizeOf = (row: MailRow, present: MailRow | undefined) => {
    if (row === present || counted.has(row)) return 0;
    const bytes = bytesOf(row);
    const isShared = bytes && (counted.has(bytes) || bytes === bytesOf(present));
    counted.add(row).add(bytes);
    return sizeOfMailRow(row) - (isShared ? bytes.byteLength : 0);
  };
  let size = 0;
  for (const state of saved.flatMap(({ tenants }) => tenants)) {
    const world = findWorld(state.tenants[0]?.id ?? '');
    for (const kind of MAIL_KINDS) for (const row of state[kind]) size += sizeOf(row, world?.[kind].get(row.id));
  }
  return size;
}

function bytesOf(row: MailRow = {}): Uint8Array | undefined {
  return ('raw' in row && row.raw) || ('content' in row && row.content) || undefined;
}
