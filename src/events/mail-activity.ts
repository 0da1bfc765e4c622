import { canonicalAddress } from '../store/inbox-address.ts';
import type { Worlds } from '../store/worlds.ts';
import type { Activity } from './activity.ts';
import type { EventBus } from './event-bus.ts';

/** Publishes an activity for each mail that arrives. An event that a test triggers has overrides and is skipped. */
export function publishMail(worlds: Worlds, events: EventBus, activity: Activity): void {
  events.subscribe(({ kind, tenantId, inboxId, message, overrides }) => {
    const inbox = worlds.get(tenantId)?.inboxes.get(inboxId);
    if (kind !== 'message.received' || overrides !== undefined || !inbox) return;
    const { id: messageId, from, subject } = message;
    activity.publish({ kind: 'mail', tenantId, inboxId, messageId, inbox: canonicalAddress(inbox), from, subject });
  });
}
