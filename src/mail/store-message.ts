import type { EventKind } from '../contract/events.ts';
import { newId, timestampNow } from '../environment.ts';
import type { BounceDetails } from '../events/event-bus.ts';
import type { AttachmentRow, MessageRow } from '../store/rows.ts';
import type { World } from '../store/world.ts';
import type { MailContext } from './mail-context.ts';

/** A file that is attached to a mail. */
export type AttachedFile = Pick<AttachmentRow, 'filename' | 'contentType' | 'sizeBytes' | 'content'>;

/** A message without the fields that `storeMessage` sets. */
type NewMessage = Omit<MessageRow, 'isStarred' | 'isArchived' | 'deletedAt' | 'bouncedAt' | 'receivedAt'>;

/** Stores a message that arrives or is sent now, with its attachments. */
export function storeMessage(world: World, fields: NewMessage, files: readonly AttachedFile[]): MessageRow {
  const { environment } = world;
  const message = world.messages.insert({
    ...fields,
    isStarred: false,
    isArchived: false,
    deletedAt: null,
    bouncedAt: null,
    receivedAt: timestampNow(environment),
  });
  for (const { filename, contentType, sizeBytes, content } of files) {
    const id = newId(environment);
    world.attachments.insert({ id, messageId: message.id, filename, contentType, sizeBytes, content });
  }
  return message;
}

/** Publishes an event of a message; `bounce` is what a report says about a message that bounced. */
export function publish(
  { events }: MailContext,
  world: World,
  kind: EventKind,
  message: MessageRow,
  bounce?: BounceDetails,
): void {
  events.publish({
    id: `evt_${newId(world.environment)}`,
    kind,
    tenantId: world.id,
    workspaceId: world.inboxes.get(message.inboxId)?.workspaceId ?? '',
    inboxId: message.inboxId,
    message,
    ...(bounce && { bounce }),
  });
}

/** Marks a message as bounced, unless it already is, and publishes that. Returns the message. */
export function bounce(context: MailContext, world: World, { id }: MessageRow, details?: BounceDetails): MessageRow {
  const known = world.messages.get(id)?.bouncedAt ?? null;
  const bounced = world.messages.update(id, { bouncedAt: known ?? timestampNow(world.environment) });
  publish(context, world, 'message.bounced', bounced, details);
  return bounced;
}
