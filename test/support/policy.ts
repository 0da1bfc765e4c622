import type { DefaultKeys } from 'agent-mailbox-mock';
import { OPERATIONS, type OperationId } from '../../src/contract/operations.ts';
import type { Service } from './everywhere.ts';
import { IDS } from './ids.ts';

/** The owner of the things of a request, relative to the keys of Acme, its Support workspace and its helpdesk inbox. */
export const TARGETS = ['own', 'sibling', 'foreign'] as const;
export type Target = (typeof TARGETS)[number];

export const KEYS = {
  none: () => undefined,
  sa_: (keys: DefaultKeys) => keys.operator,
  tk_: (keys: DefaultKeys) => keys.acme.tenant,
  wk_: (keys: DefaultKeys) => keys.acme.workspaces.support,
  ak_: (keys: DefaultKeys) => keys.acme.inboxes.helpdesk,
};

export type Caller = keyof typeof KEYS;
export const CALLERS = Object.keys(KEYS) as Caller[];

type Policy = { readonly [Each in Caller]: readonly [own: number, sibling: number, foreign: number] };

/** An operation without an id in its path: the target makes no difference. */
function anywhere(statuses: Record<Caller, number>): Policy {
  return Object.fromEntries(
    Object.entries(statuses).map(([caller, status]) => [caller, [status, status, status]]),
  ) as never;
}

const NOBODY = { none: [401, 401, 401], sa_: [403, 403, 403] } as const;

/** An operation on an inbox, for the keys that reach into it. */
function inInbox(ok: number): Policy {
  return { ...NOBODY, tk_: [ok, ok, 404], wk_: [ok, 404, 404], ak_: [ok, 404, 404] };
}

/** An operation on a workspace or on something in it, which is none of an inbox key's business. */
function inWorkspace(ok: number): Policy {
  return { ...NOBODY, tk_: [ok, ok, 404], wk_: [ok, 404, 404], ak_: [403, 403, 403] };
}

const OPERATOR_ONLY = { none: 401, tk_: 403, wk_: 403, ak_: 403 };

/** Which callers may use each operation on their own things, a sibling workspace's and another tenant's. */
export const POLICY: { readonly [Id in OperationId]: Policy } = {
  createWebhook: anywhere({ none: 401, sa_: 403, tk_: 201, wk_: 201, ak_: 403 }),
  listWebhooks: anywhere({ none: 401, sa_: 403, tk_: 200, wk_: 200, ak_: 403 }),
  getWebhook: inWorkspace(200),
  updateWebhook: inWorkspace(200),
  deleteWebhook: inWorkspace(200),
  rotateInboxKey: inWorkspace(201),
  createWorkspaceKey: inWorkspace(201),
  listWorkspaceKeys: inWorkspace(200),
  deleteWorkspaceKey: inWorkspace(200),
  createTenant: anywhere({ ...OPERATOR_ONLY, sa_: 201 }),
  deleteTenant: anywhere({ ...OPERATOR_ONLY, sa_: 200 }),
  createWorkspace: anywhere({ none: 401, sa_: 403, tk_: 201, wk_: 403, ak_: 403 }),
  listWorkspaces: anywhere({ none: 401, sa_: 403, tk_: 200, wk_: 200, ak_: 403 }),
  getWorkspace: inWorkspace(200),
  /** The own workspace is the default one, which cannot be deleted. */
  deleteWorkspace: { ...NOBODY, tk_: [409, 200, 404], wk_: [403, 403, 403], ak_: [403, 403, 403] },
  createInbox: anywhere({ none: 401, sa_: 403, tk_: 201, wk_: 201, ak_: 403 }),
  listInboxes: anywhere({ none: 401, sa_: 403, tk_: 200, wk_: 200, ak_: 200 }),
  getInbox: inInbox(200),
  updateInbox: inWorkspace(200),
  deleteInbox: inWorkspace(200),
  addInboxAddress: inWorkspace(201),
  deleteInboxAddress: inWorkspace(200),
  listMessages: inInbox(200),
  getMessage: inInbox(200),
  updateMessage: inInbox(200),
  deleteMessage: inInbox(200),
  getRawMessage: inInbox(200),
  listAttachments: inInbox(200),
  getAttachment: inInbox(200),
  listAllMessages: anywhere({ none: 401, sa_: 403, tk_: 200, wk_: 200, ak_: 200 }),
  countFolders: anywhere({ none: 401, sa_: 403, tk_: 200, wk_: 200, ak_: 200 }),
  sendMessage: inInbox(200),
  replyToMessage: inInbox(200),
  replyAllToMessage: inInbox(200),
  forwardMessage: inInbox(200),
  listThreads: inInbox(200),
  getThread: inInbox(200),
  createDraft: inInbox(201),
  listDrafts: inInbox(200),
  getDraft: inInbox(200),
  updateDraft: inInbox(200),
  deleteDraft: inInbox(200),
  sendDraft: inInbox(200),
  createList: inInbox(201),
  listLists: inInbox(200),
  getList: inInbox(200),
  deleteList: inInbox(200),
  createListEntry: inInbox(201),
  listListEntries: inInbox(200),
  getListEntry: inInbox(200),
  deleteListEntry: inInbox(200),
  createDomain: anywhere({ none: 401, sa_: 403, tk_: 201, wk_: 201, ak_: 403 }),
  listDomains: anywhere({ none: 401, sa_: 403, tk_: 200, wk_: 200, ak_: 403 }),
  getDomain: inWorkspace(200),
  verifyDomain: inWorkspace(200),
  deleteDomain: inWorkspace(200),
  getMe: anywhere({ none: 401, sa_: 200, tk_: 200, wk_: 200, ak_: 200 }),
  getMetrics: anywhere({ none: 401, sa_: 403, tk_: 200, wk_: 200, ak_: 200 }),
  verifyEmail: anywhere({ none: 401, sa_: 403, tk_: 200, wk_: 200, ak_: 200 }),
  getHealth: anywhere({ none: 200, sa_: 200, tk_: 200, wk_: 200, ak_: 200 }),
};

const SUCCESS = 'success@simulator.test';

/** A body that each operation takes, where it needs one. */
export const BODIES: { readonly [Id in OperationId]?: object } = {
  createWebhook: { url: 'https://agent.example/hook', events: ['message.received'] },
  updateWebhook: { isActive: false },
  createTenant: { name: 'Initech' },
  createWorkspace: { name: 'Research' },
  createInbox: { username: 'newcomer' },
  updateInbox: { displayName: 'Somebody else' },
  addInboxAddress: { email: 'further@mailbox.test' },
  updateMessage: { isStarred: true },
  sendMessage: { to: SUCCESS, subject: 'Hello' },
  replyToMessage: { plainBody: 'Yes.' },
  replyAllToMessage: { plainBody: 'Yes.' },
  forwardMessage: { to: SUCCESS },
  createDraft: { subject: 'Later' },
  updateDraft: { subject: 'Even later' },
  createList: { name: 'Friends' },
  createListEntry: { email: 'friend@example.com' },
  createDomain: { domain: 'new.example' },
  verifyEmail: { email: 'ada@example.com' },
};

/** The things of a target, by the segment that stands before their id in a path. */
const THINGS = {
  own: {
    tenants: IDS.acme.tenant,
    workspaces: IDS.acme.workspaces.support,
    keys: IDS.acme.keys.support,
    webhooks: IDS.acme.webhooks.support,
    domains: 'mail.acme.test',
    inboxes: IDS.acme.inboxes.helpdesk,
    messages: IDS.acme.messages.cannotLogIn,
    attachments: IDS.acme.attachments.loginError,
    threads: IDS.acme.threads.login,
    drafts: IDS.acme.drafts.helpdesk,
    lists: IDS.acme.lists.customers,
    entries: IDS.acme.entries.dana,
  },
  /** Its webhook and its domain are tenant-wide: they belong to no workspace. */
  sibling: {
    tenants: IDS.acme.tenant,
    workspaces: IDS.acme.workspaces.sales,
    keys: IDS.acme.keys.sales,
    webhooks: IDS.acme.webhooks.everything,
    domains: 'acme.test',
    inboxes: IDS.acme.inboxes.outreach,
    messages: IDS.acme.messages.talk,
    threads: IDS.acme.threads.talk,
  },
  foreign: {
    tenants: IDS.globex.tenant,
    workspaces: IDS.globex.workspaces.main,
    keys: IDS.globex.keys.main,
    webhooks: IDS.globex.webhooks.everything,
    domains: 'globex.test',
    inboxes: IDS.globex.inboxes.info,
    messages: IDS.globex.messages.hours,
    threads: IDS.globex.threads.hours,
  },
};

export type Things = Readonly<Record<string, string>>;

/** Ids that nothing has. */
export const NOTHING: Things = new Proxy(
  {},
  { get: (_, segment) => (segment === 'domains' ? 'none.test' : IDS.nobody) },
);

const ALIASES: Things = { reply: 'messages', 'reply-all': 'messages', forward: 'messages' };

/** The path of an operation, with the ids of things in it. */
export function pathTo(id: OperationId, things: Things): string {
  return OPERATIONS[id].path.replace(/([a-z-]+)\/\{\w+\}/g, (_, segment: string) => {
    const thing = things[ALIASES[segment] ?? segment];
    if (thing === undefined) throw new Error(`The path of ${id} needs an id of ${segment}.`);
    return `${segment}/${encodeURIComponent(thing)}`;
  });
}

/** Calls an operation as its row is called in every test here. */
export function call({ send, mailbox }: Service, id: OperationId, caller: Caller, things: Things) {
  const key = KEYS[caller](mailbox.keys);
  const json = BODIES[id];
  return send(OPERATIONS[id].method, pathTo(id, things), {
    ...(key !== undefined && { key }),
    ...(json && { json }),
  });
}

/** The tenant key that reaches a target. */
const masterOf = ({ mailbox }: Service, target: Target) =>
  target === 'foreign' ? mailbox.keys.globex.tenant : mailbox.keys.acme.tenant;

/** What the fixture lacks, made through the API: so a 404 is about scope, and not about absence. */
const MAKE: { readonly [Segment in string]?: (service: Service, target: Target, things: Things) => Promise<string> } = {
  async addresses(service, target, { inboxes }) {
    const email = `further-${target}@mailbox.test`;
    await make(service, target, `/v1/inboxes/${inboxes}/addresses`, { email });
    return email;
  },
  async drafts(service, target, { inboxes }) {
    return (await make(service, target, `/v1/inboxes/${inboxes}/drafts`, { to: SUCCESS })).id;
  },
  async lists(service, target, { inboxes }) {
    return (await make(service, target, `/v1/inboxes/${inboxes}/lists`, { name: 'Contacts' })).id;
  },
  async entries(service, target, { inboxes, lists }) {
    const path = `/v1/inboxes/${inboxes}/lists/${lists}/entries`;
    return (await make(service, target, path, { email: 'lee@prospect.test' })).id;
  },
};

async function make({ send, ...service }: Service, target: Target, path: string, json: object) {
  const reply = await send('POST', path, { key: masterOf({ send, ...service }, target), json });
  if (reply.status !== 201) throw new Error(`${path} answered ${reply.status}, so the test cannot begin.`);
  return reply.json;
}

/** The things of a target that the path of an operation names, made where the fixture has none. */
export async function prepare(service: Service, id: OperationId, target: Target): Promise<Things> {
  const things: Record<string, string> = { ...THINGS[target] };
  for (const [, segment = ''] of OPERATIONS[id].path.matchAll(/([a-z-]+)\/\{\w+\}/g)) {
    if (segment === 'attachments' && !('attachments' in things))
      Object.assign(things, await forwarded(service, target));
    else things[segment] ??= (await MAKE[segment]?.(service, target, things)) ?? '';
  }
  return things;
}

/** A message with an attachment in the inbox of a target: the helpdesk's, forwarded to it. */
async function forwarded(service: Service, target: Target): Promise<Things> {
  const { inboxes, messages } = THINGS.own;
  const to = target === 'sibling' ? 'outreach@acme.test' : 'info@globex.test';
  const key = service.mailbox.keys.acme.tenant;
  await service.send('POST', `/v1/inboxes/${inboxes}/forward/${messages}`, { key, json: { to } });
  const path = `/v1/inboxes/${THINGS[target].inboxes}/messages`;
  const arrived = (await service.send('GET', path, { key: masterOf(service, target) })).json.messages[0];
  return { messages: arrived.id, attachments: arrived.attachments[0].id };
}
