import { formatAddress, toBareAddress } from '../contract/email-address.ts';
import { domainOf } from '../contract/emulator-domains.ts';
import { newId } from '../environment.ts';
import { primaryAddress } from '../store/inbox-address.ts';
import type { InboxRow, MessageRow } from '../store/rows.ts';
import type { World } from '../store/world.ts';
import { checkRoom, sizeOfMail } from './check-room.ts';
import { checkSending, type RecipientCheck } from './check-sending.ts';
import { deliverReports } from './deliver-report.ts';
import { isHeld } from './is-held.ts';
import type { MailContext } from './mail-context.ts';
import { receiveMail } from './receive-mail.ts';
import { referencesTo } from './references-to.ts';
import { findRoute, uniqueInboxes } from './route.ts';
import { type AttachedFile, bounce, publish, storeMessage } from './store-message.ts';

/** The part of an outgoing mail that is stored, and that counts towards the storage limit. */
interface StoredMail extends Pick<MessageRow, 'to' | 'cc' | 'bcc' | 'replyTo' | 'subject' | 'plainBody' | 'htmlBody'> {
  readonly attachments: readonly AttachedFile[];
}

/** A mail for `sendMail`. */
export interface OutgoingMail extends StoredMail {
  /** The message that it replies to; null if it starts a thread. */
  readonly originalMessage: MessageRow | null;
  readonly recipientCheck: RecipientCheck;
}

/**
 * Sends a mail: stores it as an outbound message, delivers it to inboxes of all tenants of this emulator, and detects
 * bounces. Publishes `message.sent`, then `message.received` for each inbox, then `message.bounced`.
 *
 * @throws {ApiError} as `checkSending` does, or STORAGE_FULL; then nothing is stored.
 */
export function sendMail(context: MailContext, world: World, inbox: InboxRow, mail: OutgoingMail): MessageRow {
  const recipients = recipientsOf(mail);
  const { originalMessage, recipientCheck, ...stored } = mail;
  checkSending(context, world, inbox, recipients, recipientCheck);
  const routes = recipients.map((recipient) => findRoute(context, recipient, world.id));
  const inboxes = uniqueInboxes(routes.flatMap((route) => (route.kind === 'inbox' ? [route.inbox] : [])));
  const bounced = recipients.filter((_, index) => routes[index]?.kind === 'bounced');
  checkRoom(context, (1 + inboxes.length) * sizeOfMail(stored));
  const message = store(context, world, inbox, stored, originalMessage);
  publish(context, world, 'message.sent', message);
  const from = message.fromAddress;
  if (bounced.length < routes.length) context.assume('sending.local');
  for (const inbox of inboxes) {
    if (isHeld(context, world, { ...message, from }, { kind: 'inbox', inbox })) continue;
    receiveMail(context, inbox, { ...message, attachments: mail.attachments });
  }
  for (const route of routes) {
    if (route.kind !== 'correspondent' || isHeld(context, world, { ...message, from }, route)) continue;
    context.correspondents.receive(world, message, route.address);
  }
  if (bounced.length === 0) return message;
  const bounceAll = BOUNCES[context.readBehaviour('sending.bounce.report')];
  bounceAll(context, world, message, bounced);
  return world.messages.get(message.id) ?? message;
}

const BOUNCES = {
  none: (context: MailContext, world: World, message: MessageRow) => void bounce(context, world, message),
  inbox: deliverReports,
};

/** Returns the bare addresses of all recipients, each once. */
function recipientsOf({ to, cc, bcc }: Pick<OutgoingMail, 'to' | 'cc' | 'bcc'>): string[] {
  return [...new Set([...to, ...cc, ...bcc].map(toBareAddress))];
}

function store(
  context: MailContext,
  world: World,
  inbox: InboxRow,
  { attachments, ...content }: StoredMail,
  originalMessage: MessageRow | null,
): MessageRow {
  const { environment } = world;
  context.assume('threads.outbound');
  const id = newId(environment);
  const address = primaryAddress(world, inbox);
  const row = {
    ...content,
    id,
    inboxId: inbox.id,
    threadId: originalMessage?.threadId ?? newId(environment),
    direction: 'outbound' as const,
    from: formatAddress({ name: inbox.displayName ?? '', address }),
    fromAddress: address,
    isRead: true,
    messageIdHeader: `<${id}@${domainOf(address)}>`,
    inReplyTo: originalMessage?.messageIdHeader ?? null,
    references: originalMessage ? referencesTo(originalMessage) : [],
    headers: null,
    raw: null,
  };
  return storeMessage(world, row, attachments);
}
