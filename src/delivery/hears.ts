import type { MailEvent } from '../events/event-bus.ts';
import type { WebhookRow } from '../store/rows.ts';

/** Says whether a webhook is to hear of an event: it is active, lists the kind, and has the inbox in its scope. */
export function hears({ id, workspaceId, events, isActive }: WebhookRow, event: MailEvent): boolean {
  if (event.webhookId !== undefined) return id === event.webhookId;
  return isActive && events.includes(event.kind) && (workspaceId === null || workspaceId === event.workspaceId);
}
