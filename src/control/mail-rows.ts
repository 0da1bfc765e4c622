import { z } from 'zod';
import { fromBase64, isBytes } from '../contract/base64.ts';
import { inlineImages } from '../mail/mime/inline-images.ts';
import type { Mail } from '../mail/show-mail.ts';
import { CONTROL_PATH } from './control-path.ts';
import type { ControllableMailbox } from './controllable-mailbox.ts';
import { waitQuery } from './mail-filter.ts';
import { mailSearchQuery } from './mail-search.ts';
import { type ControlRow, defineControl } from './row.ts';
import { mailPageOf } from './write-reply.ts';

const MESSAGE_PATH = `${CONTROL_PATH}/messages/{id}`;

const count = z.int().min(0);
const texts = z.array(z.string());
const time = z.iso.datetime({ precision: 3 });

const inbox = z.strictObject({
  ...{ id: z.string(), address: z.string(), displayName: z.string().nullable(), isPaused: z.boolean() },
  messages: count.describe('Without those in the trash.'),
  unread: count,
});

const tenantsReply = z.strictObject({
  tenants: z.array(
    z.strictObject({
      ...{ id: z.string(), name: z.string(), isSandbox: z.boolean() },
      workspaces: z.array(z.strictObject({ id: z.string(), name: z.string(), inboxes: z.array(inbox) })),
    }),
  ),
});

const summary = z.strictObject({
  ...{ id: z.string(), tenantId: z.string(), inboxId: z.string(), threadId: z.string() },
  direction: z.enum(['inbound', 'outbound']),
  ...{ from: z.string(), to: texts, subject: z.string(), snippet: z.string() },
  receivedAt: time.describe("By the tenant's clock."),
  ...{ isRead: z.boolean(), isStarred: z.boolean(), attachments: count, messagesInThread: count },
});

const pageReply = z.strictObject({
  total: count,
  index: count
    .nullable()
    .describe('The place of the message that `indexOf` names; null if the search did not find it.'),
  messages: z.array(summary).describe('Newest first.'),
});

const file = z.strictObject({ id: z.string(), filename: z.string(), contentType: z.string(), sizeBytes: count });

const headerField = z.strictObject({ name: z.string(), value: z.string(), isTrace: z.boolean() });

const detailsReply = summary.extend({
  ...{ inbox: z.string(), cc: texts, bcc: texts, replyTo: z.string().nullable() },
  ...{ plainBody: z.string(), htmlBody: z.string().nullable() },
  ...{ messageIdHeader: z.string(), inReplyTo: z.string().nullable(), references: texts },
  ...{ isArchived: z.boolean(), deletedAt: time.nullable(), bouncedAt: time.nullable() },
  headers: z.array(headerField).describe('Each field of the raw form, in order; `isTrace` if the emulator added it.'),
  files: z.array(file),
  links: texts.describe('The web addresses that it links to, each once.'),
  thread: z.array(summary).describe('Oldest first, this one and deleted ones too.'),
  api: z.record(z.string(), z.unknown()).describe('What the service replies to a request for this message.'),
});

const params = z.object({ id: z.string().describe('The id of a message.') });

/** A file that a browser saves. */
const fileReply = z
  .custom<{ readonly filename: string; readonly content: Uint8Array }>((value) => isBytes(value))
  .meta({ type: 'string', description: 'The bytes.' });

const htmlReply = z.string();

/** Returns the page that shows a mail, with the images that it contains. */
function pageOf(mailbox: ControllableMailbox, mail: Pick<Mail, 'id' | 'htmlBody' | 'plainBody'>) {
  const htmlBody = mail.htmlBody && inlineImages(mail.htmlBody, mailbox.mailSource(mail.id));
  return mailPageOf({ plainBody: mail.plainBody, htmlBody });
}

/** The control calls that show mail. They change nothing. */
export const MAIL_ROWS: readonly ControlRow[] = [
  defineControl({
    id: 'listTenants',
    method: 'GET',
    path: `${CONTROL_PATH}/tenants`,
    summary: 'Lists the tenants and sandboxes, with their workspaces, inboxes and numbers of messages.',
    takesSandbox: true,
    reply: tenantsReply,
    run: (mailbox) => ({ tenants: mailbox.tenants() }),
  }),
  defineControl({
    id: 'searchMail',
    method: 'GET',
    path: `${CONTROL_PATH}/messages/search`,
    summary: 'Searches all mail, that of the fixture too, newest first.',
    takesSandbox: true,
    query: mailSearchQuery,
    reply: pageReply,
    errors: ['NOT_FOUND'],
    run: (mailbox, { query }) => mailbox.searchMail(query),
  }),
  defineControl({
    id: 'getLatestMailHtml',
    method: 'GET',
    path: `${CONTROL_PATH}/messages/latest.html`,
    summary: 'Shows the HTML of the newest mail since the start that matches, or waits for it, for browser tests.',
    takesSandbox: true,
    content: 'text/html',
    query: waitQuery,
    reply: htmlReply,
    errors: ['NOT_FOUND', 'CONFLICT'],
    run: async (mailbox, { query }) => pageOf(mailbox, await mailbox.waitForMessage(query)),
  }),
  defineControl({
    id: 'getMailHtml',
    method: 'GET',
    path: `${MESSAGE_PATH}.html`,
    summary: 'Shows the HTML of a mail and nothing else. No script runs, and nothing is loaded.',
    takesSandbox: true,
    content: 'text/html',
    params,
    reply: htmlReply,
    errors: ['NOT_FOUND'],
    run: (mailbox, { params }) => pageOf(mailbox, mailbox.mail(params.id)),
  }),
  defineControl({
    id: 'getMail',
    method: 'GET',
    path: MESSAGE_PATH,
    summary: 'Shows a mail with everything that is known about it. It does not become read.',
    takesSandbox: true,
    params,
    reply: detailsReply,
    errors: ['NOT_FOUND'],
    run: (mailbox, { params }) => mailbox.mail(params.id),
  }),
  defineControl({
    id: 'getMailSource',
    method: 'GET',
    path: `${MESSAGE_PATH}/source`,
    summary: 'Sends a mail as RFC 5322, to be saved as a file.',
    takesSandbox: true,
    content: 'application/octet-stream',
    params,
    reply: fileReply,
    errors: ['NOT_FOUND'],
    run: (mailbox, { params: { id } }) => ({ filename: `${id}.eml`, content: mailbox.mailSource(id) }),
  }),
  defineControl({
    id: 'getMailFile',
    method: 'GET',
    path: `${MESSAGE_PATH}/files/{fileId}`,
    summary: 'Sends a file of a mail, to be saved as a file.',
    takesSandbox: true,
    content: 'application/octet-stream',
    params: params.extend({ fileId: z.string().describe('The id of a file of the message.') }),
    reply: fileReply,
    errors: ['NOT_FOUND'],
    run(mailbox, { params: { id, fileId } }) {
      const { filename, content } = mailbox.mailFile(id, fileId);
      return { filename, content: fromBase64(content) };
    },
  }),
];
