import type { Environment } from '../environment.ts';
import type { KnownSecrets } from '../secrets/known-secrets.ts';
import type { Mask } from '../secrets/mask.ts';
import { MAIL_KINDS, type MailRow, sizeOfMailRow } from './database.ts';
import type { Owner, SavedOwner, SavePurpose } from './parts.ts';
import type { InboxLocation, KeyLocation, MailboxSnapshot, World } from './world.ts';

/** The saved clocks and parts of tenants, by the id of the tenant. */
export type SavedOwners = Readonly<Record<string, SavedOwner>>;

/** What a mailbox and its sandboxes share: limits, counts, secrets, servers and epochs. */
interface SharedByMailbox {
  /** The limit for the stored mail, in bytes. */
  readonly maxMailBytes: number;
  /** How the user can raise the limit, for an error message. */
  readonly limitAdvice: string;
  readonly saved: SavedStates;
  /** The secrets that the mailbox knows. */
  readonly secrets: Pick<KnownSecrets, 'add'>;
  /** Masks these secrets, and what has the form of a secret, in everything that shows what others have sent. */
  readonly mask: Mask;
  /** The mail servers that listen. */
  readonly mailServers: MailServersThatListen;
  /**
   * Returns the size of the stored mail and of the mail in checkpoints, in bytes. The result can be too high if
   * `needed` more bytes fit anyway, because an exact count takes longer.
   */
  countMailBytes(options?: { readonly needed?: number }): number;
  /**
   * The number of the present epoch. An epoch begins with each reset or restore of the mailbox or of a sandbox. Work
   * that waits remembers its epoch, and asks `isOver` before it goes on.
   */
  readonly epoch: number;
  /**
   * Returns whether the mailbox or this world was reset or restored, or the sandbox of this world was closed, after
   * this epoch. Work that began in this epoch must then not change the state or the journal.
   */
  isOver(epoch: number, world?: World): boolean;
}

/** What names a sandbox, beside its id. */
export interface SandboxName {
  /** The name that a test gave to it; null if it has none. */
  readonly name: string | null;
  readonly domain: string;
}

/** The worlds that a request or a control call can reach: all worlds of the mailbox, or only the world of a sandbox. */
export interface ReachableWorlds extends Owner {
  /** The id of the sandbox; `undefined` for the whole mailbox. */
  readonly sandboxId: string | undefined;
  /** The domain of the sandbox; `undefined` for the whole mailbox. */
  readonly sandboxDomain: string | undefined;
  /** The environment of the mailbox, with the time of `clock`. */
  readonly environment: Environment;
  /** What the mailbox and its sandboxes share. */
  readonly mailbox: SharedByMailbox;
  get(id: string): World | undefined;
  /** Returns every world that can be reached, in the order of creation; the worlds of sandboxes come last. */
  all(): World[];
  /**
   * Returns the owners of everything that happens here: every world, and before them the mailbox, which owns what belongs
   * to no tenant. In a sandbox, everything belongs to its tenant.
   */
  owners(): Owner[];
  /**
   * Returns these worlds without those of the sandboxes that were created from them: the worlds between which mail
   * travels, and which are one state. No sandbox can be created from a sandbox, so a sandbox returns its world.
   */
  withoutSandboxes(): World[];
  /** Returns whether these worlds were reset or restored, or their sandbox was closed, after this epoch. */
  isOver(epoch: number): boolean;
  /** Returns what names the sandbox of a world; `undefined` if the world is not that of a sandbox. */
  sandboxOf(world: World): SandboxName | undefined;
  /** Returns where a key belongs. */
  findKey(key: string): KeyLocation | undefined;
  /** Returns every valid key. */
  keys(): string[];
  /** Finds the inbox of an address in lower case. */
  findAddress(address: string): InboxLocation | undefined;
  /** Finds the inboxes that have tagged forms of an address in lower case. */
  findTagged(address: string): InboxLocation[];
  /** Returns all data at this moment. */
  snapshot(): MailboxSnapshot;
  /** Replaces all data, and ends every part that has no `staysOnReset`. The mailbox also closes its sandboxes. */
  restore(snapshot: MailboxSnapshot, saved?: SavedOwners): void;
}

/** Returns the clock and the parts of each owner at this moment, by the id of the tenant; '' is the mailbox. */
export function saveOwners(worlds: ReachableWorlds, purpose: SavePurpose): SavedOwners {
  const tenants = worlds.withoutSandboxes().map(({ id, parts }) => [id, parts.save(purpose)]);
  return Object.fromEntries([[worlds.sandboxId ?? '', worlds.parts.save(purpose)], ...tenants]);
}

/** A server for SMTP or IMAP that listens. */
interface ListeningServer {
  /** The address at which the server listens. */
  readonly host: string;
  /** The port on which the server listens. */
  readonly port: number;
  /** Whether the server has a certificate. */
  readonly hasTls: boolean;
}

/** The mail servers that listen. */
export interface MailServersThatListen {
  /** The server for SMTP; left out if it is off. */
  smtp?: ListeningServer;
  /** The server for IMAP; left out if it is off. */
  imap?: ListeningServer;
}

/** The states in checkpoints. Their owner is '' for the mailbox, or the id of a sandbox. */
export class SavedStates {
  readonly #states = new Map<string, readonly MailboxSnapshot[]>();
  /** The size of the mail in all states, in bytes. Mail that several states share is counted for each state. */
  mailBytes = 0;

  /** Replaces the states of an owner. */
  set(owner: string, states: readonly MailboxSnapshot[]): void {
    this.mailBytes += sizeOfMail(states) - sizeOfMail(this.#states.get(owner) ?? []);
    if (states.length > 0) this.#states.set(owner, states);
    else this.#states.delete(owner);
  }

  all(): MailboxSnapshot[] {
    return [...this.#states.values()].flat();
  }
}

function sizeOfMail(states: readonly MailboxSnapshot[]): number {
  return states.reduce((sum, { mailBytes }) => sum + mailBytes, 0);
}

/** Returns the size of the mail that is only in saved states, in bytes. Mail that states share is counted once. */
export function countOnlySaved(saved: readonly MailboxSnapshot[], worldOf: (id: string) => World | undefined): number {
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
    const world = worldOf(state.tenants[0].id);
    for (const kind of MAIL_KINDS) for (const row of state[kind]) size += sizeOf(row, world?.[kind].get(row.id));
  }
  return size;
}

function bytesOf(row: MailRow = {}): Uint8Array | undefined {
  return ('raw' in row && row.raw) || ('content' in row && row.content) || undefined;
}
