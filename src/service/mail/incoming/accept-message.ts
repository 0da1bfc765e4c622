import { z } from 'zod';
import type { OutputOf } from '../../../basics/input-of.ts';
import { lazy } from '../../../basics/lazy.ts';
import { MAX_MAIL_BYTES } from '../../../basics/size.ts';
import { DEFAULT_DOMAIN, domainOf, toBareAddress } from '../../../contract/email-address.ts';
import { ApiError, parseOrRefuse } from '../../../contract/errors.ts';
import { composedMessage, type IncomingMessage, rawMessage } from '../../../contract/incoming-message.ts';
import type { MailAuth } from '../../../contract/mail-envelope.ts';
import { newId } from '../../../world/environment.ts';
import type { ReachableWorlds } from '../../../world/store/reachable-worlds.ts';
import type { MessageRow } from '../../../world/store/rows.ts';
import type { InboxLocation, World } from '../../../world/store/world.ts';
import { createTrace } from '../mime/header.ts';
import { findInbox } from '../outgoing/route.ts';
import { checkRoom, type MailContext, publish, sizeOfMail, storeMessage } from '../store-message.ts';
import { type IncomingMail, parseEml } from './parse-eml.ts';
import { reportBounce } from './report-bounce.ts';

const receivedFields = () => ({
  /** The id of the message in this inbox. */
  id: z.string(),
  /** The id of the inbox that received it. */
  inboxId: z.string(),
  /** The id of its thread in that inbox. */
  threadId: z.string(),
  /** The id of the tenant that owns the inbox. */
  tenantId: z.string(),
});

/** The schema of a received message. */
export const receivedMessage = lazy(() => z.strictObject(receivedFields()));

/** A message from outside, as stored in one inbox. A mail to several inboxes creates one in each. */
export interface ReceivedMessage extends OutputOf<ReturnType<typeof receivedFields>> {}

/**
 * Accepts a mail from outside and stores it in the inbox of each recipient. In each inbox it joins the thread that it
 * replies to, or starts a new one, and `message.received` is published.
 *
 * @throws {ApiError} VALIDATION_ERROR for an invalid mail, NOT_FOUND for a recipient without an inbox in this emulator,
 *   PAYLOAD_TOO_LARGE above 10 MiB, STORAGE_FULL if there is no space. In these cases nothing is stored.
 */
export async function acceptMessage(context: MailContext, message: IncomingMessage): Promise<ReceivedMessage[]> {
  if (typeof message !== 'object' || message === null || Array.isArray(message)) {
    throw new ApiError('VALIDATION_ERROR', 'The message must be an object with to and from, or with eml.');
  }
  const parsed = 'eml' in message ? parseRaw(context, message) : parseComposed(context, message);
  const copies = findTargets(context, parsed).map(({ inbox, recipient }) => {
    return { inbox, mail: { ...parsed.mail, headers: addTrace(inbox.world, recipient, parsed) } };
  });
  checkRoom(
    context,
    copies.reduce((sum, { mail }) => sum + sizeOfMail(mail), 0),
  );
  return copies.map(({ inbox, mail }) => {
    const stored = receiveMail(context, inbox, mail);
    if (!stored) throw new ApiError('NOT_FOUND', 'The inbox no longer exists.');
    const { id, inboxId, threadId } = stored;
    return { id, inboxId, threadId, tenantId: inbox.world.id };
  });
}

/** A parsed mail, with the recipients to which it is delivered and the only tenant that may receive it, if any. */
interface AddressedMail {
  readonly tenant: string | undefined;
  readonly mail: IncomingMail;
  readonly recipients: readonly string[];
  /** The sender in the envelope; `undefined` if the mail came without an envelope. */
  readonly envelopeFrom: string | undefined;
  readonly auth: MailAuth | undefined;
}

function parseComposed({ worlds }: MailContext, message: IncomingMessage): AddressedMail {
  const {
    tenant,
    to,
    from,
    text,
    html,
    messageId,
    inReplyTo = null,
    references,
    replyTo = null,
    envelopeFrom = toBareAddress(from),
    auth,
    ...rest
  } = parseOrRefuse('The message', composedMessage(), message);
  checkSize(rest.attachments.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0));
  const mail = {
    ...rest,
    to,
    from,
    replyTo,
    plainBody: text,
    htmlBody: html ?? null,
    messageIdHeader: messageId ?? newMessageId(worlds, domainOf(toBareAddress(from))),
    inReplyTo,
    references: references ?? (inReplyTo === null ? [] : [inReplyTo]),
    raw: null,
  };
  return { tenant, mail, recipients: to, envelopeFrom, auth };
}

function parseRaw(context: MailContext, message: IncomingMessage): AddressedMail {
  const { eml, tenant, to, auth, ...given } = parseOrRefuse('The message', rawMessage(), message);
  checkSize(eml.byteLength);
  // Parsing needs time and memory.
  checkRoom(context, eml.byteLength);
  context.assume('messages.inbound.limits');
  context.assume('messages.inbound.sender');
  context.assume('messages.inbound.unreadable');
  const { mail: parsed, recipients } = parseEml(eml, newMessageId(context.worlds, DEFAULT_DOMAIN));
  const { attachments, ...texts } = parsed;
  const mail = {
    ...copyTexts(texts),
    attachments: attachments.map(({ content, ...file }) => ({ ...copyTexts(file), content })),
  };
  const envelopeFrom = given.envelopeFrom ?? (auth && toBareAddress(mail.from));
  // The mail can also name recipients outside this emulator. It is delivered only to those that have an inbox here.
  const local = recipients.filter((recipient) => findInbox(context, toBareAddress(recipient)) !== undefined);
  return {
    tenant,
    mail: { ...mail, from: mail.from || (envelopeFrom ?? ''), headers: null, raw: eml },
    recipients: to ?? (local.length > 0 ? local : recipients),
    envelopeFrom,
    auth,
  };
}

/** Copies texts that may be parts of a much longer one, which V8 would keep as long as its parts. */
function copyTexts<Texts extends object>(texts: Texts): Texts {
  return JSON.parse(JSON.stringify(texts));
}

/** Adds the trace to the header fields of a mail that came with an envelope. */
function addTrace({ environment }: World, recipient: string, { mail, envelopeFrom, auth = {} }: AddressedMail) {
  if (envelopeFrom === undefined) return mail.headers;
  const envelope = { from: envelopeFrom, to: toBareAddress(recipient), auth };
  return { ...createTrace(envelope, toBareAddress(mail.from), new Date(environment.now())), ...mail.headers };
}

function newMessageId({ environment }: ReachableWorlds, domain: string): string {
  return `<${newId(environment)}@${domain}>`;
}

function checkSize(bytes: number): void {
  if (bytes <= MAX_MAIL_BYTES) return;
  throw new ApiError('PAYLOAD_TOO_LARGE', 'The message is larger than 10 MiB.');
}

/** An inbox that gets a mail, and the first recipient that it gets the mail for. */
interface Target {
  readonly inbox: InboxLocation;
  readonly recipient: string;
}

/** Finds the inboxes of the recipients, each once. @throws {ApiError} NOT_FOUND if a recipient has no inbox. */
function findTargets(context: MailContext, { tenant, recipients }: AddressedMail): Target[] {
  if (tenant !== undefined && !context.worlds.get(tenant)) {
    throw new ApiError('NOT_FOUND', 'There is no tenant with this id.');
  }
  if (recipients.length === 0) throw new ApiError('VALIDATION_ERROR', 'The message has no recipient.');
  const found = recipients.flatMap((recipient) => {
    const inbox = findInbox(context, toBareAddress(recipient));
    return !inbox || (tenant !== undefined && inbox.world.id !== tenant) ? [] : [{ recipient, inbox }];
  });
  const known = new Set(found.map(({ recipient }) => recipient));
  const unknown = recipients.filter((recipient) => !known.has(recipient));
  if (unknown.length > 0) {
    throw new ApiError('NOT_FOUND', `There is no inbox with the address ${unknown.slice(0, 5).join(', ')}.`);
  }
  const targets = new Map<string, Target>();
  for (const target of found) if (!targets.has(target.inbox.inboxId)) targets.set(target.inbox.inboxId, target);
  return [...targets.values()];
}

/**
 * Stores a mail in an inbox, in the thread that it replies to or in a new one, and publishes `message.received`. If it
 * reports that a mail of the inbox bounced, also publishes `message.bounced` for that mail. Returns `undefined` if the
 * inbox does not exist any more.
 */
export function receiveMail(
  context: MailContext,
  { world, inboxId }: InboxLocation,
  { attachments, ...mail }: IncomingMail,
): MessageRow | undefined {
  if (!world.inboxes.get(inboxId)) return undefined;
  if (mail.inReplyTo !== null || mail.references.length > 0) context.assume('threads.inbound');
  const row = {
    ...mail,
    id: newId(world.environment),
    inboxId,
    threadId: findThread(world, inboxId, mail) ?? newId(world.environment),
    direction: 'inbound' as const,
    fromAddress: toBareAddress(mail.from),
    bcc: [],
    isRead: false,
  };
  const message = storeMessage(world, row, attachments);
  publish(context, world, 'message.received', message);
  reportBounce(context, world, message);
  return message;
}

/**
 * Finds the thread that a mail replies to: the thread of the message named in In-Reply-To; otherwise the thread of the
 * last message in References that this inbox has (see "Threading of inbound mail" in the reference,
 * src/contract/README.md).
 */
export function findThread(
  world: World,
  inboxId: string,
  { inReplyTo, references }: { readonly inReplyTo: string | null; readonly references: readonly string[] },
): string | undefined {
  for (const messageId of [...(inReplyTo === null ? [] : [inReplyTo]), ...references.toReversed()]) {
    // An inbox that writes to itself has two messages with this id. `findLast` picks the inbound copy, which is stored
    // second; replies belong to its thread.
    const known = world.messages.by('messageIdHeader', messageId).findLast((message) => message.inboxId === inboxId);
    if (known) return known.threadId;
  }
  return undefined;
}
