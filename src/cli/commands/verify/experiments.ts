import { randomUUID } from 'node:crypto';
import type { BehaviourId } from '../../../contract/behaviours.ts';
import { type Answer, CannotTellError, type Session } from './verify-session.ts';

/**
 * An experiment: it sends requests and returns what it observed. The same experiment runs on the server and on
 * emulators with each value of the behaviour; the value with the same observation is the one that the server has.
 */
export type Experiment = (s: Session) => Promise<unknown>;

/** Experiments by the entry of the ledger that they tell. */
export type Experiments = { readonly [Id in BehaviourId]?: Experiment };

/** The status of a reply. */
export const status = (answer: Answer) => answer.status;

/** The forms of texts that differ between two servers. */
const FORMS: readonly (readonly [RegExp, string])[] = [
  [/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/, '<id>'],
  [/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/, '<time>'],
  [/^sa_[\w-]{10,}$/, '<sa_ key>'],
  [/^tk_[\w-]{10,}$/, '<tk_ key>'],
  [/^wk_[\w-]{10,}$/, '<wk_ key>'],
  [/^ak_[\w-]{10,}$/, '<ak_ key>'],
];

type Run = Pick<Session, 'run' | 'domain'>;

function formOf(text: string, { run, domain }: Run): string {
  const [, form] = FORMS.find(([pattern]) => pattern.test(text)) ?? [];
  const own = domain === '' ? text : text.replaceAll(domain, '<domain>');
  if (own.startsWith(`verify-${run}`)) return own.replace(/^verify-\w+-\w+-\d+/, '<own>');
  return form ?? (/^[a-z]{1,12}$/.test(own) ? own : 'text');
}

/** What does not differ between two servers: names of fields, types, and values of this run. */
export function shapeOf(value: unknown, run: Run): unknown {
  if (Array.isArray(value)) return value.map((item) => shapeOf(item, run));
  if (typeof value === 'number') return 'number';
  if (typeof value === 'string') return formOf(value, run);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, shapeOf(item, run)]));
}

/** The status and the shape of a reply. */
export const reply = ({ status, text, body }: Answer, s: Session) => [status, text ? shapeOf(body, s) : 'no body'];

/** The names of the fields of an object. */
export const keysOf = (value: object) => Object.keys(value).toSorted();

/** Whether a list shows the first of two things before the other. */
export function isFirst(list: readonly { readonly id: string }[], id: string, otherId: string): boolean {
  const ids = list.map((item) => item.id);
  if (!ids.includes(id) || !ids.includes(otherId)) throw new CannotTellError('the list does not show both');
  return ids.indexOf(id) < ids.indexOf(otherId);
}

/** Makes something, sends a request that concerns it, and says what the reply shows. */
const experiment =
  (see: (answer: Answer, s: Session) => unknown) =>
  <Made>(make: (s: Session) => Promise<Made>, ask: (made: Made, s: Session) => Promise<Answer>): Experiment =>
  async (s) =>
    see(await ask(await make(s), s), s);

/** Experiments that observe the status of a reply, its status and its shape, or the names of the fields of its body. */
export const statusOf = experiment(status);
export const replyOf = experiment(reply);
export const fieldsOf = experiment(async (answer, s) => keysOf(await s.must(Promise.resolve(answer))));

/** Whether a list shows the first of two things that were made one after the other first. */
export const isOldestFirst =
  (make: (s: Session) => Promise<Item>, list: (s: Session) => Promise<readonly Item[]>): Experiment =>
  async (s) => {
    const [first, second] = [await make(s), await make(s)];
    return isFirst(await list(s), first.id, second.id);
  };

type Item = { readonly id: string };

/** What something shows that was made. */
export const seenIn =
  <Made>(make: (s: Session) => Promise<Made>, see: (made: Made, s: Session) => unknown): Experiment =>
  async (s) =>
    see(await make(s), s);

export const inbox = (s: Session) => s.inbox();
const webhook = (s: Session) => s.webhook();

const unknown = () => randomUUID();

/** The statuses of the replies to requests that do not depend on each other. */
export const statuses = async (...answers: Promise<Answer>[]) => (await Promise.all(answers)).map(status);

/** Creates a workspace of its own, with a key. */
async function workspace(s: Session) {
  const { id } = await s.add('/v1/workspaces', { name: s.newName() });
  const key = await s.add(`/v1/workspaces/${id}/keys`, { name: 'verify' });
  return { id, path: `/v1/workspaces/${id}`, key: key.key, keyId: key.id };
}

/** Creates a tenant of its own. */
async function tenant(s: Session) {
  const key = s.target.operatorKey ?? '';
  const answer = await s.post('/v1/tenants', { name: s.newName() }, { key });
  const body = await s.must(Promise.resolve(answer));
  return { answer, ...body, path: `/v1/tenants/${body.id}`, operator: { key } };
}

/** Adds a domain of its own. */
async function domain(s: Session, fields: object = {}) {
  const name = `${s.newName()}.example`;
  return { name, path: `/v1/domains/${name}`, body: await s.add('/v1/domains', { domain: name, ...fields }) };
}

const webhooksOf = async (s: Session, key = s.target.key) => (await s.read('/v1/webhooks', { key })).webhooks;

/** Whether the key of the workspace of this run sees a webhook in the list. */
const isListed = async (s: Session, { id }: Item) =>
  (await webhooksOf(s, s.workspace.key)).some((listed: Item) => listed.id === id);

/** The experiments on requests, keys, tenants, workspaces, webhooks and domains. */
export const resourceExperiments: Experiments = {
  'auth.both-headers': async (s) => {
    const headers = { Authorization: `Bearer ${(await s.inbox()).key}` };
    const { status, body } = await s.get('/v1/me', { headers });
    return [status, body.tier];
  },
  'auth.wrong-tier': statusOf(inbox, ({ key }, s) => s.get('/v1/webhooks', { key })),
  'errors.shape': async (s) => keysOf((await s.get(`/v1/inboxes/${unknown()}`)).body),
  'errors.statuses': (s) =>
    statuses(s.post('/v1/webhooks', { url: 1 }), s.get('/v1/webhooks', { key: '' }), s.get(`/v1/inboxes/${unknown()}`)),
  'errors.foreign-resource': statusOf(inbox, async ({ path }, s) => s.get(path, { key: (await workspace(s)).key })),
  'requests.wrong-method': async (s) => status(await s.call('PUT', '/v1/webhooks', {})),
  'requests.check-order': async (s) => status(await s.get(`/v1/${s.newName()}`, { key: '' })),
  'requests.trailing-slash': async (s) => status(await s.get('/v1/me/')),
  'requests.head': async (s) => status(await s.call('HEAD', '/v1/me')),
  'requests.options': async (s) => status(await s.call('OPTIONS', '/v1/me')),
  'requests.malformed-id': async (s) => status(await s.get('/v1/inboxes/not-an-id')),
  'requests.undecodable-path': async (s) => status(await s.get('/v1/inboxes/%E0%A4%A')),
  'requests.malformed-body': (s) => statuses(s.post('/v1/webhooks', '{"url":'), s.post('/v1/webhooks', '[]')),
  'requests.unknown-fields': statusOf(inbox, ({ path }, s) => s.patch(path, { [s.newName()]: 1 })),
  'requests.content-type': statusOf(inbox, ({ path }, s) =>
    s.patch(path, { displayName: 'A' }, { headers: { 'Content-Type': 'text/plain' } }),
  ),
  'requests.query': async (s) => status(await s.get('/v1/me?unknown=1&unknown=2')),
  'requests.letter-case': statusOf(inbox, ({ id }, s) => s.get(`/v1/inboxes/${id.toUpperCase()}`)),
  'requests.selectors': async ({ get, workspace: { id, key } }) =>
    status(await get(`/v1/messages?workspace=${id}`, { key })),

  'tenants.create.reply': async (s) => reply((await tenant(s)).answer, s),
  'tenants.create.required': async (s) => status(await s.post('/v1/tenants', {}, { key: s.target.operatorKey ?? '' })),
  'tenants.create.workspace': async (s) => {
    const { workspaces } = await s.read('/v1/workspaces', { key: (await tenant(s)).apiKey });
    return workspaces.map(({ name, isDefault }: { name: string; isDefault: boolean }) => [name, isDefault]);
  },
  'tenants.delete.body': replyOf(tenant, ({ path, operator }, s) => s.delete(path, operator)),
  'tenants.delete.cascade': async (s) => {
    const { path, operator, apiKey } = await tenant(s);
    await s.delete(path, operator);
    return status(await s.get('/v1/me', { key: apiKey }));
  },

  'webhooks.tiers': async (s) => status(await s.get('/v1/webhooks', { key: s.workspace.key })),
  'webhooks.other-tiers': async (s) => status(await s.get('/v1/webhooks', { key: (await s.inbox()).key })) >= 400,
  'webhooks.create.is-active': async (s) => (await s.webhook()).isActive,
  'webhooks.create.secret': async (s) => /^whsec_[\w+/]{43}=$/.test((await s.webhook()).secret),
  'webhooks.create.required': async (s) =>
    status(await s.post('/v1/webhooks', { url: 'https://verify.invalid/', workspaceId: s.workspace.id })),
  'webhooks.create.url': async (s) => status(await s.postWebhook({ url: 'http://verify.invalid/' })),
  'webhooks.create.events': async (s) => status(await s.postWebhook({ events: ['message.sent'] })),
  'webhooks.create.repeated-events': async (s) =>
    (await s.webhook({ events: ['message.received', 'message.received'] })).events,
  'webhooks.create.workspace': async (s) => isListed(s, await s.webhook()),
  'webhooks.list.pages': async (s) => keysOf(await s.read('/v1/webhooks')),
  'webhooks.list.order': isOldestFirst(webhook, webhooksOf),
  'webhooks.list.secret': seenIn(webhook, async ({ id }, s) => {
    return 'secret' in (await webhooksOf(s)).find((listed: Item) => listed.id === id);
  }),
  'webhooks.list.workspace-scope': async (s) => isListed(s, await s.webhook({ workspaceId: undefined })),
  'webhooks.delete.body': replyOf(webhook, ({ path }, s) => s.delete(path)),
  'webhooks.get.secret': async (s) => 'secret' in (await s.read((await s.webhook()).path)),
  'webhooks.update.reply': async (s) =>
    'events' in (await s.must(s.patch((await s.webhook()).path, { isActive: false }))),

  'workspaces.keys.tiers': statusOf(workspace, ({ path, key }, s) => s.get(`${path}/keys`, { key })),
  'workspaces.keys.create.reply': replyOf(workspace, ({ path }, s) => s.post(`${path}/keys`, { name: 'verify' })),
  'workspaces.keys.list.reply': replyOf(workspace, ({ path }, s) => s.get(`${path}/keys`)),
  'workspaces.keys.delete.body': replyOf(workspace, ({ path, keyId }, s) => s.delete(`${path}/keys/${keyId}`)),
  'workspaces.shape': async (s) => reply(await s.post('/v1/workspaces', { name: s.newName() }), s),
  'workspaces.read.tiers': async (s) => status(await s.get('/v1/workspaces', { key: s.workspace.key })),
  'workspaces.delete.tiers': statusOf(workspace, ({ path, key }, s) => s.delete(path, { key })),
  'workspaces.create.slug': async (s) => (await s.add('/v1/workspaces', { name: `Verify ÄÖ ${s.newName()}` })).slug,
  'workspaces.create.slug-taken': async (s) => {
    const body = { name: s.newName(), slug: s.newName() };
    await s.add('/v1/workspaces', body);
    return status(await s.post('/v1/workspaces', body));
  },
  'workspaces.list.order': isOldestFirst(workspace, async (s) => (await s.read('/v1/workspaces')).workspaces),
  'workspaces.delete.default': statusOf(tenant, ({ defaultWorkspaceId, apiKey }, s) =>
    s.delete(`/v1/workspaces/${defaultWorkspaceId}`, { key: apiKey }),
  ),
  'workspaces.delete.body': replyOf(workspace, ({ path }, s) => s.delete(path)),
  'workspaces.delete.cascade': async (s) => {
    const { id, path } = await workspace(s);
    const inbox = await s.inbox({ workspaceId: id });
    await s.delete(path);
    return status(await s.get(inbox.path));
  },

  'domains.shape': async (s) => {
    const { body } = await domain(s, { workspaceId: s.workspace.id });
    return [keysOf(body), keysOf(body.domain)];
  },
  'domains.tiers': async (s) => status(await s.get('/v1/domains', { key: s.workspace.key })),
  'domains.create.workspace': seenIn(domain, ({ body: { domain, workspaceId = domain.workspaceId } }) => {
    return workspaceId === null;
  }),
  'domains.create.taken': statusOf(domain, ({ name }, s) => s.post('/v1/domains', { domain: name })),
  'domains.dns-records': seenIn(domain, ({ body }) =>
    (body.dnsRecords ?? body.domain.records).map((record: { type: string }) => record.type).toSorted(),
  ),
  'domains.delete.body': replyOf(domain, ({ path }, s) => s.delete(path)),
  'health.body': async (s) => reply(await s.get('/health', { key: '' }), s),
  'me.reply': replyOf(inbox, ({ key }, s) => s.get('/v1/me', { key })),
  'metrics.reply': replyOf(inbox, ({ key }, s) => s.get('/v1/metrics', { key })),
  'metrics.window': (s) => statuses(s.get('/v1/metrics?from=2026-01-05'), s.get('/v1/metrics?from=1767603600')),
  'verify.reply': replyOf(inbox, ({ email }, s) => s.post('/v1/verify-email', { email })),
  'verify.tiers': statusOf(inbox, ({ key }, s) => s.post('/v1/verify-email', {}, { key })),
};
