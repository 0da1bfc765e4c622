import type { BehaviourReader } from '../../contract/behaviours.ts';
import { describeWrongAddress, emailAddress } from '../../contract/email-address-schema.ts';
import { ApiError } from '../../contract/errors.ts';
import type { BodyOf } from '../../contract/operations.ts';
import { newId, timestampNow } from '../../world/environment.ts';
import { sizeOfMailRow } from '../../world/store/database.ts';
import type { DraftRow, InboxRow, MessageRow } from '../../world/store/rows.ts';
import { parseEml } from '../mail/incoming/parse-eml.ts';
import { recipientsOfReply, replySubject } from '../mail/outgoing/reply.ts';
import { type OutgoingMail, sendMail } from '../mail/outgoing/send.ts';
import { checkRoom } from '../mail/store-message.ts';
import { findInInbox, findInScope, type LookupContext, notFound } from '../pipeline/access/find-in-scope.ts';
import type { Run } from './context.ts';
import { limitBodies } from './replies/show-message.ts';
import { DELETED, paginate, showSent } from './replies/show-page.ts';
import type { SendingContext } from './sending.ts';

export const createDraft: Run<'createDraft'> = (context, { params, body }) => {
  const { principal, environment } = context;
  const inbox = findInScope(context, 'inboxes', params.id);
  const now = timestampNow(environment);
  const content = { ...EMPTY, ...changesOf(context, inbox.id, body) };
  checkRoom(context, sizeOfMailRow(content));
  const row = principal.world.drafts.insert({
    ...content,
    raw: null,
    id: newId(environment),
    inboxId: inbox.id,
    createdAt: now,
    updatedAt: now,
  });
  return { body: showDraft(row) };
};

type DraftContent = Omit<DraftRow, 'id' | 'inboxId' | 'createdAt' | 'updatedAt' | 'raw'>;

const EMPTY: DraftContent = {
  to: [],
  cc: [],
  bcc: [],
  subject: null,
  plainBody: null,
  htmlBody: null,
  replyToMessageId: null,
};

/** Returns the changes that a request makes: null clears a field, and a field that is not sent is unchanged. */
function changesOf(
  context: LookupContext,
  inboxId: string,
  body: BodyOf<'createDraft'>,
  { replyToMessageId }: Pick<DraftContent, 'replyToMessageId'> = EMPTY,
): Partial<DraftContent> {
  const { replyToMessageId: newMessageId } = body;
  if (typeof newMessageId === 'string' && newMessageId !== replyToMessageId)
    checkMessage(context, inboxId, newMessageId);
  const sent = Object.entries(body).filter(([, value]) => value !== undefined);
  return Object.fromEntries(sent.map(([field, value]) => [field, value ?? EMPTY[field as keyof DraftContent]]));
}

function checkMessage({ principal, readBehaviour }: LookupContext, inboxId: string, messageId: string): void {
  const message = principal.world.messages.get(messageId);
  const isAnswerable = ({ deletedAt }: MessageRow) =>
    deletedAt === null || readBehaviour('messages.answer.deleted') === 'sent';
  if (message?.inboxId === inboxId && isAnswerable(message)) return;
  throw readBehaviour('drafts.unknown-message') === 'not-found'
    ? notFound('messages')
    : new ApiError(
        'VALIDATION_ERROR',
        'The body is not valid: replyToMessageId must be the id of a message of this inbox.',
      );
}

export const listDrafts: Run<'listDrafts'> = (context, { params, query }) => {
  const { principal, readBehaviour, assume } = context;
  const inbox = findInScope(context, 'inboxes', params.id);
  const { rows, pagination } = paginate(
    principal.world.drafts.by('inboxId', inbox.id),
    query,
    readBehaviour,
    'drafts.list.order',
  );
  const drafts = limitBodies(rows, assume).map(showDraft);
  return {
    body: { drafts: { drafts }, 'with-pagination': { drafts, pagination } }[readBehaviour('drafts.list.reply')],
  };
};

export const getDraft: Run<'getDraft'> = (context, { params }) => {
  const { row } = findInInbox(context, 'drafts', params.id, params.draftId);
  return { body: showDraft(row) };
};

export const updateDraft: Run<'updateDraft'> = (context, { params, body }) => {
  const { principal, environment } = context;
  const { inbox, row } = findInInbox(context, 'drafts', params.id, params.draftId);
  const changes = { ...changesOf(context, inbox.id, body, row), raw: null };
  checkRoom(context, sizeOfMailRow({ ...row, ...changes }) - sizeOfMailRow(row));
  const changed = principal.world.drafts.update(row.id, { ...changes, updatedAt: timestampNow(environment) });
  return { body: showDraft(changed) };
};

export const deleteDraft: Run<'deleteDraft'> = (context, { params }) => {
  const { row } = findInInbox(context, 'drafts', params.id, params.draftId);
  context.principal.world.drafts.remove(row.id);
  return { body: DELETED[context.readBehaviour('drafts.delete.body')](row.id) };
};

function showDraft({ to, cc, bcc, ...draft }: DraftRow) {
  const { id, inboxId, subject, plainBody, htmlBody, replyToMessageId, createdAt, updatedAt } = draft;
  const recipients = { to: [...to], cc: [...cc], bcc: [...bcc] };
  const content = { subject, plainBody, htmlBody, replyToMessageId, createdAt, updatedAt };
  return { id, inboxId, ...recipients, ...content };
}

/** Sends a draft and then deletes it. A draft that cannot be sent is kept. */
export const sendDraft: Run<'sendDraft'> = (context, { params }) => {
  const { principal, readBehaviour } = context;
  const { inbox, row: draft } = findInInbox(context, 'drafts', params.id, params.draftId);
  const mail = toMail(context, inbox, draft);
  const message = sendMail(context, principal.world, inbox, mail);
  principal.world.drafts.remove(draft.id);
  return { body: { ...showSent(message, readBehaviour), draftId: draft.id } };
};

function toMail(context: SendingContext, inbox: InboxRow, draft: DraftRow): OutgoingMail {
  const originalMessage = findOriginal(context, draft);
  const recipients = recipientsOf(context, inbox, draft, originalMessage);
  const { to, cc, bcc } = recipients;
  return {
    ...recipients,
    recipientCheck: { recipients: [...to, ...cc, ...bcc], onlyIfVerifiedScopeIs: ['every-send'] },
    subject: draft.subject ?? (originalMessage ? replySubject(originalMessage, context.assume) : ''),
    plainBody: draft.plainBody ?? '',
    htmlBody: draft.htmlBody,
    replyTo: null,
    originalMessage,
    attachments: draft.raw ? parseEml(draft.raw, '').mail.attachments : [],
  };
}

/** Finds the message that a draft replies to, even if it has been deleted since. */
function findOriginal({ principal }: SendingContext, { replyToMessageId }: DraftRow): MessageRow | null {
  return replyToMessageId === null ? null : (principal.world.messages.get(replyToMessageId) ?? null);
}

function recipientsOf(
  context: SendingContext,
  inbox: InboxRow,
  { to, cc, bcc }: DraftRow,
  originalMessage: MessageRow | null,
): Pick<OutgoingMail, 'to' | 'cc' | 'bcc'> {
  if (to.length + cc.length + bcc.length > 0) return checkRecipients({ to, cc, bcc }, context);
  if (originalMessage) return { to: recipientsOfReply(context, inbox, originalMessage).to, cc, bcc };
  context.assume('drafts.send.incomplete');
  throw new ApiError('VALIDATION_ERROR', 'The draft has no recipient; set to, cc or bcc.');
}

/** Checks the addresses of a draft. This happens on sending only, because a draft may contain invalid addresses. */
function checkRecipients<Recipients extends Pick<OutgoingMail, 'to' | 'cc' | 'bcc'>>(
  recipients: Recipients,
  { readBehaviour, assume }: BehaviourReader,
): Recipients {
  const problems = Object.entries(recipients).flatMap(([field, addresses]: [string, readonly string[]]) =>
    addresses.flatMap((address, index) =>
      isAddress(address) ? [] : [`${field}[${index}] ${describeWrongAddress(address)}`],
    ),
  );
  if (problems.length === 0) return recipients;
  assume('sending.addresses');
  readBehaviour('drafts.recipients');
  throw new ApiError('VALIDATION_ERROR', `The draft cannot be sent: ${problems.slice(0, 5).join('; ')}.`);
}

function isAddress(text: string): boolean {
  return emailAddress().safeParse(text).success;
}
