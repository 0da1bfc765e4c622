import { MAIL_KINDS, type MailRow, sizeOfMailRow } from '../database.ts';
import type { World, WorldsSnapshot } from '../world.ts';

/** The states that checkpoints keep, by their owner: '' for the mailbox, or the id of a sandbox. */
export class SavedStates {
  readonly #states = new Map<string, readonly WorldsSnapshot[]>();
  /** The size of their mail in bytes. Mail that several states share is counted for each of them. */
  mailBytes = 0;

  /** Replaces the states of an owner. */
  set(owner: string, states: readonly WorldsSnapshot[]): void {
    this.mailBytes += sizeOfMail(states) - sizeOfMail(this.#states.get(owner) ?? []);
    if (states.length > 0) this.#states.set(owner, states);
    else this.#states.delete(owner);
  }

  all(): WorldsSnapshot[] {
    return [...this.#states.values()].flat();
  }
}

function sizeOfMail(states: readonly WorldsSnapshot[]): number {
  return states.reduce((sum, { mailBytes }) => sum + mailBytes, 0);
}

/** Returns the size of the mail that only saved states have, in bytes. Mail that several of them share counts once. */
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
