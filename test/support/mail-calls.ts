import type { Reply, Service } from './everywhere.ts';
import { IDS } from './ids.ts';
import { ADDRESS, type openInboxClients } from './inbox-clients.ts';

const MESSAGES = IDS.acme.messages;

/** The clients of the inboxes of both tenants. */
export type InboxClients = ReturnType<typeof openInboxClients>;

/** Requests about mail, of which the reply to the last one counts. */
export type MailCall = (inboxClients: InboxClients, service: Service) => Promise<Reply>;

export const read: MailCall = ({ helpdesk }) => helpdesk.call('GET', `/messages/${MESSAGES.thanks}`);
export const list: MailCall = ({ helpdesk }) => helpdesk.call('GET', '/messages');
export const listAll: MailCall = ({ helpdesk }, { send }) => send('GET', '/v1/messages', { key: helpdesk.key });
export const readThread: MailCall = ({ helpdesk }) => helpdesk.call('GET', `/threads/${IDS.acme.threads.login}`);
/** Returns the message of a reply, or the first of its messages that came in. */
export const firstOf = (json: Reply['json']) =>
  (json.messages ?? [json]).find(({ direction }: { direction: string }) => direction === 'inbound');
export const sendTo =
  (to: string): MailCall =>
  ({ helpdesk }) =>
    helpdesk.call('POST', '/send', { to, subject: 'Hi' });
export const sendToNamed: MailCall = async ({ helpdesk }) => {
  const recipients = {
    to: 'Info <Info@globex.test>',
    cc: '"B, of Acme" <billing@acme.test>',
    bcc: 'Ada <ada@example.com>',
  };
  const { json } = await helpdesk.call('POST', '/send', { ...recipients, subject: 'Hi', verified: true });
  return helpdesk.call('GET', `/messages/${json.id}`);
};
export const forward: MailCall = ({ helpdesk }) =>
  helpdesk.call('POST', `/forward/${MESSAGES.cannotLogIn}`, { to: ADDRESS.stranger, plainBody: 'See.' });
export const sendDraft: MailCall = async ({ helpdesk }) => {
  const { json } = await helpdesk.call('POST', '/drafts', { bcc: ADDRESS.stranger });
  return helpdesk.call('POST', `/drafts/${json.id}/send`);
};
export const replyToAll: MailCall = async ({ helpdesk, info }) => {
  await info.mail([helpdesk.address, ADDRESS.stranger]);
  return helpdesk.call('POST', `/reply-all/${(await helpdesk.latest()).id}`, {});
};
export const readRaw: MailCall = async ({ helpdesk }, { mailbox }) => {
  const [arrived] = await mailbox.receiveMessage({ to: helpdesk.address, from: ADDRESS.dana });
  return helpdesk.call('GET', `/messages/${arrived?.id}/raw`);
};
export const deleteThen =
  (method: string, path: string, json?: object): MailCall =>
  async ({ helpdesk }) => {
    await helpdesk.call('DELETE', `/messages/${MESSAGES.thanks}`);
    return helpdesk.call(method, path, json);
  };
export const deleteThenRead = deleteThen('GET', `/messages/${MESSAGES.thanks}`);
export const deleteThenChange = deleteThen('PATCH', `/messages/${MESSAGES.thanks}`, { isRead: true });
export const deleteThenDelete = deleteThen('DELETE', `/messages/${MESSAGES.thanks}`);
export const deleteThenReply = deleteThen('POST', `/reply/${MESSAGES.thanks}`, {});
