import { z } from 'zod';
import { defineReplies } from '../../operation.ts';
import { pagination } from '../../query.ts';
import { timestamp, uuid } from '../../schemas.ts';
import { deleteReplies } from './common.ts';
import { sentReply } from './sending.ts';

const draft = () =>
  z.strictObject({
    id: uuid(),
    inboxId: uuid(),
    to: z.array(z.string()),
    cc: z.array(z.string()),
    bcc: z.array(z.string()),
    subject: z.string().nullable(),
    plainBody: z.string().nullable(),
    htmlBody: z.string().nullable(),
    replyToMessageId: uuid().nullable(),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  });

const listReplies = () => ({
  drafts: z.strictObject({ drafts: z.array(draft()) }),
  'with-pagination': z.strictObject({ drafts: z.array(draft()), pagination: pagination() }),
});

const sentDraft = () => sentReply().extend({ draftId: uuid() });

const sent = () => ({ 'message-id-header': sentDraft(), 'message-id': sentDraft().extend({ messageId: uuid() }) });

/** The bodies of the successful replies of these operations. */
export const draftReplies = defineReplies({
  createDraft: draft,
  listDrafts: (readBehaviour) => listReplies()[readBehaviour('drafts.list.reply')],
  getDraft: draft,
  updateDraft: draft,
  deleteDraft: (readBehaviour) => deleteReplies()[readBehaviour('drafts.delete.body')],
  sendDraft: (readBehaviour) => sent()[readBehaviour('sending.reply')],
});
