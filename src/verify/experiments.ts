import { randomUUID } from 'node:crypto';
import type { BehaviourId } from '../contract/behaviours.ts';
import { type Reply, VerifyError, type VerifySession } from './verify-session.ts';

/**
 * An experiment sends requests and returns what it observed. The same experiment runs on the server, and on an emulator
 * with each value of the behaviour. If the emulator gives the same observation, the server has this value. While the
 * profile is being found, other behaviours of the server are not known yet. So an experiment returns only the part of its
 * replies that its own behaviour decides.
 */
export type Experiment = (s: VerifySession) => Promise<unknown>;

/** Experiments, by the id of the behaviour whose value they find. */
export type Experiments = { readonly [Id in BehaviourId]?: Experiment };

export const status = (reply: Reply) => reply.status;

/**
 * Returns the status of a reply, and its body. The ids, keys and times in it may differ between the server and an
 * emulator: they count as equal if both replies show them at the same place.
 */
export const statusAndBody = ({ status, text, body }: Reply) => [status, text ? body : 'no body'];

/** The subject of the last mail of an experiment. After this mail has arrived, no earlier mail can still arrive. */
export const LAST_MAIL = 'last mail';

/** Returns the sorted names of the fields of an object. */
export const fieldNames = (value: object) => Object.keys(value).toSorted();

/** Returns whether a list shows `id` before `otherId`. */
export function isBefore(list: readonly { readonly id: string }[], id: string, otherId: string): boolean {
  const ids = list.map((item) => item.id);
  if (!ids.includes(id) || !ids.includes(otherId)) throw new VerifyError('the list does not show both items');
  return ids.indexOf(id) < ids.indexOf(otherId);
}

/**
 * Returns a function that creates experiments. Each experiment creates something, sends a request about it, and returns
 * what `observe` finds in the reply.
 */
const createExperiment =
  (observe: (reply: Reply, s: VerifySession) => unknown) =>
  <Made>(
    create: (s: VerifySession) => Promise<Made>,
    ask: (made: Made, s: VerifySession) => Promise<Reply>,
  ): Experiment =>
  async (s) =>
    observe(await ask(await create(s), s), s);

/** Create experiments that observe the status of a reply, its status and body, or the field names of its body. */
export const statusOf = createExperiment(status);
export const replyOf = createExperiment(statusAndBody);
export const replyFieldsOf = createExperiment(async (reply, s) => fieldNames(await s.mustSucceed(reply)));

/** Returns an experiment that observes whether a list shows the older of two items before the newer one. */
export const orderOf =
  (create: (s: VerifySession) => Promise<Item>, list: (s: VerifySession) => Promise<readonly Item[]>): Experiment =>
  async (s) => {
    const [older, newer] = [await create(s), await create(s)];
    return isBefore(await list(s), older.id, newer.id);
  };

type Item = { readonly id: string };

/** Returns an experiment that creates something, and returns what `observe` finds in it. */
export const resultOf =
  <Made>(create: (s: VerifySession) => Promise<Made>, observe: (made: Made, s: VerifySession) => unknown): Experiment =>
  async (s) =>
    observe(await create(s), s);

export const createInbox = (s: VerifySession) => s.createInbox();
const createWebhook = (s: VerifySession) => s.createWebhook();

const UNKNOWN_INBOX = `/v1/inboxes/${randomUUID()}`;

/** Returns the statuses of the replies to requests that run at the same time. */
export const statuses = async (...replies: Promise<Reply>[]) => (await Promise.all(replies)).map(status);

/** Creates a further workspace, besides the workspace of this run, and a key of it. */
async function createWorkspace(s: VerifySession) {
  const { id } = await s.add('/v1/workspaces', { name: s.newName() });
  const key = await s.add(`/v1/workspaces/${id}/keys`, { name: 'verify' });
  return { id, path: `/v1/workspaces/${id}`, key: key.key, keyId: key.id };
}

/** Returns the options of a request that has the operator key. */
const withOperatorKey = ({ target }: VerifySession) => ({ key: target.operatorKey ?? '' });

/** Creates a tenant with the operator key. */
async function createTenant(s: VerifySession) {
  const body = await s.add('/v1/tenants', { name: s.newName() }, withOperatorKey(s));
  return { ...body, path: `/v1/tenants/${body.id}` };
}

/** Adds a new domain. */
async function createDomain(s: VerifySession, fields: object = {}) {
  const name = `${s.newName()}.example`;
  return { name, path: `/v1/domains/${name}`, body: await s.add('/v1/domains', { domain: name, ...fields }) };
}

const webhooksOf = async (s: VerifySession, key = s.target.key) => (await s.read('/v1/webhooks', { key })).webhooks;

/** Returns whether a webhook is in the list that the key of the workspace of this run gets. */
const isListed = async (s: VerifySession, { id }: Item) =>
  (await webhooksOf(s, s.workspace.key)).some((listed: Item) => listed.id === id);

/** The experiments on requests, keys, tenants, workspaces, webhooks, domains, health and metrics. */
export const resourceExperiments: Experiments = {
  'auth.both-headers': async (s) => {
    const headers = { Authorization: `Bearer ${(await s.createInbox()).key}` };
    const { status, body } = await s.get('/v1/me', { headers });
    return [status, body.tier];
  },
  'auth.empty-key': async (s) => {
    const headers = { Authorization: `Bearer ${s.target.key}`, 'X-API-Key': '' };
    return status(await s.get('/v1/me', { key: '', headers }));
  },
  'auth.scheme-case': async (s) => {
    return status(await s.get('/v1/me', { key: '', headers: { Authorization: `bearer ${s.target.key}` } }));
  },
  'auth.challenge': async (s) => (await s.get('/v1/me', { key: '' })).headers.get('www-authenticate'),
  'auth.wrong-tier': statusOf(createInbox, ({ key }, s) => s.get('/v1/webhooks', { key })),
  'errors.shape': async (s) => fieldNames((await s.get(UNKNOWN_INBOX)).body),
  'errors.statuses': (s) =>
    statuses(s.post('/v1/webhooks', { url: 1 }), s.get('/v1/webhooks', { key: '' }), s.get(UNKNOWN_INBOX)),
  'errors.foreign-resource': statusOf(createInbox, async ({ path }, s) =>
    s.get(path, { key: (await createWorkspace(s)).key }),
  ),
  'requests.wrong-method': async (s) => status(await s.call('PUT', '/v1/webhooks', {})),
  'requests.check-order': async (s) => status(await s.get(`/v1/${s.newName()}`, { key: '' })),
  'requests.trailing-slash': async (s) => status(await s.get('/v1/me/')),
  'requests.head': async (s) => status(await s.call('HEAD', '/v1/me')),
  'requests.options': async (s) => status(await s.call('OPTIONS', '/v1/me')),
  'requests.malformed-id': async (s) => status(await s.get('/v1/inboxes/not-an-id')),
  'requests.undecodable-path': async (s) => status(await s.get('/v1/inboxes/%E0%A4%A')),
  'requests.malformed-body': (s) => statuses(s.post('/v1/webhooks', '{"url":'), s.post('/v1/webhooks', '[]')),
  'requests.unknown-fields': statusOf(createInbox, ({ path }, s) =>
    s.patch(path, { displayName: 'A', [s.newName()]: 1 }),
  ),
  'requests.null-fields': async (s) => {
    const { path } = await s.createInbox({ displayName: null });
    await s.mustSucceed(s.patch(path, { displayName: 'A' }));
    await s.mustSucceed(s.patch(path, { displayName: null }));
    return (await s.read(path)).displayName ?? null;
  },
  'requests.empty-update': statusOf(createInbox, ({ path }, s) => s.patch(path, {})),
  'requests.names': async (s) => {
    const { path } = await s.createInbox({ displayName: ' A ' });
    return [(await s.read(path)).displayName, status(await s.post(`${path}/lists`, { name: ' ' }))];
  },
  'requests.equal-names': statusOf(createInbox, async ({ path }, s) => {
    await s.add(`${path}/lists`, { name: 'Verify' });
    return s.post(`${path}/lists`, { name: 'Verify' });
  }),
  'requests.pages': async (s) => {
    await s.createInbox();
    await s.createInbox();
    return (await s.read('/v1/inboxes?limit=1', { key: s.workspace.key })).inboxes.length > 1;
  },
  'requests.content-type': statusOf(createInbox, ({ path }, s) =>
    s.patch(path, { displayName: 'A' }, { headers: { 'Content-Type': 'text/plain' } }),
  ),
  'requests.query': async (s) => status(await s.get('/v1/me?unknown=1&unknown=2')),
  'requests.letter-case': statusOf(createInbox, ({ id }, s) => s.get(`/v1/inboxes/${id.toUpperCase()}`)),
  'requests.selectors': async ({ get, workspace: { id, key } }) =>
    status(await get(`/v1/messages?workspace=${id}`, { key })),

  'tenants.create.required': async (s) => status(await s.post('/v1/tenants', {}, withOperatorKey(s))),
  'tenants.create.workspace': async (s) => {
    const { workspaces } = await s.read('/v1/workspaces', { key: (await createTenant(s)).apiKey });
    return workspaces.map(({ name, isDefault }: { name: string; isDefault: boolean }) => [name, isDefault]);
  },
  'tenants.delete.body': replyOf(createTenant, ({ path }, s) => s.delete(path, withOperatorKey(s))),
  'tenants.delete.cascade': async (s) => {
    const { path, apiKey } = await createTenant(s);
    await s.delete(path, withOperatorKey(s));
    return status(await s.get('/v1/me', { key: apiKey }));
  },

  'webhooks.tiers': async (s) => status(await s.get('/v1/webhooks', { key: s.workspace.key })),
  'webhooks.create.is-active': async (s) => (await s.createWebhook()).isActive,
  'webhooks.create.secret': async (s) => /^whsec_[\w+/]{43}=$/.test((await s.createWebhook()).secret),
  'webhooks.create.required': async (s) =>
    status(await s.post('/v1/webhooks', { url: 'https://verify.invalid/', workspaceId: s.workspace.id })),
  'webhooks.create.url': async (s) => status(await s.postWebhook({ url: 'http://verify.invalid/' })),
  'webhooks.create.url-form': async (s) => (await s.createWebhook({ url: 'https://VERIFY.invalid' })).url,
  'webhooks.create.events': async (s) => status(await s.postWebhook({ events: ['message.sent'] })),
  'webhooks.create.repeated-events': async (s) =>
    (await s.createWebhook({ events: ['message.received', 'message.received'] })).events,
  'webhooks.create.same-url': async (s) => {
    const first = await s.createWebhook();
    const { url, events } = first;
    const second = await s.createWebhook({ url, events });
    return [second.id === first.id, second.secret === first.secret];
  },
  'webhooks.list.order': orderOf(createWebhook, webhooksOf),
  'webhooks.list.secret': resultOf(createWebhook, async ({ id }, s) => {
    return 'secret' in (await webhooksOf(s)).find((listed: Item) => listed.id === id);
  }),
  'webhooks.list.workspace-scope': async (s) => isListed(s, await s.createWebhook({ workspaceId: undefined })),
  'webhooks.delete.body': replyOf(createWebhook, ({ path }, s) => s.delete(path)),
  'webhooks.get.secret': async (s) => 'secret' in (await s.read((await s.createWebhook()).path)),
  'webhooks.update.secret': async (s) => {
    const { id, path } = await s.createWebhook();
    const secretNow = async () => (await webhooksOf(s)).find((listed: Item) => listed.id === id).secret;
    const before = await secretNow();
    if (before === undefined) throw new VerifyError('the list of webhooks does not show the secret');
    await s.mustSucceed(s.patch(path, { url: 'https://changed.verify.invalid/' }));
    return (await secretNow()) === before;
  },
  'webhooks.update.reply': async (s) =>
    'events' in (await s.mustSucceed(s.patch((await s.createWebhook()).path, { isActive: false }))),

  'workspaces.keys.tiers': statusOf(createWorkspace, ({ path, key }, s) => s.get(`${path}/keys`, { key })),
  'workspaces.keys.prefix': resultOf(createWorkspace, async ({ path, key, keyId }, s) => {
    const { keys } = await s.read(`${path}/keys`);
    return keys.find((listed: Item) => listed.id === keyId).prefix === key.slice(0, 9);
  }),
  'workspaces.keys.delete.body': replyOf(createWorkspace, ({ path, keyId }, s) => s.delete(`${path}/keys/${keyId}`)),
  'workspaces.read.tiers': async (s) => status(await s.get('/v1/workspaces', { key: s.workspace.key })),
  'workspaces.delete.tiers': statusOf(createWorkspace, ({ path, key }, s) => s.delete(path, { key })),
  'workspaces.create.slug': async (s) => (await s.add('/v1/workspaces', { name: `Verify ÄÖ ${s.newName()}` })).slug,
  'workspaces.create.slug-taken': async (s) => {
    const body = { name: s.newName(), slug: s.newName() };
    await s.add('/v1/workspaces', body);
    return status(await s.post('/v1/workspaces', body));
  },
  'workspaces.delete.default': statusOf(createTenant, ({ defaultWorkspaceId, apiKey }, s) =>
    s.delete(`/v1/workspaces/${defaultWorkspaceId}`, { key: apiKey }),
  ),
  'workspaces.delete.body': replyOf(createWorkspace, ({ path }, s) => s.delete(path)),
  'workspaces.delete.cascade': async (s) => {
    const { id, path } = await createWorkspace(s);
    const inbox = await s.createInbox({ workspaceId: id });
    await s.delete(path);
    return status(await s.get(inbox.path));
  },

  'domains.shape': async (s) => {
    const { body } = await createDomain(s, { workspaceId: s.workspace.id });
    return [fieldNames(body), fieldNames(body.domain)];
  },
  'domains.tiers': async (s) => status(await s.get('/v1/domains', { key: s.workspace.key })),
  'domains.create.workspace': resultOf(createDomain, ({ body }) => {
    // The behaviour `domains.shape` decides whether the reply is the domain, or has it in a field.
    const { workspaceId } = 'workspaceId' in body ? body : body.domain;
    return workspaceId === null;
  }),
  'domains.create.name': async (s) => {
    const name = `${s.newName()}.example`;
    const body = await s.add('/v1/domains', { domain: name.toUpperCase() });
    // The behaviour `domains.shape` decides whether the reply is the domain, or has it in a field.
    const shown = typeof body.domain === 'string' ? body.domain : body.domain.domain;
    return [shown === name, status(await s.post('/v1/domains', { domain: 'verify' }))];
  },
  'domains.create.taken': statusOf(createDomain, ({ name }, s) => s.post('/v1/domains', { domain: name })),
  'domains.dns-records': resultOf(createDomain, ({ body }) =>
    (body.dnsRecords ?? body.domain.records).map((record: { type: string }) => record.type).toSorted(),
  ),
  'domains.delete.body': replyOf(createDomain, ({ path }, s) => s.delete(path)),
  'health.body': async (s) => statusAndBody(await s.get('/health', { key: '' })),
  'metrics.reversed-window': async (s) =>
    status(await s.get('/v1/metrics?from=2026-01-05T00:00:00.000Z&to=2026-01-04T00:00:00.000Z')),
  'metrics.window': (s) => statuses(s.get('/v1/metrics?from=2026-01-05'), s.get('/v1/metrics?from=1767603600')),
};
