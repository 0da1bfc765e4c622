import { describeWrongAddress, emailAddress } from '../../contract/addresses/email-address-schema.ts';
import { ApiError } from '../../contract/errors.ts';
import type { BodyOf } from '../../contract/operations.ts';
import { newId, timestampNow } from '../../world/environment.ts';
import { sizeOfMailRow } from '../../world/store/database.ts';
import type { DraftRow, InboxRow, MessageRow } from '../../world/store/rows.ts';
import { findInInbox, findInScope, type LookupContext, notFound } from '../access/find-in-scope.ts';
import { parseEml } from '../mail/incoming/parse-eml.ts';
import { recipientsOfReply, replySubject } from '../mail/outgoing/reply.ts';
import { type OutgoingMail, sendMail } from '../mail/outgoing/send.ts';
import { checkRoom } from '../mail/store-message.ts';
import type { Run } from './context.ts';
import { DELETE_BODY, limitBodies, paginate, showSent } from './replies.ts';
import type { SendingContext } from './sending.ts';

export const createDraft: Run<'createDraft'> = (context, { params, body }) => {
  const { world } = context;
  const inbox = findInScope(context, 'inboxes', params.id);
  const now = timestampNow(world.environment);
  const content = { ...EMPTY_DRAFT, ...changesOf(context, inbox.id, body) };
  checkRoom(context, sizeOfMailRow(content));
  const place = { id: newId(world.environment), inboxId: inbox.id };
  const row = world.drafts.insert({ ...content, raw: null, ...place, createdAt: now, updatedAt: now });
  return { body: showDraft(row) };
};

type DraftContent = Omit<DraftRow, 'id' | 'inboxId' | 'createdAt' | 'updatedAt' | 'raw'>;

const NO_CONTENT = { subject: null, plainBody: null, htmlBody: null, replyToMessageId: null };

const EMPTY_DRAFT: DraftContent = { to: [], cc: [], bcc: [], ...NO_CONTENT };

/** Returns the changes of a draft that a request asks for: null empties a field, and a missing field is unchanged. */
function changesOf(
  context: LookupContext,
  inboxId: string,
  body: BodyOf<'createDraft'>,
  { replyToMessageId }: Pick<DraftContent, 'replyToMessageId'> = EMPTY_DRAFT,
): Partial<DraftContent> {
  const messageId = body.replyToMessageId;
  if (typeof messageId === 'string' && messageId !== replyToMessageId) checkRepliedMessage(context, inboxId, messageId);
  const sent = Object.entries(body).filter(([, value]) => value !== undefined);
  return Object.fromEntries(sent.map(([field, value]) => [field, value ?? EMPTY_DRAFT[field as keyof DraftContent]]));
}

/** Checks the message to which a draft replies. */
function checkRepliedMessage({ world, readBehaviour }: LookupContext, inboxId: string, messageId: string): void {
  const message = world.messages.get(messageId);
  const isInInbox = message?.inboxId === inboxId;
  if (isInInbox && (message.deletedAt === null || readBehaviour('messages.answer.deleted') === 'sent')) return;
  if (readBehaviour('drafts.unknown-message') === 'not-found') throw notFound('messages');
  const problem = 'replyToMessageId must be the id of a message of this inbox';
  throw new ApiError('VALIDATION_ERROR', `The body is not valid: ${problem}.`);
}

export const listDrafts: Run<'listDrafts'> = (context, { params, query }) => {
  const { world, readBehaviour } = context;
  const inbox = findInScope(context, 'inboxes', params.id);
  const all = world.drafts.by('inboxId', inbox.id);
  const { rows, pagination } = paginate(all, query, readBehaviour, 'drafts.list.order');
  const drafts = limitBodies(rows, context).map(showDraft);
  return { body: readBehaviour('drafts.list.reply') === 'drafts' ? { drafts } : { drafts, pagination } };
};

export const getDraft: Run<'getDraft'> = (context, { params }) => {
  const { row } = findInInbox(context, 'drafts', params.id, params.draftId);
  return { body: showDraft(row) };
};

export const updateDraft: Run<'updateDraft'> = (context, { params, body }) => {
  const { world } = context;
  const { inbox, row } = findInInbox(context, 'drafts', params.id, params.draftId);
  const changes = { ...changesOf(context, inbox.id, body, row), raw: null };
  checkRoom(context, sizeOfMailRow({ ...row, ...changes }) - sizeOfMailRow(row));
  const changed = world.drafts.update(row.id, { ...changes, updatedAt: timestampNow(world.environment) });
  return { body: showDraft(changed) };
};

export const deleteDraft: Run<'deleteDraft'> = (context, { params }) => {
  const { row } = findInInbox(context, 'drafts', params.id, params.draftId);
  context.world.drafts.remove(row.id);
  return { body: DELETE_BODY[context.readBehaviour('drafts.delete.body')](row.id) };
};

function showDraft({ to, cc, bcc, ...draft }: DraftRow) {
  const { id, inboxId, subject, plainBody, htmlBody, replyToMessageId, createdAt, updatedAt } = draft;
  const content = { subject, plainBody, htmlBody, replyToMessageId, createdAt, updatedAt };
  return { id, inboxId, to: [...to], cc: [...cc], bcc: [...bcc], ...content };
}

/** Sends a draft and then deletes it. A draft that cannot be sent is kept. */
export const sendDraft: Run<'sendDraft'> = (context, { params }) => {
  const { world, readBehaviour } = context;
  const { inbox, row: draft } = findInInbox(context, 'drafts', params.id, params.draftId);
  const message = sendMail({ ...context, source: 'draft' }, world, inbox, toMail(context, inbox, draft));
  world.drafts.remove(draft.id);
  return { body: { ...showSent(message, readBehaviour), draftId: draft.id } };
};

function toMail(context: SendingContext, inbox: InboxRow, draft: DraftRow): OutgoingMail {
  // The message to which the draft replies may have been removed after the draft was written.
  const originalMessage = context.world.messages.get(draft.replyToMessageId ?? '') ?? null;
  const recipients = recipientsOf(context, inbox, draft, originalMessage);
  const { to, cc, bcc } = recipients;
  return {
    ...recipients,
    recipientCheck: { recipients: [...to, ...cc, ...bcc], checkedInScopes: ['every-send'] },
    subject: draft.subject ?? (originalMessage ? replySubject(originalMessage) : ''),
    plainBody: draft.plainBody ?? '',
    htmlBody: draft.htmlBody,
    replyTo: null,
    originalMessage,
    attachments: draft.raw ? parseEml(draft.raw, '').mail.attachments : [],
  };
}

type Recipients = Pick<OutgoingMail, 'to' | 'cc' | 'bcc'>;

function recipientsOf(
  context: SendingContext,
  inbox: InboxRow,
  { to, cc, bcc }: DraftRow,
  originalMessage: MessageRow | null,
): Recipients {
  if (to.length + cc.length + bcc.length > 0) return checkRecipients({ to, cc, bcc });
  if (originalMessage) return { to: recipientsOfReply(context, inbox, originalMessage).to, cc, bcc };
  throw new ApiError('VALIDATION_ERROR', 'The draft has no recipient; set to, cc or bcc.');
}

/** Checks the addresses of a draft. This happens on sending only, because a draft may contain invalid addresses. */
function checkRecipients(recipients: Recipients): Recipients {
  const problems = Object.entries(recipients).flatMap(([field, addresses]: [string, readonly string[]]) =>
    addresses.flatMap((address, index) => {
      const isAddress = emailAddress().safeParse(address).success;
      return isAddress ? [] : [`${field}[${index}] ${describeWrongAddress(address)}`];
    }),
  );
  if (problems.length === 0) return recipients;
  throw new ApiError('VALIDATION_ERROR', `The draft cannot be sent: ${problems.slice(0, 5).join('; ')}.`);
}
