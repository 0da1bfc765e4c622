import { toBareAddress } from '../../../contract/email-address.ts';
import { ApiError } from '../../../contract/errors.ts';
import { newId } from '../../../world/environment.ts';
import type { MessageRow } from '../../../world/store/rows.ts';
import { isOwnAddress, primaryAddress } from '../../../world/store/world.ts';
import type { InboxPrincipal } from '../../pipeline/access/principal.ts';
import { findThread } from '../incoming/accept-message.ts';
import { parseEml } from '../incoming/parse-eml.ts';
import { CRLF, formatDate } from '../mime/header.ts';
import { bytesOf, headerEnd, splitHeader, toBinary } from '../mime/split-parts.ts';
import type { MailContext } from '../store-message.ts';
import { sendMail } from './send.ts';

/**
 * Sends a mail that a program submits for an inbox, as the API does, to the recipients of its envelope. The sent mail
 * has the bytes of the submitted mail, without Bcc. A missing Date or Message-ID is added.
 *
 * @throws {ApiError} as `sendMail` does; FORBIDDEN if the inbox does not have the address in From.
 */
export function submitMail(
  context: MailContext,
  principal: InboxPrincipal,
  mail: { readonly bytes: Uint8Array; readonly recipients: readonly string[] },
): MessageRow {
  const { world, inboxId } = principal;
  const inbox = world.inboxes.get(inboxId);
  if (inbox?.deletedAt !== null) throw new ApiError('NOT_FOUND', 'The inbox was deleted.');
  const fallbackId = `<${newId(world.environment)}@${inbox.domain}>`;
  const raw = completeHeader(mail.bytes, fallbackId, new Date(world.environment.now()));
  const { from, to, cc, headers: _, ...parsed } = { headers: null, ...parseEml(raw, fallbackId).mail };
  const address = toBareAddress(from);
  if (!isOwnAddress(world, inboxId, address)) {
    throw new ApiError('FORBIDDEN', `This inbox does not have the address ${address || '<>'}, from which the mail is.`);
  }
  const recipients = [...new Set(mail.recipients.map(toBareAddress))];
  const named = new Set([...to, ...cc].map(toBareAddress));
  const threadId = findThread(world, inboxId, parsed);
  const mustHaveWritten = context.readBehaviour('submission.verified') === 'checked';
  return sendMail(context, world, inbox, {
    ...parsed,
    ...{ to, cc, bcc: recipients.filter((recipient) => !named.has(recipient)), originalMessage: null },
    recipientCheck: { recipients: mustHaveWritten ? recipients : [] },
    submission: { recipients, from, fromAddress: address || primaryAddress(world, inbox), raw, threadId, ...parsed },
  });
}

/** Returns the bytes of a mail without Bcc. A missing Date or Message-ID is added. */
function completeHeader(bytes: Uint8Array, messageId: string, date: Date): Uint8Array<ArrayBuffer> {
  const text = toBinary(bytes);
  const end = headerEnd(text);
  const fields = splitHeader(text.slice(0, end));
  const has = (name: string) => fields.some((field) => field.toLowerCase().startsWith(`${name}:`));
  const added = [
    ...(has('date') ? [] : [`Date: ${formatDate(date)}${CRLF}`]),
    ...(has('message-id') ? [] : [`Message-ID: ${messageId}${CRLF}`]),
  ];
  const kept = fields.filter((field) => !/^bcc[ \t]*:/i.test(field));
  return bytesOf([...added, ...kept, text.slice(end)].join(''));
}
