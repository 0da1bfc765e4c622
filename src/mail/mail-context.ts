import type { BehaviourReader } from '../contract/behaviour-reader.ts';
import type { EventBus } from '../events/event-bus.ts';
import type { ReachableWorlds } from '../store/reachable-worlds.ts';
import type { MessageRow } from '../store/rows.ts';
import type { World } from '../store/world.ts';
import type { LoopGuard } from './loop-guard.ts';

/** The addresses outside of the inboxes at which somebody answers. */
export interface OutsideAddresses {
  /** Returns whether somebody reads the mail of a tenant, or of any tenant, to this bare address. */
  has(address: string, tenantId?: string): boolean;
  /** Takes a mail that an inbox has sent to this bare address. */
  receive(world: World, message: MessageRow, address: string): void;
}

/** The dependencies of sending and receiving mail. */
export interface MailContext extends BehaviourReader {
  readonly worlds: ReachableWorlds;
  readonly events: EventBus;
  readonly loops: LoopGuard;
  readonly correspondents: OutsideAddresses;
}
