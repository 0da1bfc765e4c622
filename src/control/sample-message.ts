import type { EventKind } from '../contract/events.ts';
import { newId, timestampNow } from '../environment.ts';
import type { MessageRow } from '../store/rows.ts';
import type { World } from '../store/world.ts';

const CUSTOMER = { display: 'Dana Reyes <dana@customer.test>', address: 'dana@customer.test' };

/** Creates a message for an event that a test triggers; it is not stored. */
export function createSampleMessage(world: World, inboxId: string, kind: EventKind, id: string): MessageRow {
  const { environment } = world;
  const address = addressOf(world, inboxId);
  const isInbound = kind === 'message.received';
  const now = timestampNow(environment);
  return {
    id,
    inboxId,
    threadId: newId(environment),
    direction: isInbound ? 'inbound' : 'outbound',
    from: isInbound ? CUSTOMER.display : address,
    fromAddress: isInbound ? CUSTOMER.address : address,
    to: [isInbound ? address : CUSTOMER.address],
    cc: [],
    bcc: [],
    replyTo: null,
    subject: 'Hello',
    plainBody: 'Hello!',
    htmlBody: null,
    isRead: false,
    isStarred: false,
    isArchived: false,
    deletedAt: null,
    bouncedAt: kind === 'message.bounced' ? now : null,
    messageIdHeader: `<${id}@customer.test>`,
    inReplyTo: null,
    references: [],
    headers: null,
    raw: null,
    receivedAt: now,
  };
}

function addressOf({ inboxes }: World, inboxId: string): string {
  const inbox = inboxes.get(inboxId);
  return inbox ? `${inbox.username}@${inbox.domain}` : CUSTOMER.address;
}
