import { DEFAULT_DOMAIN, domainOf, formatAddress, toAddressKey } from '../../../contract/addresses/email-address.ts';
import type { BehaviourValue } from '../../../contract/behaviours.ts';
import { ApiError } from '../../../contract/errors.ts';
import { newId } from '../../../world/environment.ts';
import type { InboxRow, MessageRow } from '../../../world/store/rows.ts';
import { isOwnAddress, primaryAddress, type World } from '../../../world/store/world.ts';
import type { InboxPrincipal } from '../../access/principal.ts';
import { findThread, receiveMail } from '../incoming/accept-message.ts';
import { fileNameOf, type IncomingMail, parseEml } from '../incoming/parse-eml.ts';
import { bytesOf, findHeaderEnd, splitHeader, toBinary } from '../mime/decode.ts';
import { createDeliveryReport } from '../mime/delivery-report.ts';
import { CRLF, createTrace, formatDate, repairLineEnds } from '../mime/header.ts';
import { findRoute, findSimulator, type LocalRecipient, type Route, uniqueInboxes } from '../route.ts';
import type { AttachedFile, MailContext } from '../store-message.ts';
import { checkEpoch, checkRoom, markBounced, publish, sizeOfMail, storeMessage } from '../store-message.ts';

/** Which recipients must have written to the inbox before. */
export interface RecipientCheck {
  readonly recipients: readonly string[];
  /** The recipients are checked only if `sending.verified.scope` has one of these values. Default: always. */
  readonly checkedInScopes?: readonly BehaviourValue<'sending.verified.scope'>[];
  /** Whether the caller can skip the check by `"verified": true`. */
  readonly canSkip?: true;
}

/** The fields of an outgoing mail that are stored and that count towards the storage limit. */
interface StoredMail extends Pick<MessageRow, 'to' | 'cc' | 'bcc' | 'replyTo' | 'subject' | 'plainBody' | 'htmlBody'> {
  readonly attachments: readonly AttachedFile[];
}

/** A mail for `sendMail`. */
export interface OutgoingMail extends StoredMail {
  /** The message that this mail replies to; null if this mail starts a thread. */
  readonly originalMessage: MessageRow | null;
  /** The message that this mail forwards, if it forwards one. */
  readonly forwarded?: MessageRow;
  readonly recipientCheck: RecipientCheck;
  /** Only for a mail that a program submitted: fields of the submitted mail, and the recipients of its envelope. */
  readonly submission?: Submission;
}

/** The fields that a submitted mail has. For any other mail, `newFields` creates them. */
interface SentFields
  extends Pick<MessageRow, 'from' | 'fromAddress' | 'raw' | 'messageIdHeader' | 'inReplyTo' | 'references'> {
  readonly threadId: string | undefined;
}

/** A submitted mail: its fields, and the recipients of its envelope. */
interface Submission extends SentFields {
  readonly recipients: readonly string[];
}

/**
 * Sends a mail: stores it as an outbound message, delivers it to the inboxes and correspondents that the tenant can
 * reach, and detects bounces. Publishes `message.sent`, then `message.received` for each inbox, then `message.bounced`.
 *
 * @throws {ApiError} as `applySendingRules` does, or STORAGE_FULL. In these cases nothing is stored.
 */
export function sendMail(context: MailContext, world: World, inbox: InboxRow, mail: OutgoingMail): MessageRow {
  const { originalMessage, forwarded, recipientCheck, submission, ...stored } = mail;
  const recipients = submission?.recipients ?? [...new Set([...mail.to, ...mail.cc, ...mail.bcc].map(toAddressKey))];
  applySendingRules(context, world, inbox, recipients, recipientCheck);
  const routes = recipients.map((recipient) => findRoute(context, recipient, world));
  const inboxes = uniqueInboxes(routes.filter((route) => route.kind === 'inbox'));
  const bounced = routes.filter(({ kind }) => kind === 'bounced').map(({ address }) => address);
  checkRoom(context, (1 + inboxes.length) * sizeOfMail({ ...stored, ...(submission && { raw: submission.raw }) }));
  const message = storeSent(world, inbox, stored, submission ?? newFields(world, inbox, originalMessage));
  publish(context, world, 'message.sent', message, {
    routes: routes.map(({ kind, address }) => ({ recipient: address, route: kind })),
    ...(forwarded && { forwardOf: forwarded.messageIdHeader }),
  });
  const correspondents = routes.filter(({ kind }) => kind === 'correspondent');
  deliverAll(context, world, { ...message, attachments: mail.attachments }, [...inboxes, ...correspondents]);
  if (bounced.length === 0) return message;
  if (context.readBehaviour('sending.bounce.report') === 'none') markBounced(context, world, message);
  else deliverReports(context, { world, inbox }, message, bounced);
  return world.messages.get(message.id) ?? message;
}

/** Delivers a mail to inboxes and to correspondents, unless the mail is held because of a loop. */
function deliverAll(
  context: MailContext,
  world: World,
  message: MessageRow & Pick<StoredMail, 'attachments'>,
  routes: readonly Route[],
): void {
  const sent = { ...message, from: message.fromAddress };
  for (const route of routes) {
    if (holdIfLoop(context, world, sent, route)) continue;
    if (route.kind === 'inbox') receiveMail(context, route, message);
    else context.correspondents.receive(world, message, route.address);
  }
}

/** Counts a mail to an inbox or a correspondent, and holds it if it is part of a loop. Returns whether it is held. */
export function holdIfLoop(
  { loops, worlds }: MailContext,
  world: World,
  { from, subject, messageIdHeader }: Pick<MessageRow, 'from' | 'subject' | 'messageIdHeader'>,
  route: Route,
): boolean {
  const to = route.kind === 'inbox' ? primaryAddress(route.world, route.inbox) : route.address;
  return !loops.admit(worlds, world, { from, to, subject, messageIdHeader });
}

function storeSent(
  world: World,
  inbox: InboxRow,
  { attachments, ...content }: StoredMail,
  { threadId, from, fromAddress, raw, messageIdHeader, inReplyTo, references }: SentFields,
): MessageRow {
  const { environment } = world;
  const id = newId(environment);
  const row = {
    id,
    ...content,
    inboxId: inbox.id,
    threadId: threadId ?? newId(environment),
    direction: 'outbound' as const,
    from,
    fromAddress,
    isRead: true,
    inReplyTo,
    references,
    headers: null,
    raw,
    messageIdHeader: messageIdHeader || `<${id}@${domainOf(fromAddress)}>`,
  };
  return storeMessage(world, row, attachments);
}

/** Creates the fields for a mail that was not submitted. */
function newFields(world: World, inbox: InboxRow, originalMessage: MessageRow | null): SentFields {
  const address = primaryAddress(world, inbox);
  return {
    threadId: originalMessage?.threadId,
    raw: null,
    messageIdHeader: '',
    from: formatAddress({ name: inbox.displayName ?? '', address }),
    fromAddress: address,
    inReplyTo: originalMessage?.messageIdHeader ?? null,
    references: originalMessage ? referencesTo(originalMessage) : [],
  };
}

const MAX_REFERENCES = 20;

/** Returns the Message-IDs for References of a reply. If there are more than 20, these are the first and the latest 19. */
export function referencesTo({
  references,
  messageIdHeader,
}: Pick<MessageRow, 'references' | 'messageIdHeader'>): string[] {
  const all = [...references, messageIdHeader];
  return all.length <= MAX_REFERENCES ? all : [...all.slice(0, 1), ...all.slice(-(MAX_REFERENCES - 1))];
}

/**
 * Applies the rules for sending before a mail is stored. Refuses the mail if its inbox is paused, if a recipient must
 * have written to the inbox before and has not, or if a simulator among the recipients refuses it. Also changes the pause:
 * mail to `pause@simulator.test` pauses the inbox, and mail to `resume@simulator.test` ends the pause.
 *
 * @throws {ApiError} INBOX_PAUSED, RELAY_FAILED, or UNVERIFIED_RECIPIENT (or VALIDATION_ERROR, by `sending.verified`).
 */
function applySendingRules(
  context: MailContext,
  world: World,
  { id }: InboxRow,
  recipients: readonly string[],
  recipientCheck: RecipientCheck,
): void {
  const simulators = new Set(recipients.map((recipient) => findSimulator(recipient, context.readBehaviour)));
  const isPaused = world.inboxes.get(id)?.isPaused === true;
  if (isPaused && !simulators.has('resume')) throw createPausedError();
  checkVerifiedRecipients(context, world, id, recipientCheck);
  if (simulators.has('pause')) {
    world.inboxes.update(id, { isPaused: true });
    throw createPausedError();
  }
  if (simulators.has('relay-error')) throw new ApiError('RELAY_FAILED', 'The mail relay failed, so nothing was sent.');
  if (isPaused) world.inboxes.update(id, { isPaused: false });
}

function createPausedError(): ApiError {
  return new ApiError('INBOX_PAUSED', 'This inbox is paused and cannot send.');
}

/** Checks that each recipient has written to the inbox before. Simulators are not checked. */
function checkVerifiedRecipients(
  { readBehaviour }: MailContext,
  world: World,
  inboxId: string,
  { recipients, checkedInScopes, canSkip }: RecipientCheck,
): void {
  const hasWritten = (address: string) =>
    world.messages
      .by('fromAddress', address)
      .some((message) => message.inboxId === inboxId && message.direction === 'inbound');
  const unverified = recipients
    .map(toAddressKey)
    .find((address) => findSimulator(address, readBehaviour) === undefined && !hasWritten(address));
  if (unverified === undefined || checkedInScopes?.includes(readBehaviour('sending.verified.scope')) === false) return;
  const value = readBehaviour('sending.verified');
  if (value === 'sent') return;
  const advice = canSkip !== true ? '' : '; send with "verified": true if you know the address to be right';
  throw new ApiError(REFUSAL_CODES[value], `${unverified} has never written to this inbox${advice}.`);
}

const REFUSAL_CODES = { forbidden: 'UNVERIFIED_RECIPIENT', invalid: 'VALIDATION_ERROR' } as const;

/**
 * Delivers one report for each recipient that bounced, to the inbox that sent the mail. Each report publishes
 * `message.bounced`, as a report from outside does.
 */
function deliverReports(
  context: MailContext,
  sender: Pick<LocalRecipient, 'world' | 'inbox'>,
  original: MessageRow,
  bounced: readonly string[],
): void {
  const contextOfReports = { ...context, source: 'emulator' as const };
  for (const recipient of bounced)
    receiveMail(contextOfReports, sender, composeReport(sender.world, original, recipient));
}

function composeReport({ environment }: World, original: MessageRow, recipient: string): IncomingMail {
  const id = newId(environment);
  const at = new Date(environment.now());
  const status = '5.1.1';
  const diagnostic = `550 ${status} There is no inbox with the address ${recipient}.`;
  const report = { id, at, reportingMta: DEFAULT_DOMAIN, recipient, status, diagnostic, original };
  const { bytes, subject, text, files } = createDeliveryReport(report);
  const { fromAddress: to, messageIdHeader, references } = original;
  const from = `mailer-daemon@${DEFAULT_DOMAIN}`;
  return {
    from: `Mail Delivery System <${from}>`,
    to: [to],
    cc: [],
    replyTo: null,
    subject,
    // A parser of the raw mail would read the line break before the next part as the end of this text.
    plainBody: `${text.replaceAll(CRLF, '\n')}\n`,
    htmlBody: null,
    messageIdHeader: `<${id}@${DEFAULT_DOMAIN}>`,
    inReplyTo: messageIdHeader,
    references: [...references, messageIdHeader],
    headers: createTrace({ from: '', to, auth: {} }, from, at),
    raw: bytes,
    attachments: files.map(({ contentType, content }) => toFile(contentType, content + CRLF)),
  };
}

function toFile(contentType: string, text: string): AttachedFile {
  const bytes = new TextEncoder().encode(text);
  return { filename: fileNameOf(contentType), contentType, content: bytes, sizeBytes: bytes.byteLength };
}

/**
 * Sends a mail that a program submits for an inbox, in the same way as the API sends a mail. The recipients are those
 * of the envelope. The sent mail has the bytes of the submitted mail, except for what `completeHeader` does.
 *
 * @throws {ApiError} as `sendMail` does; FORBIDDEN if the inbox does not have each address in From and Sender.
 */
export function submitMail(
  context: MailContext,
  principal: InboxPrincipal,
  mail: { readonly bytes: Uint8Array; readonly recipients: readonly string[] },
): MessageRow {
  const { world, inboxId } = principal;
  checkEpoch(context, world);
  const inbox = world.inboxes.get(inboxId);
  if (!inbox || inbox.deletedAt !== null) throw new ApiError('NOT_FOUND', 'The inbox was deleted.');
  const fallbackId = `<${newId(world.environment)}@${inbox.domain}>`;
  const raw = completeHeader(mail.bytes, fallbackId, new Date(world.environment.now()));
  const { mail: parsedMail, readAuthors } = parseEml(raw, fallbackId);
  const { from, to, cc, ...parsed } = parsedMail;
  const address = toAddressKey(from);
  const foreign = [address, ...readAuthors()].find((author) => !isOwnAddress(world, inboxId, author));
  if (foreign !== undefined) {
    throw new ApiError('FORBIDDEN', `The mail is from ${foreign || '<>'}, which is not an address of this inbox.`);
  }
  const recipients = [...new Set(mail.recipients.map(toAddressKey))];
  const headerRecipients = new Set([...to, ...cc].map(toAddressKey));
  const threadId = findThread(world, inboxId, parsed);
  const mustHaveWritten = context.readBehaviour('submission.verified') === 'checked';
  return sendMail(context, world, inbox, {
    ...parsed,
    to,
    cc,
    bcc: recipients.filter((recipient) => !headerRecipients.has(recipient)),
    originalMessage: null,
    recipientCheck: { recipients: mustHaveWritten ? recipients : [] },
    submission: {
      recipients,
      from,
      fromAddress: address || primaryAddress(world, inbox),
      raw,
      threadId,
      messageIdHeader: parsed.messageIdHeader,
      inReplyTo: parsed.inReplyTo,
      references: parsed.references,
    },
  });
}

/**
 * Returns the bytes of a mail without Bcc and Resent-Bcc. A missing Date or Message-ID is added. Some programs read a
 * single CR as a line end. So each CR in the header becomes CRLF, and a Bcc field behind a CR is removed too. Empty lines
 * in the header are removed, because the fields after one would become text of the mail.
 */
function completeHeader(bytes: Uint8Array, messageId: string, date: Date): Uint8Array<ArrayBuffer> {
  const text = toBinary(repairLineEnds(bytes));
  const end = findHeaderEnd(text);
  const fields = splitHeader(text.slice(0, end).replace(/\r+\n?/g, CRLF)).filter((field) => field.trim() !== '');
  const hasField = (name: string) => fields.some((field) => field.toLowerCase().startsWith(`${name}:`));
  const added = [
    ...(hasField('date') ? [] : [`Date: ${formatDate(date)}${CRLF}`]),
    ...(hasField('message-id') ? [] : [`Message-ID: ${messageId}${CRLF}`]),
  ];
  const kept = fields.filter((field) => !/^(?:resent-)?bcc\s*:/i.test(field));
  const header = [...added, ...kept].join('');
  return bytesOf(`${header}${header.endsWith('\n') ? '' : CRLF}${CRLF}${text.slice(end)}`);
}
