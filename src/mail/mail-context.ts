import type { Ledger } from '../contract/ledger-reader.ts';
import type { EventBus } from '../events/event-bus.ts';
import type { Worlds } from '../store/worlds.ts';

/** The dependencies of sending and receiving mail. */
export interface MailContext extends Ledger {
  readonly worlds: Worlds;
  readonly events: EventBus;
}
