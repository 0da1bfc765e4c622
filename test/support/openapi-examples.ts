import { writeFileSync } from 'node:fs';
import { createMailbox } from 'agent-mailbox-mock';
import type { OperationId } from '../../src/contract/operations.ts';
import { OPERATION_IDS, OPERATIONS } from '../../src/contract/operations.ts';

const FILE = new URL('../../src/contract/openapi/examples.json', import.meta.url);

/** The call of an operation: the values of its path, its body and, if it is not the tenant key, its key. */
export interface Call {
  readonly params?: Readonly<Record<string, string>>;
  readonly body?: object;
  readonly key?: string;
  readonly query?: string;
}

interface Example {
  readonly params?: Readonly<Record<string, string>> | undefined;
  readonly body?: object | undefined;
  readonly reply?: unknown;
  /** The behaviours that the reply named. */
  readonly assumed: readonly string[];
}

const id = (kind: string, number = 1) => `ac3e0000-000${kind}-4000-8000-00000000000${number}`;
const inbox = { id: id('3') };
const message = { id: id('3'), messageId: id('6') };
const list = { id: id('3'), listId: id('a') };
const draft = { id: id('3'), draftId: id('9') };
const operator = 'sa_platform_operator_key';
const mail = { plainBody: 'Please try again now.' };

/** The calls, in an order in which each succeeds; those that are left out need nothing. */
export const CALLS: { readonly [Id in OperationId]?: Call } = {
  getWebhook: { params: { id: id('5') } },
  getWorkspace: { params: { id: id('2') } },
  listWorkspaceKeys: { params: { id: id('2') } },
  getInbox: { params: inbox },
  listMessages: { params: inbox, query: '?limit=1' },
  listAllMessages: { query: '?limit=1' },
  getMessage: { params: message },
  getRawMessage: { params: message },
  listAttachments: { params: message },
  getAttachment: { params: { ...message, attachmentId: id('8') } },
  listThreads: { params: inbox, query: '?limit=1' },
  getThread: { params: { id: id('3'), threadId: id('7') } },
  listDrafts: { params: inbox },
  getDraft: { params: draft },
  listLists: { params: inbox },
  getList: { params: list },
  listListEntries: { params: list },
  getListEntry: { params: { ...list, entryId: id('b') } },
  getDomain: { params: { domain: 'acme.test' } },
  verifyDomain: { params: { domain: 'mail.acme.test' } },
  createWebhook: { body: { url: 'https://agent.acme.test/mail', events: ['message.received'] } },
  updateWebhook: { params: { id: id('5') }, body: { isActive: true } },
  rotateInboxKey: { params: inbox },
  createWorkspaceKey: { params: { id: id('2') }, body: { name: 'agent' } },
  createTenant: { key: operator, body: { name: 'Initech' } },
  createWorkspace: { body: { name: 'Research' } },
  createInbox: { body: { username: 'orders', displayName: 'Acme Orders', domain: 'acme.test' } },
  updateInbox: { params: inbox, body: { displayName: 'Acme Help' } },
  addInboxAddress: { params: inbox, body: { email: 'help@acme.test', primary: false } },
  updateMessage: { params: message, body: { isRead: true, isStarred: true } },
  sendMessage: { params: inbox, body: { to: 'dana@customer.test', subject: 'Your login', ...mail } },
  replyToMessage: { params: message, body: mail },
  replyAllToMessage: { params: message, body: mail },
  forwardMessage: { params: message, body: { to: 'billing@acme.test', plainBody: 'For you.' } },
  createDraft: { params: inbox, body: { to: 'dana@customer.test', subject: 'Your login', ...mail } },
  updateDraft: { params: draft, body: { subject: 'Re: Your login' } },
  sendDraft: { params: draft },
  createList: { params: inbox, body: { name: 'Partners' } },
  createListEntry: { params: list, body: { email: 'kim@visitor.test', displayName: 'Kim' } },
  createDomain: { body: { domain: 'acme.example' } },
  verifyEmail: { body: { email: 'helpdesk@acme.test' } },
  deleteListEntry: { params: { ...list, entryId: id('b', 2) } },
  deleteList: { params: list },
  deleteMessage: { params: message },
  deleteInboxAddress: { params: { ...inbox, address: 'help@acme.test' } },
  deleteWebhook: { params: { id: id('5') } },
  deleteWorkspaceKey: { params: { id: id('2'), key_id: id('4', 2) } },
  deleteDomain: { params: { domain: 'mail.acme.test' } },
  deleteInbox: { params: { id: id('3', 2) } },
  deleteWorkspace: { params: { id: id('2', 2) } },
  deleteTenant: { key: operator, params: { id: '910be000-0001-4000-8000-000000000001' } },
};

const unlisted = OPERATION_IDS.filter((operation) => !(operation in CALLS) && operation !== 'deleteDraft');

/** Calls each operation of the default fixture, at a fixed time and with a fixed seed. */
export async function recordExamples(): Promise<Readonly<Record<string, Example>>> {
  const mailbox = createMailbox({ seed: 1 });
  await mailbox.clock.freeze('2026-01-12T09:00:00Z');
  const examples: Record<string, Example> = {};
  const order = [...unlisted, ...Object.keys(CALLS), 'deleteDraft'] as OperationId[];
  for (const operation of order) {
    const isDraft = operation === 'deleteDraft';
    const made = { id: id('3'), draftId: String((examples.createDraft?.reply as { id?: string } | undefined)?.id) };
    const { params, body, key, query = '' }: Call = isDraft ? { params: made } : (CALLS[operation] ?? {});
    const { method, path } = OPERATIONS[operation];
    const target = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params?.[name] ?? ''));
    const reply = await mailbox.fetch(mailbox.baseUrl + target + query, {
      method,
      headers: { 'X-API-Key': key ?? mailbox.keys.acme.tenant },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!reply.ok) throw new Error(`${operation}: ${await reply.text()}`);
    const isJson = reply.headers.get('content-type')?.startsWith('application/json');
    const assumed = reply.headers.get('X-Mock-Assumed')?.split(', ') ?? [];
    examples[operation] = { params, body, ...(isJson && { reply: await reply.json() }), assumed };
  }
  return Object.fromEntries(OPERATION_IDS.map((operation) => [operation, examples[operation] ?? { assumed: [] }]));
}

/** The examples as the text of their file. */
export async function examplesText(): Promise<string> {
  const examples = Object.entries(await recordExamples()).map(([id, { assumed: _, ...example }]) => [id, example]);
  return `${JSON.stringify(Object.fromEntries(examples), undefined, 1)}\n`;
}

/** Writes the file. */
export const writeExamples = async () => writeFileSync(FILE, await examplesText());
