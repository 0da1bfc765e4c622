import type { Service } from './everywhere.ts';
import { IDS } from './ids.ts';
import type { Reply, SendOptions } from './send.ts';

/** The part of a test's mailbox that the clients use, in either runtime. */
interface MailboxAccess {
  readonly mailbox: {
    readonly keys: {
      readonly acme: { readonly inboxes: Record<'helpdesk' | 'billing' | 'outreach', string> };
      readonly globex: { readonly inboxes: Record<'info', string> };
    };
  };
  send(method: string, path: string, options?: SendOptions): Promise<Reply>;
}

/** Addresses of the inboxes of `fixtures/default.json`, and two outside the emulator. */
export const ADDRESS = {
  helpdesk: 'helpdesk@acme.test',
  billing: 'billing@acme.test',
  outreach: 'outreach@acme.test',
  info: 'info@globex.test',
  dana: 'dana@customer.test',
  stranger: 'nobody.known@elsewhere.test',
} as const;

// biome-ignore lint/suspicious/noExplicitAny: replies are checked against the contract where they are sent.
type Json = any;

/** A client of one inbox of `fixtures/default.json`, which uses the inbox key. */
export interface InboxClient {
  readonly id: string;
  readonly key: string;
  readonly address: string;
  call(method: string, path: string, json?: unknown): Promise<Reply>;
  /** Sends a message, to unverified recipients too, and returns the body of the reply. */
  mail(to: string | string[], more?: Record<string, unknown>): Promise<Json>;
  /** The messages of a page, oldest first, although the page has the newest first. */
  list(query?: string): Promise<Json[]>;
  /** The latest message that arrived. */
  latest(): Promise<Json>;
}

/** Creates a client for each inbox of both tenants. */
export function openInboxClients({
  mailbox,
  send,
}: MailboxAccess): Record<'helpdesk' | 'billing' | 'outreach' | 'info', InboxClient> {
  const { acme, globex } = mailbox.keys;
  const open = (name: 'helpdesk' | 'billing' | 'outreach' | 'info', id: string, key: string): InboxClient => {
    const call = (method: string, path: string, json?: unknown) =>
      send(method, `/v1/inboxes/${id}${path}`, { key, ...(json !== undefined && { json }) });
    const list = async (query = '') => (await call('GET', `/messages${query}`)).json.messages.reverse();
    return {
      id,
      key,
      address: ADDRESS[name],
      call,
      list,
      mail: async (to, more = {}) =>
        (await call('POST', '/send', { to, subject: 'Hello', plainBody: 'Hello!', verified: true, ...more })).json,
      latest: async () => (await list('?direction=inbound&limit=1')).at(-1),
    };
  };
  return {
    helpdesk: open('helpdesk', IDS.acme.inboxes.helpdesk, acme.inboxes.helpdesk),
    billing: open('billing', IDS.acme.inboxes.billing, acme.inboxes.billing),
    outreach: open('outreach', IDS.acme.inboxes.outreach, acme.inboxes.outreach),
    info: open('info', IDS.globex.inboxes.info, globex.inboxes.info),
  };
}

/** Writes and sends a draft, and answers the reply. */
export async function sendDraft(inboxClient: InboxClient, draft: object) {
  const { json } = await inboxClient.call('POST', '/drafts', draft);
  return inboxClient.call('POST', `/drafts/${json.id}/send`);
}

/** Gives an inbox of Acme a further address. */
export const addAddress = ({ send, mailbox }: Service, id: string, email: string, primary = false) =>
  send('POST', `/v1/inboxes/${id}/addresses`, { key: mailbox.keys.acme.tenant, json: { email, primary } });
