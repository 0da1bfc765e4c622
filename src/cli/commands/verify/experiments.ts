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
export const reply = (answer: Answer, s: Session) => [
  answer.status,
  answer.text === '' ? 'no body' : shapeOf(answer.body, s),
];

/** The names of the fields of an object. */
export const keysOf = (value: object) => Object.keys(value).toSorted();

/** Whether a list shows the first of two things before the other. */
export function isFirst(list: readonly { readonly id: string }[], id: string, otherId: string): boolean {
  const ids = list.map((item) => item.id);
  if (!ids.includes(id) || !ids.includes(otherId)) throw new CannotTellError('the list does not show both');
  return ids.indexOf(id) < ids.indexOf(otherId);
}

const unknown = () => randomUUID();

/** Creates a workspace of its own, with a key. */
async function workspace(s: Session) {
  const { id } = await s.must(s.post('/v1/workspaces', { name: s.newName() }));
  const key = await s.must(s.post(`/v1/workspaces/${id}/keys`, { name: 'verify' }));
  return { id, path: `/v1/workspaces/${id}`, key: key.key, keyId: key.id };
}

/** Creates a tenant of its own. */
async function tenant(s: Session) {
  const key = s.target.operatorKey ?? '';
  const answer = await s.post('/v1/tenants', { name: s.newName() }, { key });
  const body = await s.must(Promise.resolve(answer));
  return { answer, ...body, path: `/v1/tenants/${body.id}`, operator: { key } };
}

const webhooksOf = (s: Session, key = s.workspace.key) => s.must(s.get('/v1/webhooks', { key }));

const newDomain = (s: Session) => `${s.newName()}.example`;

/** The experiments on requests, keys, tenants, workspaces, webhooks and domains. */
export const resourceExperiments: Experiments = {
  'auth.both-headers': async (s) => {
    const headers = { Authorization: `Bearer ${(await s.inbox()).key}` };
    const { status, body } = await s.get('/v1/me', { headers });
    return [status, body.tier];
  },
  'auth.wrong-tier': async (s) => status(await s.get('/v1/webhooks', { key: (await s.inbox()).key })),
  'errors.shape': async (s) => keysOf((await s.get(`/v1/inboxes/${unknown()}`)).body),
  'errors.statuses': async (s) => [
    status(await s.post('/v1/webhooks', { url: 1 })),
    status(await s.get('/v1/webhooks', { key: '' })),
    status(await s.get(`/v1/inboxes/${unknown()}`)),
  ],
  'errors.foreign-resource': async (s) =>
    status(await s.get((await s.inbox()).path, { key: (await workspace(s)).key })),
  'requests.wrong-method': async (s) => status(await s.call('PUT', '/v1/webhooks', {})),
  'requests.check-order': async (s) => status(await s.get(`/v1/${s.newName()}`, { key: '' })),
  'requests.trailing-slash': async (s) => status(await s.get('/v1/me/')),
  'requests.head': async (s) => status(await s.call('HEAD', '/v1/me')),
  'requests.options': async (s) => status(await s.call('OPTIONS', '/v1/me')),
  'requests.malformed-id': async (s) => status(await s.get('/v1/inboxes/not-an-id')),
  'requests.undecodable-path': async (s) => status(await s.get('/v1/inboxes/%E0%A4%A')),
  'requests.malformed-body': async (s) => [
    status(await s.call('POST', '/v1/webhooks', '{"url":')),
    status(await s.call('POST', '/v1/webhooks', '[]')),
  ],
  'requests.unknown-fields': async (s) => status(await s.patch((await s.inbox()).path, { [s.newName()]: 1 })),
  'requests.content-type': async (s) => {
    const { path } = await s.inbox();
    return status(await s.patch(path, { displayName: 'A' }, { headers: { 'Content-Type': 'text/plain' } }));
  },
  'requests.query': async (s) => status(await s.get('/v1/me?unknown=1&unknown=2')),
  'requests.letter-case': async (s) => status(await s.get((await s.inbox()).path.replace(/[0-9a-f-]{36}/, upper))),
  'requests.selectors': async (s) =>
    status(await s.get(`/v1/messages?workspace=${s.workspace.id}`, { key: s.workspace.key })),

  'tenants.create.reply': async (s) => reply((await tenant(s)).answer, s),
  'tenants.create.required': async (s) => status(await s.post('/v1/tenants', {}, { key: s.target.operatorKey ?? '' })),
  'tenants.create.workspace': async (s) => {
    const { workspaces } = await s.must(s.get('/v1/workspaces', { key: (await tenant(s)).apiKey }));
    return workspaces.map(({ name, isDefault }: { name: string; isDefault: boolean }) => [name, isDefault]);
  },
  'tenants.delete.body': async (s) => {
    const { path, operator } = await tenant(s);
    return reply(await s.delete(path, operator), s);
  },
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
  'webhooks.create.url': async (s) => statusOfWebhook(s, { url: 'http://verify.invalid/' }),
  'webhooks.create.events': async (s) => statusOfWebhook(s, { events: ['message.sent'] }),
  'webhooks.create.repeated-events': async (s) =>
    (await s.webhook({ events: ['message.received', 'message.received'] })).events,
  'webhooks.create.workspace': async (s) => {
    const { id } = await s.webhook();
    return (await webhooksOf(s)).webhooks.some((webhook: { id: string }) => webhook.id === id);
  },
  'webhooks.list.pages': async (s) => keysOf(await webhooksOf(s, s.target.key)),
  'webhooks.list.order': async (s) => {
    const [first, second] = [await s.webhook(), await s.webhook()];
    return isFirst((await webhooksOf(s, s.target.key)).webhooks, first.id, second.id);
  },
  'webhooks.list.secret': async (s) => {
    const { id } = await s.webhook();
    const { webhooks } = await webhooksOf(s, s.target.key);
    return 'secret' in webhooks.find((webhook: { id: string }) => webhook.id === id);
  },
  'webhooks.list.workspace-scope': async (s) => {
    const { id } = await s.webhook({ workspaceId: undefined });
    return (await webhooksOf(s)).webhooks.some((webhook: { id: string }) => webhook.id === id);
  },
  'webhooks.delete.body': async (s) => reply(await s.delete(`/v1/webhooks/${(await s.webhook()).id}`), s),
  'webhooks.get.secret': async (s) => 'secret' in (await s.must(s.get(`/v1/webhooks/${(await s.webhook()).id}`))),
  'webhooks.update.reply': async (s) =>
    'events' in (await s.must(s.patch(`/v1/webhooks/${(await s.webhook()).id}`, { isActive: false }))),

  'workspaces.keys.tiers': async (s) => {
    const { path, key } = await workspace(s);
    return status(await s.get(`${path}/keys`, { key }));
  },
  'workspaces.keys.create.reply': async (s) =>
    reply(await s.post(`${(await workspace(s)).path}/keys`, { name: 'verify' }), s),
  'workspaces.keys.list.reply': async (s) => reply(await s.get(`${(await workspace(s)).path}/keys`), s),
  'workspaces.keys.delete.body': async (s) => {
    const { path, keyId } = await workspace(s);
    return reply(await s.delete(`${path}/keys/${keyId}`), s);
  },
  'workspaces.shape': async (s) => reply(await s.post('/v1/workspaces', { name: s.newName() }), s),
  'workspaces.read.tiers': async (s) => status(await s.get('/v1/workspaces', { key: s.workspace.key })),
  'workspaces.delete.tiers': async (s) => {
    const { path, key } = await workspace(s);
    return status(await s.delete(path, { key }));
  },
  'workspaces.create.slug': async (s) => {
    const name = `Verify ÄÖ ${s.newName()}`;
    return (await s.must(s.post('/v1/workspaces', { name }))).slug;
  },
  'workspaces.create.slug-taken': async (s) => {
    const body = { name: s.newName(), slug: s.newName() };
    await s.must(s.post('/v1/workspaces', body));
    return status(await s.post('/v1/workspaces', body));
  },
  'workspaces.list.order': async (s) => {
    const [first, second] = [await workspace(s), await workspace(s)];
    return isFirst((await s.must(s.get('/v1/workspaces'))).workspaces, first.id, second.id);
  },
  'workspaces.delete.default': async (s) => {
    const { defaultWorkspaceId, apiKey } = await tenant(s);
    return status(await s.delete(`/v1/workspaces/${defaultWorkspaceId}`, { key: apiKey }));
  },
  'workspaces.delete.body': async (s) => reply(await s.delete((await workspace(s)).path), s),
  'workspaces.delete.cascade': async (s) => {
    const { id, path } = await workspace(s);
    const inbox = await s.inbox({ workspaceId: id });
    await s.delete(path);
    return status(await s.get(inbox.path));
  },

  'domains.shape': async (s) => {
    const body = await s.must(s.post('/v1/domains', { domain: newDomain(s), workspaceId: s.workspace.id }));
    return [keysOf(body), keysOf(body.domain)];
  },
  'domains.tiers': async (s) => status(await s.get('/v1/domains', { key: s.workspace.key })),
  'domains.create.workspace': async (s) => {
    const { domain, workspaceId = domain.workspaceId } = await s.must(s.post('/v1/domains', { domain: newDomain(s) }));
    return workspaceId === null;
  },
  'domains.create.taken': async (s) => {
    const domain = newDomain(s);
    await s.must(s.post('/v1/domains', { domain }));
    return status(await s.post('/v1/domains', { domain }));
  },
  'domains.dns-records': async (s) => {
    const body = await s.must(s.post('/v1/domains', { domain: newDomain(s) }));
    return (body.dnsRecords ?? body.domain.records).map((record: { type: string }) => record.type).toSorted();
  },
  'domains.delete.body': async (s) => {
    const domain = newDomain(s);
    await s.must(s.post('/v1/domains', { domain }));
    return reply(await s.delete(`/v1/domains/${domain}`), s);
  },
  'health.body': async (s) => reply(await s.get('/health', { key: '' }), s),
  'me.reply': async (s) => reply(await s.get('/v1/me', { key: (await s.inbox()).key }), s),
  'metrics.reply': async (s) => reply(await s.get('/v1/metrics', { key: (await s.inbox()).key }), s),
  'metrics.window': async (s) => [
    status(await s.get('/v1/metrics?from=2026-01-05')),
    status(await s.get('/v1/metrics?from=1767603600')),
  ],
  'verify.reply': async (s) => reply(await s.post('/v1/verify-email', { email: (await s.inbox()).email }), s),
  'verify.tiers': async (s) => status(await s.post('/v1/verify-email', {}, { key: (await s.inbox()).key })),
};

const upper = (text: string) => text.toUpperCase();

const statusOfWebhook = async (s: Session, fields: object) =>
  status(
    await s.post('/v1/webhooks', {
      url: 'https://verify.invalid/',
      events: ['message.received'],
      workspaceId: s.workspace.id,
      ...fields,
    }),
  );
