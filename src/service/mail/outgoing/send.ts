import { domainOf, formatAddress, toBareAddress } from '../../../contract/email-address.ts';
import { newId } from '../../../world/environment.ts';
import type { InboxRow, MessageRow } from '../../../world/store/rows.ts';
import { type InboxLocation, primaryAddress, type World } from '../../../world/store/world.ts';
import { receiveMail } from '../incoming/accept-message.ts';
import { deliverReports } from '../incoming/deliver-report.ts';
import { isHeld } from '../is-held.ts';
import {
  type AttachedFile,
  bounce,
  checkRoom,
  type MailContext,
  publish,
  sizeOfMail,
  storeMessage,
} from '../store-message.ts';
import { checkSending, type RecipientCheck } from './check-sending.ts';
import { findRoute, type Route, uniqueInboxes } from './route.ts';

/** The part of an outgoing mail that is stored, and that counts towards the storage limit. */
interface StoredMail extends Pick<MessageRow, 'to' | 'cc' | 'bcc' | 'replyTo' | 'subject' | 'plainBody' | 'htmlBody'> {
  readonly attachments: readonly AttachedFile[];
}

/** A mail for `sendMail`. */
export interface OutgoingMail extends StoredMail {
  /** The message that it replies to; null if it starts a thread. */
  readonly originalMessage: MessageRow | null;
  readonly recipientCheck: RecipientCheck;
  /** Only for a mail that a program submitted: what it has of its own, and the recipients of its envelope. */
  readonly submission?: Submission;
}

/** What a submitted mail has and another one gets. */
interface Submission
  extends Pick<MessageRow, 'from' | 'fromAddress' | 'raw' | 'messageIdHeader' | 'inReplyTo' | 'references'> {
  readonly recipients: readonly string[];
  readonly threadId: string | undefined;
}

/**
 * Sends a mail: stores it as an outbound message, delivers it to inboxes of all tenants of this emulator, and detects
 * bounces. Publishes `message.sent`, then `message.received` for each inbox, then `message.bounced`.
 *
 * @throws {ApiError} as `checkSending` does, or STORAGE_FULL; then nothing is stored.
 */
export function sendMail(context: MailContext, world: World, inbox: InboxRow, mail: OutgoingMail): MessageRow {
  const { originalMessage, recipientCheck, submission, ...stored } = mail;
  const recipients = submission?.recipients ?? recipientsOf(mail);
  checkSending(context, world, inbox, recipients, recipientCheck);
  const routes = recipients.map((recipient) => findRoute(context, recipient, world));
  const inboxes = uniqueInboxes(routes.flatMap((route) => (route.kind === 'inbox' ? [route.inbox] : [])));
  const bounced = recipients.filter((_, index) => routes[index]?.kind === 'bounced');
  checkRoom(context, (1 + inboxes.length) * sizeOfMail({ ...stored, ...(submission && { raw: submission.raw }) }));
  const message = store(context, world, inbox, stored, submission ?? ownFields(world, inbox, originalMessage));
  publish(context, world, 'message.sent', message);
  if (bounced.length < routes.length) context.assume('sending.local');
  deliverAll(context, world, { ...message, attachments: mail.attachments }, { routes, inboxes });
  if (bounced.length === 0) return message;
  const bounceAll = BOUNCES[context.readBehaviour('sending.bounce.report')];
  bounceAll(context, world, message, bounced);
  return world.messages.get(message.id) ?? message;
}

/** Delivers a mail to inboxes and to correspondents, except for what is held. */
function deliverAll(
  context: MailContext,
  world: World,
  message: MessageRow & Pick<StoredMail, 'attachments'>,
  { routes, inboxes }: { readonly routes: readonly Route[]; readonly inboxes: readonly InboxLocation[] },
): void {
  const sent = { ...message, from: message.fromAddress };
  for (const inbox of inboxes) {
    if (!isHeld(context, world, sent, { kind: 'inbox', inbox })) receiveMail(context, inbox, message);
  }
  for (const route of routes) {
    if (route.kind !== 'correspondent' || isHeld(context, world, sent, route)) continue;
    context.correspondents.receive(world, message, route.address);
  }
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
  { threadId, from, fromAddress, raw, messageIdHeader, inReplyTo, references }: Omit<Submission, 'recipients'>,
): MessageRow {
  const { environment } = world;
  context.assume('threads.outbound');
  const id = newId(environment);
  const row = {
    ...{ ...content, id, inboxId: inbox.id, threadId: threadId ?? newId(environment), direction: 'outbound' as const },
    ...{ from, fromAddress, isRead: true, inReplyTo, references, headers: null, raw },
    messageIdHeader: messageIdHeader || `<${id}@${domainOf(fromAddress)}>`,
  };
  return storeMessage(world, row, attachments);
}

/** Returns what a mail gets that was not submitted. */
function ownFields(world: World, inbox: InboxRow, originalMessage: MessageRow | null): Omit<Submission, 'recipients'> {
  const address = primaryAddress(world, inbox);
  return {
    ...{ threadId: originalMessage?.threadId, raw: null, messageIdHeader: '' },
    ...{ from: formatAddress({ name: inbox.displayName ?? '', address }), fromAddress: address },
    inReplyTo: originalMessage?.messageIdHeader ?? null,
    references: originalMessage ? referencesTo(originalMessage) : [],
  };
}

const MAX_REFERENCES = 20;

/** Returns the references of a reply: the first message of the conversation, and the latest ones. */
export function referencesTo({
  references,
  messageIdHeader,
}: Pick<MessageRow, 'references' | 'messageIdHeader'>): string[] {
  const all = [...references, messageIdHeader];
  return all.length <= MAX_REFERENCES ? all : [...all.slice(0, 1), ...all.slice(1 - MAX_REFERENCES)];
}
