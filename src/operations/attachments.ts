import { outOfScope, scopeOfInbox, withId } from '../access/find-in-scope.ts';
import { findMessage } from '../access/find-message.ts';
import { fromBase64 } from '../contract/base64.ts';
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
    body: fromBase64(row.content),
    headers: {
      'content-type': mediaTypeOf(row.contentType),
      'content-disposition': `${disposition}; ${filenameParameters(row.filename)}`,
      // These headers keep a browser from running the attachment as a page of this origin.
      'x-content-type-options': 'nosniff',
      'content-security-policy': 'sandbox',
    },
  };
};

/** Returns the file name in ASCII for old clients and, if it differs, also in UTF-8 for all others (RFC 6266). */
function filenameParameters(filename: string): string {
  const plain = filename.replace(/[^\x20-\x7e]/g, '_').replace(/["\\]/g, '_');
  const encoded = encodeURIComponent(filename.replace(/\p{Surrogate}/gu, '_')).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16)}`,
  );
  return plain === filename ? `filename="${plain}"` : `filename="${plain}"; filename*=UTF-8''${encoded}`;
}
