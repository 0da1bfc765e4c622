import type { Environment } from '../environment.ts';
import { MAIL_KINDS, type MailRow, sizeOfMailRow } from './database.ts';
import type { InboxLocation, KeyHolder, Owner, SavedOwner, World, WorldsSnapshot } from './world.ts';

/** The clocks and parts of tenants, by the id of the tenant. */
export type SavedOwners = Readonly<Record<string, SavedOwner>>;

/** The limits, counts and servers of a whole mailbox, including its sandboxes. */
interface WholeMailbox {
  /** The limit for the stored mail, in bytes. */
  readonly maxMailBytes: number;
  /** How the limit can be raised, for an error message. */
  readonly moreMail: string;
  readonly saved: SavedStates;
  /** The servers for mail that listen. */
  readonly mailServers: MailServersThatListen;
  /**
   * Returns the size of the stored mail with its checkpoints, in bytes. The result may be too high if `wanted` more
   * bytes fit in spite of that, because an exact count takes longer.
   */
  countMailBytes(wanted?: number): number;
}

/** The tenants that a request or a control call can reach: those of the whole mailbox, or only that of a sandbox. */
export interface ReachableWorlds extends Owner {
  /** The id of the sandbox; `undefined` for the whole mailbox. */
  readonly sandboxId: string | undefined;
  /** The domain of the sandbox; `undefined` for the whole mailbox. */
  readonly sandboxDomain: string | undefined;
  /** The environment of the mailbox, with the time of `clock`. */
  readonly environment: Environment;
  /** The whole mailbox. */
  readonly whole: WholeMailbox;
  get(id: string): World | undefined;
  /** Returns every world, in the order of creation. */
  all(): World[];
  /** Returns every world, and the mailbox for what belongs to no tenant. */
  owners(): Owner[];
  /** Returns the worlds with one index of addresses: all that are not sandboxes or, in a sandbox, only its world. */
  ownWorlds(): World[];
  /** Returns the owner of a key. */
  findKey(key: string): KeyHolder | undefined;
  /** Returns every valid key. */
  keys(): string[];
  /** Finds the inbox of an address in lower case. */
  findAddress(address: string): InboxLocation | undefined;
  /** Finds the inboxes that have tagged forms of an address in lower case. */
  findTagged(address: string): InboxLocation[];
  /** Returns all data at this moment. */
  snapshot(): WorldsSnapshot;
  /** Replaces all data, and ends every part that does not stay. Sandboxes of the mailbox are closed. */
  restore(snapshot: WorldsSnapshot, saved?: SavedOwners): void;
}

/** Returns the clocks and what the parts save or keep now, by the id of the tenant. The id of the mailbox is ''. */
export function saveOwners(worlds: ReachableWorlds, method: 'save' | 'keep' = 'save'): SavedOwners {
  const tenants = worlds.ownWorlds().map(({ id, parts }) => [id, parts.save(method)]);
  return Object.fromEntries([[worlds.sandboxId ?? '', worlds.parts.save(method)], ...tenants]);
}

/** A server for SMTP or IMAP that listens. */
interface ListeningServer {
  /** The address at which it listens. */
  readonly host: string;
  /** The port on which it listens. */
  readonly port: number;
  /** Whether it has a certificate. */
  readonly hasTls: boolean;
}

/** The servers for mail that listen. */
export interface MailServersThatListen {
  /** The server for SMTP; left out if it is off. */
  smtp?: ListeningServer;
  /** The server for IMAP; left out if it is off. */
  imap?: ListeningServer;
}

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
    const world = findWorld(state.tenants[0].id);
    for (const kind of MAIL_KINDS) for (const row of state[kind]) size += sizeOf(row, world?.[kind].get(row.id));
  }
  return size;
}

function bytesOf(row: MailRow = {}): Uint8Array | undefined {
  return ('raw' in row && row.raw) || ('content' in row && row.content) || undefined;
}
