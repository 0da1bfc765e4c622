import type { EventKind } from '../contract/events.ts';
import { newId } from '../environment.ts';
import type { MessageRow } from '../store/rows.ts';
import type { World } from '../store/world.ts';
import type { MailContext } from './mail-context.ts';

/** Publishes what happened to a message. */
export function publish({ events }: MailContext, world: World, kind: EventKind, message: MessageRow): void {
  events.publish({
    id: `evt_${newId(world.environment)}`,
    kind,
    tenantId: world.id,
    workspaceId: world.inboxes.get(message.inboxId)?.workspaceId ?? '',
    inboxId: message.inboxId,
    message,
  });
}
