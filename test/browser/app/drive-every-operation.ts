import type { Mailbox } from 'agent-mailbox-mock';
import { OPERATIONS, type OperationId } from '../../../src/contract/operations.ts';
import { IDS } from '../../support/ids.ts';

/** Sends a request: `fetch`, or what stands in for it. */
export type Send = (url: string, init: RequestInit) => Promise<Response>;

/** One call and what it was answered. */
export interface Step {
  readonly operation: OperationId;
  readonly status: number;
  readonly headers: Record<string, string>;
  /** The parsed body, or the text of one that is no JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: the steps look into replies of every shape.
  readonly body: any;
}

interface CallOptions {
  readonly key?: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly json?: unknown;
}

/** Calls an operation and returns the body of the reply. */
type Call = (operation: OperationId, options?: CallOptions) => Promise<Step['body']>;

type Keys = Mailbox['keys'];

/** Calls every operation of the table at least once, and goes on to use what came out of it. */
export async function driveEveryOperation(
  { baseUrl, keys }: Pick<Mailbox, 'baseUrl' | 'keys'>,
  send: Send,
): Promise<Step[]> {
  const steps: Step[] = [];

  async function call(
    operation: OperationId,
    { key, params = {}, query, json }: CallOptions = {},
  ): Promise<Step['body']> {
    const { method, path } = OPERATIONS[operation];
    const search = query ? `?${new URLSearchParams(query)}` : '';
    const url = baseUrl + path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(params[name] ?? '')) + search;
    const response = await send(url, {
      method,
      headers: { ...(key && { 'X-API-Key': key }), ...(json !== undefined && { 'Content-Type': 'application/json' }) },
      ...(json !== undefined && { body: JSON.stringify(json) }),
    });
    const isJson = response.headers.get('content-type') === 'application/json';
    const body = await (isJson ? response.json() : response.text());
    steps.push({ operation, status: response.status, headers: Object.fromEntries(response.headers), body });
    return body;
  }

  await call('getHealth');
  for (const drive of STORIES) await drive(call, keys);
  return steps;
}

const STORIES = [
  driveWebhooks,
  driveMessages,
  driveDrafts,
  driveLists,
  driveDomains,
  driveWorkspaces,
  driveKeys,
  driveTenants,
];

const HELPDESK = { id: IDS.acme.inboxes.helpdesk };

async function driveWebhooks(call: Call, { acme: { tenant: key } }: Keys): Promise<void> {
  await call('listWebhooks', { key });
  const json = { url: 'https://agent.example/hook', events: ['message.received'] };
  const { id } = await call('createWebhook', { key, json });
  await call('updateWebhook', { key, params: { id }, json: { isActive: false } });
  await call('getWebhook', { key, params: { id } });
  await call('listWebhooks', { key });
  await call('deleteWebhook', { key, params: { id } });
  await call('deleteWebhook', { key, params: { id } });
}

async function driveMessages(call: Call, { acme }: Keys): Promise<void> {
  const key = acme.inboxes.helpdesk;
  const received = { ...HELPDESK, messageId: IDS.acme.messages.cannotLogIn };
  await call('getMe', { key });
  await call('verifyEmail', { key, json: { email: 'nobody@mailbox.test' } });
  await call('getMessage', { key, params: received });
  await call('listAttachments', { key, params: received });
  await call('getAttachment', { key, params: { ...received, attachmentId: IDS.acme.attachments.loginError } });
  const bodies = { plainBody: 'Grüße ✉', htmlBody: '<p>Grüße ✉</p>' };
  await call('replyToMessage', { key, params: received, json: bodies });
  await call('replyAllToMessage', { key, params: received, json: bodies });
  const forwarded = await call('forwardMessage', { key, params: received, json: { to: 'dana@customer.test' } });
  await call('getRawMessage', { key, params: { ...HELPDESK, messageId: forwarded.id } });
  const json = {
    to: ['billing@acme.test', 'Ünal <bounce@simulator.test>'],
    subject: 'Grüße',
    ...bodies,
    verified: true,
  };
  const sent = await call('sendMessage', { key, params: HELPDESK, json });
  const params = { ...HELPDESK, messageId: sent.id };
  await call('getRawMessage', { key, params });
  await call('listMessages', { key: acme.tenant, params: { id: IDS.acme.inboxes.billing } });
  await call('updateMessage', { key, params, json: { isStarred: true } });
  await call('listAllMessages', { key, query: { folder: 'starred' } });
  await call('deleteMessage', { key, params });
  await call('getMessage', { key, params });
  await call('getThread', { key, params: { ...HELPDESK, threadId: sent.threadId } });
  await call('listThreads', { key, params: HELPDESK, query: { limit: '2' } });
  await call('countFolders', { key: acme.tenant });
  await call('getMetrics', { key: acme.tenant });
}

async function driveDrafts(call: Call, { acme: { tenant: key } }: Keys): Promise<void> {
  const json = { to: 'dana@customer.test', replyToMessageId: IDS.acme.messages.thanks };
  const { id: draftId } = await call('createDraft', { key, params: HELPDESK, json });
  const params = { ...HELPDESK, draftId };
  await call('updateDraft', { key, params, json: { plainBody: 'You are welcome' } });
  await call('getDraft', { key, params });
  await call('sendDraft', { key, params });
  await call('sendDraft', { key, params });
  await call('deleteDraft', { key, params: { ...HELPDESK, draftId: IDS.acme.drafts.helpdesk } });
  await call('listDrafts', { key, params: HELPDESK });
}

async function driveLists(call: Call, { acme: { tenant: key } }: Keys): Promise<void> {
  const { id: listId } = await call('createList', { key, params: HELPDESK, json: { name: 'Friends' } });
  const list = { ...HELPDESK, listId };
  const { id: entryId } = await call('createListEntry', { key, params: list, json: { email: 'ada@customer.test' } });
  await call('getListEntry', { key, params: { ...list, entryId } });
  await call('listListEntries', { key, params: list });
  await call('getList', { key, params: list });
  await call('deleteListEntry', { key, params: { ...list, entryId } });
  await call('deleteList', { key, params: list });
  await call('listLists', { key, params: HELPDESK });
}

async function driveDomains(call: Call, { acme: { tenant: key } }: Keys): Promise<void> {
  const params = { domain: 'fresh.example' };
  await call('createDomain', { key, json: params });
  await call('getDomain', { key, params });
  await call('verifyDomain', { key, params });
  await call('deleteDomain', { key, params });
  await call('listDomains', { key });
}

async function driveWorkspaces(call: Call, { acme: { tenant: key } }: Keys): Promise<void> {
  const { id: workspaceId } = await call('createWorkspace', { key, json: { name: 'Field Work' } });
  const inbox = await call('createInbox', { key, json: { username: 'scout', workspaceId } });
  await call('createInbox', { key, json: { username: 'scout' } });
  const params = { id: inbox.id };
  await call('addInboxAddress', { key, params, json: { email: 'ranger@mailbox.test' } });
  await call('getInbox', { key, params });
  await call('deleteInboxAddress', { key, params: { ...params, address: 'ranger@mailbox.test' } });
  await call('updateInbox', { key, params, json: { displayName: 'Scout', metadata: { team: 7 } } });
  await call('listInboxes', { key, query: { workspace: workspaceId } });
  await call('deleteInbox', { key, params });
  await call('getMe', { key: inbox.apiKey });
  await call('getWorkspace', { key, params: { id: workspaceId } });
  await call('deleteWorkspace', { key, params: { id: workspaceId } });
  await call('listWorkspaces', { key });
}

async function driveKeys(call: Call, { acme }: Keys): Promise<void> {
  const key = acme.tenant;
  const rotated = await call('rotateInboxKey', { key, params: HELPDESK });
  await call('rotateInboxKey', { key: acme.inboxes.helpdesk, params: HELPDESK });
  await call('rotateInboxKey', { key: rotated.key, params: HELPDESK });
  const support = { id: IDS.acme.workspaces.support };
  const created = await call('createWorkspaceKey', { key, params: support, json: { name: 'from a page' } });
  await call('listWorkspaceKeys', { key: created.key, params: support });
  await call('deleteWorkspaceKey', { key, params: { ...support, key_id: created.id } });
  await call('listWebhooks', { key: created.key });
}

async function driveTenants(call: Call, { operator }: Keys): Promise<void> {
  const { id, apiKey } = await call('createTenant', { key: operator, json: { name: 'Initech' } });
  await call('listWebhooks', { key: apiKey });
  await call('deleteTenant', { key: operator, params: { id } });
  await call('listWebhooks', { key: apiKey });
}
