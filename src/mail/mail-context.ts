import type { BehaviourReader } from '../contract/behaviour-reader.ts';
import type { EventBus } from '../events/event-bus.ts';
import type { ReachableWorlds } from '../store/reachable-worlds.ts';

/** The dependencies of sending and receiving mail. */
export interface MailContext extends BehaviourReader {
  readonly worlds: ReachableWorlds;
  readonly events: EventBus;
}
