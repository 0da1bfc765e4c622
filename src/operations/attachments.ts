import { outOfScope, scopeOfInbox, withId } from '../access/find-in-scope.ts';
import { findMessage } from '../access/find-message.ts';
import { filenameParameters } from '../contract/content-disposition.ts';
import { mediaTypeOf } from '../mail/mime/media-type.ts';
import type { Run } from './context.ts';
import { showAttachment } from './replies/show-message.ts';

export const listAttachments: Run<'listAttachments'> = (context, { params }) => {
  const { message } = findMessage(context, params);
  const attachments = context.principal.world.attachments.by('messageId', message.id);
  return { body: { attachments: attachments.map(showAttachment) } };
};

export const getAttachment: Run<'getAttachment'> = (context, { params }) => {
  const { message } = findMessage(context, params);
  const row = context.principal.world.attachments.get(params.attachmentId);
  if (row?.messageId !== message.id) {
    throw outOfScope(context, withId('attachment'), (world) => {
      const messageId = world.attachments.get(params.attachmentId)?.messageId ?? '';
      return scopeOfInbox(world, world.messages.get(messageId)?.inboxId);
    });
  }
  const disposition = context.readBehaviour('messages.attachments.disposition');
  return {
    body: row.content,
    headers: {
      'content-type': mediaTypeOf(row.contentType),
      'content-disposition': `${disposition}; ${filenameParameters(row.filename)}`,
      // These headers keep a browser from running the attachment as a page of this origin.
      'x-content-type-options': 'nosniff',
      'content-security-policy': 'sandbox',
    },
  };
};
