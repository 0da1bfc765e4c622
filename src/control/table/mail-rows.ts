import { z } from 'zod';
import { fromBase64 } from '../../basics/base64.ts';
import { escapeHtml } from '../../basics/markup.ts';
import { composedMessage, rawMessage } from '../../contract/incoming-message.ts';
import { MAX_MAIL_BYTES } from '../../contract/mail-limits.ts';
import { queryFlag } from '../../contract/query.ts';
import { type Mail, mailReply } from '../../service/mail/show-mail.ts';
import { anyCorrespondent, correspondentBody } from '../correspondent-options.ts';
import { addedInbox, inboxSettings } from '../inbox-controls.ts';
import { inlineImages } from '../mail/inline-images.ts';
import { mailQuery, waitQuery } from '../mail/mail-filter.ts';
import { detailsReply, type MailInspection, tenantSummary } from '../mail/mail-inspection.ts';
import { draftFilter, draftsReply, mailSearchQuery, mailSelection, pageReply } from '../mail/mail-search.ts';
import { foundMailReply } from '../mail/message-controls.ts';
import { knownSamplesReply, receivedMessage, samplesReply, showSamples } from '../samples/delivered-samples.ts';
import { incomingSample } from '../samples/incoming-sample.ts';
import { addBaseUrlToSample } from '../samples/receive-sample.ts';
import { storyReply } from '../verdicts/story.ts';
import { defineControl, fileReply, idInPath } from './row.ts';

/** The elements that can make a browser connect to a server although the policy of the page forbids every request. */
const CONNECTING_ELEMENT = /<(?=(?:link|meta|i?frame|object|embed|portal)[\s/>])/gi;

/** Returns the page that shows a mail: its HTML with the images that it contains or, without HTML, its text. */
function pageOf(mailbox: MailInspection, { id, htmlBody, plainBody }: Pick<Mail, 'id' | 'htmlBody' | 'plainBody'>) {
  if (htmlBody === null) {
    return `<!doctype html><pre>${escapeHtml(plainBody)}</pre>`;
  }
  return inlineImages(htmlBody, mailbox.mailSource(id)).replace(CONNECTING_ELEMENT, '<x-');
}

const correspondentsReply = z.strictObject({ correspondents: z.array(anyCorrespondent()) });

const removedReply = z.strictObject({ removed: z.int().min(0).describe('How many mails were removed.') });

/** The calls for mail, and for the correspondents that answer mail. */
export const MAIL_ROWS = {
  listCorrespondents: defineControl(
    'Lists the correspondents, oldest first.',
    { reply: correspondentsReply },
    (mailbox) => ({ correspondents: mailbox.correspondents() }),
  ),
  addCorrespondent: defineControl(
    'Adds somebody who answers the mail to an address.',
    { body: correspondentBody(), reply: anyCorrespondent(), errors: ['CONFLICT'] },
    (mailbox, { body }) => mailbox.addCorrespondent(body),
  ),
  clearCorrespondents: defineControl('Removes every correspondent.', { reply: correspondentsReply }, (mailbox) => {
    mailbox.clearCorrespondents();
    return { correspondents: mailbox.correspondents() };
  }),
  removeCorrespondent: defineControl(
    'Removes one correspondent.',
    { params: idInPath('correspondent'), reply: anyCorrespondent() },
    (mailbox, { params }) => mailbox.removeCorrespondent(params.id),
  ),
  receiveMessage: defineControl(
    'Delivers an inbound mail, given as separate fields, as raw text (RFC 5322) or as a sample.',
    {
      body: z.union([composedMessage(), rawMessage(), incomingSample()]),
      maxBodyBytes: 2 * MAX_MAIL_BYTES,
      reply: z.strictObject({ messages: z.array(receivedMessage()) }),
      errors: ['STORAGE_FULL'],
    },
    async (mailbox, { body, headers }) => ({
      messages: await mailbox.receiveMessage(addBaseUrlToSample(body, headers.get('host'))),
    }),
  ),
  listSamples: defineControl(
    'Lists the samples that were delivered, oldest first, with what the agent did: at most the latest 20 of each ' +
      'tenant, and with `sandboxes=true` of each sandbox, since the start, a reset or a restore.',
    { query: z.strictObject({ sandboxes: queryFlag().optional() }), reply: samplesReply() },
    (mailbox, { query }, whole) => {
      // Each sandbox is judged by its own journal, because agents in others may do the same.
      const all = query.sandboxes && Object.is(mailbox, whole) ? [mailbox, ...whole.sandboxes()] : [mailbox];
      return { samples: all.flatMap(showSamples) };
    },
  ),
  listKnownSamples: defineControl(
    'Lists the samples that can be delivered, by family, without twins and without those that are made from parts.',
    { reply: knownSamplesReply() },
    // The code of the samples is loaded only here, because most processes deliver none.
    async () => ({ samples: [...(await import('../samples/create-sample.ts')).samples] }),
  ),
  listMail: defineControl(
    'Lists the mail that arrived or was sent since the emulator started or was reset, oldest first. The messages ' +
      'of the fixture are not listed.',
    { query: mailQuery(), reply: z.strictObject({ messages: z.array(mailReply()) }) },
    (mailbox, { query }) => ({ messages: mailbox.messages(query) }),
  ),
  clearMail: defineControl(
    'Removes, for good, the mail that a search with the same fields finds.',
    { query: mailSelection(), reply: removedReply },
    (mailbox, { query }) => ({ removed: mailbox.clearMail(query) }),
  ),
  waitForMessage: defineControl(
    'Waits for a mail and shows it, with the code and the link that its reader is meant to use.',
    { query: waitQuery(), reply: foundMailReply(), errors: ['CONFLICT'] },
    (mailbox, { query }) => mailbox.waitForMessage(query),
  ),
  listTenants: defineControl(
    'Lists the tenants and sandboxes, oldest first, with their workspaces, inboxes and numbers of messages.',
    { reply: z.strictObject({ tenants: z.array(tenantSummary()) }) },
    (mailbox) => ({ tenants: mailbox.tenants() }),
  ),
  addInbox: defineControl(
    'Adds an inbox with its key, to a tenant or to a new one.',
    {
      takesSandbox: false,
      body: addedInbox(),
      reply: inboxSettings(),
      errors: ['NOT_FOUND', 'FORBIDDEN', 'CONFLICT', 'USERNAME_TAKEN'],
    },
    (_mailbox, { body }, wholeMailbox) => wholeMailbox.addInbox(body),
  ),
  searchMail: defineControl(
    'Searches all mail, including the mail of the fixture, newest first.',
    { query: mailSearchQuery(), reply: pageReply() },
    (mailbox, { query }) => mailbox.searchMail(query),
  ),
  listDrafts: defineControl(
    'Lists the drafts of all inboxes, newest first: the draft that was changed last comes first.',
    { query: draftFilter(), reply: draftsReply() },
    (mailbox, { query }) => mailbox.drafts(query),
  ),
  getLatestMailHtml: defineControl(
    'Shows the HTML of the newest matching mail since the start, or waits for such a mail; for browser tests.',
    { content: 'text/html', query: waitQuery(), reply: z.string(), errors: ['CONFLICT'] },
    async (mailbox, { query }) => pageOf(mailbox, await mailbox.waitForMessage(query)),
  ),
  getMailHtml: defineControl(
    'Shows the HTML of a mail and nothing else. No script runs, and nothing is loaded.',
    { content: 'text/html', params: idInPath('message'), reply: z.string() },
    (mailbox, { params }) => pageOf(mailbox, mailbox.mail(params.id)),
  ),
  getMail: defineControl(
    'Shows a mail with everything that is known about it. The mail is not marked as read.',
    { params: idInPath('message'), reply: detailsReply() },
    (mailbox, { params }) => mailbox.mail(params.id),
  ),
  removeMail: defineControl(
    'Removes a mail for good, with its files.',
    { params: idInPath('message'), reply: removedReply },
    (mailbox, { params }) => {
      mailbox.removeMail(params.id);
      return { removed: 1 };
    },
  ),
  explainMail: defineControl(
    'Tells what became of a mail: which webhooks were called for it or why not, who read it, what was sent because of ' +
      'it, and what is still due.',
    { params: idInPath('message'), reply: storyReply() },
    (mailbox, { params }) => mailbox.explain(params.id),
  ),
  getMailSource: defineControl(
    'Sends the raw text of a mail (RFC 5322), to be saved as a file.',
    { content: 'application/octet-stream', params: idInPath('message'), reply: fileReply },
    (mailbox, { params: { id } }) => ({ filename: `${id}.eml`, content: mailbox.mailSource(id) }),
  ),
  getMailFile: defineControl(
    'Sends a file of a mail, to be saved as a file.',
    {
      content: 'application/octet-stream',
      params: idInPath('message').extend({ fileId: z.string().describe('The id of a file of the message.') }),
      reply: fileReply,
    },
    (mailbox, { params: { id, fileId } }) => {
      const { filename, content } = mailbox.mailFile(id, fileId);
      return { filename, content: fromBase64(content) };
    },
  ),
};
