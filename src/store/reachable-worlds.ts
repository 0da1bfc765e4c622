import type { Clock } from '../clock/clock.ts';
import type { Environment } from '../environment.ts';
import type { InboxLocation, KeyHolder, World, WorldsSnapshot } from './world.ts';

/** The tenants that a request or a control call can reach: those of the whole mailbox, or only that of a sandbox. */
export interface ReachableWorlds {
  /** The domain of the sandbox that they are; `undefined` for those of the whole mailbox. */
  readonly sandboxDomain: string | undefined;
  /** The clock that stands for all of them. */
  readonly clock: Clock;
  /** The environment with the time of this clock. */
  readonly environment: Environment;
  /** The limit for the stored mail of the whole mailbox, in bytes. */
  readonly maxMailBytes: number;
  /** How to store more than that, for an error message. */
  readonly moreMail: string;
  get(tenantId: string): World | undefined;
  /** Returns every world, in the order of creation. */
  all(): World[];
  /** Returns the worlds that share their addresses and domains, without sandboxes that are closed to them. */
  neighbours(): World[];
  /** Returns the owner of a key. */
  findKey(key: string): KeyHolder | undefined;
  /** Returns every valid key. */
  keys(): string[];
  /** Finds the inbox of an address in lower case. */
  findAddress(address: string): InboxLocation | undefined;
  /** Finds the inboxes that have tagged forms of an address in lower case. */
  findTagged(address: string): InboxLocation[];
  /** The states that checkpoints keep: those of the mailbox have the key '', those of a sandbox its id. */
  readonly saved: Map<string, () => readonly WorldsSnapshot[]>;
  /**
   * The size of the stored mail of the whole mailbox with its checkpoints, in bytes. It may be too large if `wanted` bytes
   * more fit all the same, because an exact count takes longer.
   */
  countMailBytes(wanted?: number): number;
  /** Returns all data at this moment. */
  snapshot(): WorldsSnapshot;
}
