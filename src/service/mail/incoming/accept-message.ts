import { DEFAULT_DOMAIN, domainOf, toAddressKey, toBareAddress } from '../../../contract/addresses/email-address.ts';
import { ApiError, parseOrRefuse } from '../../../contract/errors.ts';
import { composedMessage, type IncomingMessage, rawMessage } from '../../../contract/incoming-message.ts';
import type { MailAuth } from '../../../contract/mail-envelope.ts';
import { MAX_MAIL_BYTES } from '../../../contract/mail-limits.ts';
import { newId } from '../../../world/environment.ts';
import type { ReachableWorlds } from '../../../world/store/reachable-worlds.ts';
import type { MessageRow } from '../../../world/store/rows.ts';
import type { World } from '../../../world/store/world.ts';
import { messagesWithId } from '../message-id.ts';
import { createTrace } from '../mime/header.ts';
import { findInbox, type LocalRecipient, uniqueInboxes } from '../route.ts';
import { checkEpoch, checkRoom, type MailContext, publish, sizeOfMail, storeMessage } from '../store-message.ts';
import { type IncomingMail, parseEml } from './parse-eml.ts';
import { reportBounce } from './report-bounce.ts';

/** A message from outside, as stored in one inbox. A mail to several inboxes creates one message in each of them. */
export interface ReceivedMessage {
  /** The id of the message in this inbox. */
  readonly id: string;
  /** The id of the inbox that received it. */
  readonly inboxId: string;
  /** The id of the thread in this inbox. */
  readonly threadId: string;
  /** The id of the tenant that owns the inbox. */
  readonly tenantId: string;
}

/**
 * Accepts a mail from outside and stores it in the inbox of each recipient: in the thread that the mail replies to, or
 * in a new thread. Publishes `message.received` for each inbox.
 *
 * @throws {ApiError} VALIDATION_ERROR for an invalid mail, NOT_FOUND for a recipient without an inbox in this emulator,
 *   PAYLOAD_TOO_LARGE above 10 MiB, STORAGE_FULL if there is no space, SERVER_UNAVAILABLE if the data of a recipient's
 *   tenant were reset after the work for the mail began. In these cases nothing is stored.
 */
export async function acceptMessage(context: MailContext, message: IncomingMessage): Promise<ReceivedMessage[]> {
  if (typeof message !== 'object' || message === null || Array.isArray(message)) {
    throw new ApiError('VALIDATION_ERROR', 'The message must be an object with to and from, or with eml.');
  }
  const parsed = 'eml' in message ? parseRaw(context, message) : parseComposed(context, message);
  const recipients = findRecipients(context, parsed);
  for (const { world } of recipients) checkEpoch(context, world);
  const copies = recipients.map((recipient) => ({ recipient, mail: addTrace(recipient, parsed) }));
  const bytes = copies.reduce((sum, { mail }) => sum + sizeOfMail(mail), 0);
  checkRoom(context, bytes);
  // All inboxes were found above and nothing is awaited, so each still exists.
  return copies.map(({ recipient, mail }) => {
    const stored = receiveMail(context, recipient, mail);
    if (!stored) throw new ApiError('NOT_FOUND', 'The inbox no longer exists.');
    return showReceived(recipient.world, stored);
  });
}

/** Returns the ids of a message, its inbox, its thread and its tenant. */
export function showReceived(world: World, { id, inboxId, threadId }: MessageRow): ReceivedMessage {
  return { id, inboxId, threadId, tenantId: world.id };
}

/** A parsed mail and the addresses of its recipients. If `tenant` is set, only this tenant may receive the mail. */
interface AddressedMail {
  readonly tenant: string | undefined;
  readonly mail: IncomingMail;
  readonly addresses: readonly string[];
  /** Whether recipients without an inbox in this emulator are ignored if another recipient has an inbox. */
  readonly mayIgnoreUnknown: boolean;
  /** The sender in the envelope; `undefined` if the mail came without an envelope. */
  readonly envelopeFrom: string | undefined;
  readonly auth: MailAuth | undefined;
}

function parseComposed({ worlds }: MailContext, message: IncomingMessage): AddressedMail {
  const { tenant, htmlBody, messageId, envelopeFrom, auth, ...fields } = parseOrRefuse(
    'The message',
    composedMessage(),
    message,
  );
  checkSize(fields.attachments.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0));
  const sender = toBareAddress(fields.from);
  const inReplyTo = fields.inReplyTo ?? null;
  const mail = {
    ...fields,
    replyTo: fields.replyTo ?? null,
    htmlBody: htmlBody ?? null,
    raw: null,
    inReplyTo,
    messageIdHeader: messageId ?? newMessageId(worlds, domainOf(sender)),
    references: fields.references ?? (inReplyTo === null ? [] : [inReplyTo]),
  };
  return { tenant, mail, addresses: fields.to, mayIgnoreUnknown: false, envelopeFrom: envelopeFrom ?? sender, auth };
}

function parseRaw(context: MailContext, message: IncomingMessage): AddressedMail {
  const { eml, tenant, to, auth, ...given } = parseOrRefuse('The message', rawMessage(), message);
  checkSize(eml.byteLength);
  // The free space is checked before parsing, because parsing needs time and memory.
  checkRoom(context, eml.byteLength);
  const { mail: inFile, recipients } = parseEml(eml, newMessageId(context.worlds, DEFAULT_DOMAIN));
  const { attachments, ...texts } = inFile;
  const files = attachments.map(({ content, ...file }) => ({ ...copyTexts(file), content }));
  const mail = { ...copyTexts(texts), attachments: files, headers: null, raw: eml };
  // A mail with results of authentication came over SMTP, so it has an envelope.
  const envelopeFrom = given.envelopeFrom ?? (auth && toBareAddress(mail.from));
  return {
    // A mail without a readable From gets the sender of the envelope.
    mail: { ...mail, from: mail.from || (envelopeFrom ?? '') },
    tenant,
    envelopeFrom,
    auth,
    addresses: to ?? recipients,
    mayIgnoreUnknown: to === undefined,
  };
}

/** Copies texts that may be parts of a much longer text. Without copies, V8 would keep the longer text in memory. */
function copyTexts<Texts extends object>(texts: Texts): Texts {
  return JSON.parse(JSON.stringify(texts));
}

/**
 * Adds the header fields that a receiving server writes (Return-Path, Authentication-Results, Received), if the mail came
 * with an envelope.
 */
function addTrace({ world, address }: LocalRecipient, { mail, envelopeFrom, auth = {} }: AddressedMail): IncomingMail {
  if (envelopeFrom === undefined) return mail;
  const at = new Date(world.environment.now());
  const trace = createTrace({ from: envelopeFrom, to: address, auth }, toBareAddress(mail.from), at);
  return { ...mail, headers: { ...trace, ...mail.headers } };
}

function newMessageId({ environment }: ReachableWorlds, domain: string): string {
  return `<${newId(environment)}@${domain}>`;
}

function checkSize(bytes: number): void {
  if (bytes <= MAX_MAIL_BYTES) return;
  throw new ApiError('PAYLOAD_TOO_LARGE', 'The message is larger than 10 MiB.');
}

/** Finds the inboxes of the recipients, each once. @throws {ApiError} NOT_FOUND for a recipient without an inbox. */
function findRecipients(context: MailContext, { tenant, addresses, mayIgnoreUnknown }: AddressedMail) {
  if (tenant !== undefined && !context.worlds.get(tenant)) {
    throw new ApiError('NOT_FOUND', 'There is no tenant with this id.');
  }
  if (addresses.length === 0) throw new ApiError('VALIDATION_ERROR', 'The message has no recipient.');
  const found = addresses.map((address) => findInbox(context, toAddressKey(address)));
  const isAnyFound = found.some((recipient) => recipient !== undefined);
  const unknown = addresses.filter((_, index) => {
    const recipient = found[index];
    if (!recipient) return !(mayIgnoreUnknown && isAnyFound);
    // A recipient of another tenant is never ignored.
    return tenant !== undefined && recipient.world.id !== tenant;
  });
  if (unknown.length > 0) {
    throw new ApiError('NOT_FOUND', `There is no inbox with the address ${unknown.slice(0, 5).join(', ')}.`);
  }
  return uniqueInboxes(found.filter((recipient) => recipient !== undefined));
}

/**
 * Stores a mail in an inbox, in the thread that it replies to or in a new thread, and publishes `message.received`. If
 * the mail reports that a mail of the inbox bounced, also publishes `message.bounced` for the bounced mail. Returns
 * `undefined` if the inbox does not exist any more.
 */
export function receiveMail(
  context: MailContext,
  { world, inbox: { id: inboxId } }: Pick<LocalRecipient, 'world' | 'inbox'>,
  { attachments, ...mail }: IncomingMail,
): MessageRow | undefined {
  if (!world.inboxes.get(inboxId)) return undefined;
  const id = newId(world.environment);
  const threadId = findThread(world, inboxId, mail) ?? newId(world.environment);
  const fields = { direction: 'inbound' as const, fromAddress: toAddressKey(mail.from), bcc: [], isRead: false };
  const message = storeMessage(world, { ...mail, id, inboxId, threadId, ...fields }, attachments);
  publish(context, world, 'message.received', message);
  reportBounce(context, world, message);
  return message;
}

/**
 * Finds the thread that a mail replies to: the thread of the message named in In-Reply-To; otherwise the thread of the
 * last message in References that this inbox has (reference, "Threading of inbound mail").
 */
export function findThread(
  world: World,
  inboxId: string,
  { inReplyTo, references }: { readonly inReplyTo: string | null; readonly references: readonly string[] },
): string | undefined {
  for (const messageId of [...(inReplyTo === null ? [] : [inReplyTo]), ...references.toReversed()]) {
    // An inbox that writes to itself has two messages with this id. Replies belong to the thread of the inbound
    // message. `findLast` finds that message, because it is stored second.
    const known = messagesWithId(world, messageId).findLast((message) => message.inboxId === inboxId);
    if (known) return known.threadId;
  }
  return undefined;
}
