import { randomUUID } from 'node:crypto';
import { OPERATION_ROWS, type OperationId, type OperationRow } from '../../../contract/operations.ts';
import type { Tier } from '../../../contract/tiers.ts';
import { createInbox, type Experiment, replyShape, status } from './experiments.ts';
import type { Need, Reply, Session } from './verify-session.ts';

/** A sentence of the service document or the reference about an operation, and an experiment that checks it. */
export interface Statement {
  readonly id: string;
  readonly operation: OperationId;
  readonly text: string;
  readonly needs?: Need;
  readonly run: Experiment;
}

/** Values of path parameters, by the name of the parameter. */
type PathValues = Readonly<Record<string, string>>;

/** Creates an inbox that has received a mail, and one resource of each kind, or of each kind that `path` names. */
async function createResources(s: Session, path?: string) {
  const add = async (part: string, collection: string, body: object) =>
    path === undefined || path.includes(part) ? await s.add(collection, body) : {};
  const { to, from, message } = await s.createMail();
  const list = await add('{listId}', `${to.path}/lists`, { name: 'Verify' });
  const entry = await add('{entryId}', `${to.path}/lists/${list.id}/entries`, { email: 'dana@verify.example' });
  const draft = await add('{draftId}', `${to.path}/drafts`, { to: from.email, subject: 'Verify', plainBody: 'Hi' });
  const domain = `${s.newName()}.example`;
  await add('{domain}', '/v1/domains', { domain, workspaceId: s.workspace.id });
  const address = `${s.newName()}@${s.domain}`;
  await add('{address}', `${to.path}/addresses`, { email: address, primary: false });
  const workspace = await add('/workspaces', '/v1/workspaces', { name: s.newName() });
  const key = await add('{key_id}', `/v1/workspaces/${workspace.id}/keys`, { name: 'verify' });
  const ids = { messageId: message.id, threadId: message.threadId, listId: list.id, entryId: entry.id };
  const names = { draftId: draft.id, attachmentId: randomUUID(), domain, address };
  const webhook = await add('/webhooks', '/v1/webhooks', bodyOfWebhook(s));
  return { to, from, workspace, key, webhook, pathValues: { ...ids, ...names, id: to.id } };
}

/** Returns the values for a path. The parameter `id` is the id of a webhook, a workspace or an inbox. */
function pathValuesFor(path: string, resources: Awaited<ReturnType<typeof createResources>>): PathValues {
  const { pathValues, webhook, workspace, key } = resources;
  if (path.startsWith('/v1/webhooks')) return { ...pathValues, id: webhook.id };
  if (path.startsWith('/v1/workspaces')) return { ...pathValues, id: workspace.id, key_id: key.id };
  return pathValues;
}

const fillPath = (path: string, values: PathValues) =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? randomUUID()));

function bodyOfWebhook({ workspace }: Session) {
  return { url: 'https://verify.invalid/', events: ['message.received'], workspaceId: workspace.id };
}

/** The bodies with which operations succeed. An operation that is not in this table needs no body. */
const BODIES: { readonly [Id in OperationId]?: (s: Session, email: string) => object } = {
  createWebhook: bodyOfWebhook,
  updateWebhook: () => ({ isActive: false }),
  createWorkspaceKey: () => ({ name: 'verify' }),
  createTenant: (s) => ({ name: s.newName() }),
  createWorkspace: (s) => ({ name: s.newName() }),
  createInbox: (s) => ({ username: s.newName(), workspaceId: s.workspace.id }),
  updateInbox: () => ({ displayName: 'Verify' }),
  addInboxAddress: (s) => ({ email: `${s.newName()}@${s.domain}`, primary: false }),
  updateMessage: () => ({ isRead: true }),
  sendMessage: (_, email) => ({ to: email, subject: 'Verify', plainBody: 'Hi', verified: true }),
  replyToMessage: () => ({ plainBody: 'Hi' }),
  replyAllToMessage: () => ({ plainBody: 'Hi' }),
  forwardMessage: (_, email) => ({ to: email }),
  createDraft: (_, email) => ({ to: email, subject: 'Verify' }),
  updateDraft: () => ({ subject: 'Verify' }),
  createList: () => ({ name: 'Verify' }),
  createListEntry: () => ({ email: 'other@verify.example' }),
  createDomain: (s) => ({ domain: `${s.newName()}.example`, workspaceId: s.workspace.id }),
  verifyEmail: (_, email) => ({ email }),
};

/** Operations whose replies are not compared: `getAttachment` returns bytes, and the others need data from outside. */
const NOT_COMPARED: readonly OperationId[] = ['getAttachment', 'verifyDomain', 'deleteTenant'];

/**
 * Returns whether an operation lists the data of the whole tenant. Such a list is read with the key of the workspace of
 * this run, so that it contains only the data of this run.
 */
const isTenantWide = ({ method, path }: OperationRow) => method === 'GET' && !path.includes('{') && path !== '/health';

/** Operations after which no other statement can use the resource. */
const NEED_NEW_RESOURCES: readonly OperationId[] = ['rotateInboxKey', 'sendDraft'];

async function callOperation(s: Session, row: OperationRow): Promise<Reply> {
  const needsNew = row.method === 'DELETE' || NEED_NEW_RESOURCES.includes(row.id);
  const resources = await (needsNew ? createResources(s, row.path) : s.createOnce(createResources));
  const path = fillPath(row.path, pathValuesFor(row.path, resources));
  const body = BODIES[row.id]?.(s, resources.from.email);
  const key = isTenantWide(row) ? s.workspace.key : row.id === 'createTenant' ? s.target.operatorKey : undefined;
  return await s.call(row.method, path, body, key === undefined ? {} : { key });
}

/** Shortens each list of a body to its first item, because other statements may have added items. */
function keepFirstItems(body: unknown): unknown {
  if (Array.isArray(body)) return body.slice(0, 1).map(keepFirstItems);
  if (body === null || typeof body !== 'object') return body;
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, keepFirstItems(value)]));
}

const replyStatement = (row: OperationRow): Statement => ({
  id: `${row.id}: reply`,
  operation: row.id,
  text: `${row.method} ${row.path} is answered with ${row.status} and the documented fields`,
  ...(row.id === 'createTenant' && { needs: 'operator' as const }),
  run: async (s) => {
    const reply = await callOperation(s, row);
    const type = reply.headers.get('content-type')?.split(';')[0] ?? 'no content type';
    return [type, ...replyShape({ ...reply, body: keepFirstItems(reply.body) }, s)];
  },
});

const keysOfTiers = async (s: Session): Promise<readonly (readonly [Tier | 'none', string | undefined])[]> => [
  ['none', ''],
  ['operator', s.target.operatorKey],
  ['tenant', s.target.key],
  ['workspace', s.workspace.key],
  ['inbox', (await s.createOnce(createInbox)).key],
];

/** Checks which tiers are refused. The request names a resource that does not exist, so that it changes nothing. */
const tiersStatement = (row: OperationRow): Statement => ({
  id: `${row.id}: tiers`,
  operation: row.id,
  text: 'only keys of the documented tiers may call the operation',
  run: async (s) => {
    const results = (await keysOfTiers(s))
      .filter(([, key]) => key !== undefined)
      .map(async ([tier, key = '']) => {
        const body =
          row.method === 'POST' || row.method === 'PATCH' ? { email: 0, name: 0, username: 0, domain: 0 } : undefined;
        const { status } = await s.call(row.method, fillPath(row.path, {}), body, { key });
        return [tier, [401, 403].includes(status) ? status : 'may call it'];
      });
    return await Promise.all(results);
  },
});

/** Checks that a key of another tenant, workspace or inbox cannot reach a resource. */
const isolationStatement = (row: OperationRow, tier: Exclude<Tier, 'operator'>): Statement => ({
  id: `${row.id}: isolation from another ${tier}`,
  operation: row.id,
  text: `a key of another ${tier} cannot reach the resource`,
  ...(tier === 'tenant' && { needs: 'two tenants' as const }),
  run: async (s) => {
    const resources = await s.createOnce(createResources);
    const foreignKey = { tenant: s.target.secondKey, workspace: resources.key.key, inbox: resources.from.key }[tier];
    const path = fillPath(row.path, pathValuesFor(row.path, { ...resources, workspace: s.workspace }));
    return status(await s.call(row.method, path, BODIES[row.id]?.(s, resources.from.email), { key: foreignKey ?? '' }));
  },
});

/** The statements that are not generated from the table of operations. */
const FURTHER_STATEMENTS: readonly Statement[] = [
  {
    id: 'authentication: Authorization',
    operation: 'getMe',
    text: 'a key may be sent as Authorization: Bearer',
    run: async (s) =>
      status(await s.get('/v1/me', { key: '', headers: { Authorization: `Bearer ${(await s.createInbox()).key}` } })),
  },
  {
    id: 'rotation: the old key of an inbox',
    operation: 'rotateInboxKey',
    text: 'rotating the key of an inbox invalidates the old key immediately, and the mail stays',
    run: async (s) => {
      const { to } = await s.createMail();
      const { key } = await s.add(`${to.path}/keys`);
      const { messages } = await s.read(`${to.path}/messages`, { key });
      return [status(await s.get('/v1/me', { key: to.key })), messages.length, key.slice(0, 3), key !== to.key];
    },
  },
  {
    id: 'rotation: a removed workspace key',
    operation: 'deleteWorkspaceKey',
    text: 'a removed workspace key is refused',
    run: async (s) => {
      const { key, workspace } = await createResources(s, '/v1/workspaces/{id}/keys/{key_id}');
      await s.mustSucceed(s.delete(`/v1/workspaces/${workspace.id}/keys/${key.id}`));
      return status(await s.get('/v1/me', { key: key.key }));
    },
  },
  {
    id: 'delivery: message.received',
    operation: 'createWebhook',
    text: 'a received mail is delivered to a webhook',
    needs: 'receiver',
    run: async (s) => {
      const receiver = await s.createReceiver();
      const { message } = await s.createMail();
      const [call] = await receiver.waitForCalls(1);
      const { event, messageId } = JSON.parse(call?.body ?? '{}') as { event?: string; messageId?: string };
      return [event, messageId === message.id];
    },
  },
];

const tiersToIsolate = ({ path }: OperationRow): Exclude<Tier, 'operator'>[] => {
  if (/^\/v1\/(?:tenants|domains)/.test(path)) return [];
  if (!path.startsWith('/v1/inboxes/{id}')) return ['tenant', 'workspace'];
  return ['tenant', 'workspace', 'inbox'];
};

/** All statements: on the reply, the tiers and the isolation of each operation, and the further statements. */
export const STATEMENTS: readonly Statement[] = [
  ...FURTHER_STATEMENTS,
  ...OPERATION_ROWS.filter(({ id }) => !NOT_COMPARED.includes(id)).map(replyStatement),
  ...OPERATION_ROWS.filter(({ tiers }) => tiers !== 'public').map(tiersStatement),
  ...OPERATION_ROWS.filter(({ path }) => path.includes('{')).flatMap((row) =>
    tiersToIsolate(row).map((tier) => isolationStatement(row, tier)),
  ),
];
