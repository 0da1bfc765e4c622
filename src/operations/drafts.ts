import { findInInbox, findInScope, type LookupContext, notFound } from '../access/find-in-scope.ts';
import { ApiError } from '../contract/errors.ts';
import type { BodyOf } from '../contract/operations.ts';
import { newId, timestampNow } from '../environment.ts';
import { checkRoom } from '../mail/check-room.ts';
import { sizeOfMailRow } from '../store/row-size.ts';
import type { DraftRow, MessageRow } from '../store/rows.ts';
import type { Run } from './context.ts';
import { DELETED } from './replies/confirmations.ts';
import { limitBodies } from './replies/limit-bodies.ts';
import { paginate } from './replies/paginate.ts';

export const createDraft: Run<'createDraft'> = (context, { params, body }) => {
  const { principal, environment } = context;
  const inbox = findInScope(context, 'inboxes', params.id);
  const now = timestampNow(environment);
  const content = { ...EMPTY, ...changesOf(context, inbox.id, body) };
  checkRoom(context, sizeOfMailRow(content));
  const row = principal.world.drafts.insert({
    ...content,
    id: newId(environment),
    inboxId: inbox.id,
    createdAt: now,
    updatedAt: now,
  });
  return { body: showDraft(row) };
};

type DraftContent = Omit<DraftRow, 'id' | 'inboxId' | 'createdAt' | 'updatedAt'>;

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
  const changes = changesOf(context, inbox.id, body, row);
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
