import { z } from 'zod';
import { defineReplies } from '../operation.ts';
import { pagination } from '../query.ts';
import { timestamp, uuid } from '../schemas.ts';
import { DELETE_REPLIES } from './common.ts';
import { sentReply } from './sending.ts';

const draft = z.strictObject({
  id: uuid,
  inboxId: uuid,
  to: z.array(z.string()),
  cc: z.array(z.string()),
  bcc: z.array(z.string()),
  subject: z.string().nullable(),
  plainBody: z.string().nullable(),
  htmlBody: z.string().nullable(),
  replyToMessageId: uuid.nullable(),
  createdAt: timestamp,
  updatedAt: timestamp,
});

const LIST_REPLIES = {
  drafts: z.strictObject({ drafts: z.array(draft) }),
  'with-pagination': z.strictObject({ drafts: z.array(draft), pagination }),
};

const sentDraft = sentReply.extend({ draftId: uuid });

const SENT = { 'message-id-header': sentDraft, 'message-id': sentDraft.extend({ messageId: uuid }) };

/** The bodies of the successful replies of these operations. */
export const draftReplies = defineReplies({
  createDraft: () => draft,
  listDrafts: (readBehaviour) => LIST_REPLIES[readBehaviour('drafts.list.reply')],
  getDraft: () => draft,
  updateDraft: () => draft,
  deleteDraft: (readBehaviour) => DELETE_REPLIES[readBehaviour('drafts.delete.body')],
  sendDraft: (readBehaviour) => SENT[readBehaviour('sending.reply')],
});
