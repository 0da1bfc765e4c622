import { randomUUID } from 'node:crypto';
import { OPERATION_ROWS, type OperationId, type OperationRow } from '../../../contract/operations.ts';
import type { Tier } from '../../../contract/tiers.ts';
import { type Experiment, reply, status } from './experiments.ts';
import type { Answer, Need, Session } from './verify-session.ts';

/** Something that the document, or the reference, says of an operation. */
export interface Statement {
  readonly id: string;
  readonly operation: OperationId;
  readonly text: string;
  readonly needs?: Need;
  readonly run: Experiment;
}

/** Things of this run, by the names of path parameters. */
type Things = Readonly<Record<string, string>>;

/** Creates one thing of each kind, in an inbox with a mail. */
async function createThings(s: Session) {
  const { to, from, message } = await s.mail();
  const list = await s.add(`${to.path}/lists`, { name: 'Verify' });
  const entry = await s.add(`${to.path}/lists/${list.id}/entries`, { email: 'dana@verify.example' });
  const draft = await s.add(`${to.path}/drafts`, { to: from.email, subject: 'Verify', plainBody: 'Hi' });
  const domain = `${s.newName()}.example`;
  await s.add('/v1/domains', { domain, workspaceId: s.workspace.id });
  const address = `${s.newName()}@${s.domain}`;
  await s.add(`${to.path}/addresses`, { email: address, primary: false });
  const workspace = await s.add('/v1/workspaces', { name: s.newName() });
  const key = await s.add(`/v1/workspaces/${workspace.id}/keys`, { name: 'verify' });
  const ids = { messageId: message.id, threadId: message.threadId, listId: list.id, entryId: entry.id };
  const names = { draftId: draft.id, attachmentId: randomUUID(), domain, address };
  return { to, from, workspace, key, webhook: await s.webhook(), things: { ...ids, ...names, id: to.id } };
}

/** The path parameter `id` means what the path begins with. */
function thingsFor(path: string, made: Awaited<ReturnType<typeof createThings>>): Things {
  if (path.startsWith('/v1/webhooks')) return { ...made.things, id: made.webhook.id };
  if (path.startsWith('/v1/workspaces')) return { ...made.things, id: made.workspace.id, key_id: made.key.id };
  return made.things;
}

const fill = (path: string, things: Things) =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(things[name] ?? randomUUID()));

/** The bodies with which operations succeed; those that are left out need none. */
const BODIES: { readonly [Id in OperationId]?: (s: Session, email: string) => object } = {
  createWebhook: (s) => ({ url: 'https://verify.invalid/', events: ['message.received'], workspaceId: s.workspace.id }),
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

/** What has no reply that can be compared: bytes, and what depends on everything that the tenant has. */
const NOT_REPEATABLE: readonly OperationId[] = ['getAttachment', 'verifyDomain', 'deleteTenant'];

/** Lists of a whole tenant are read with the key of the workspace of this run. */
const isTenantWide = ({ method, path }: OperationRow) => method === 'GET' && !path.includes('{') && path !== '/health';

/** What these operations change cannot serve another statement. */
const USES_UP: readonly OperationId[] = ['rotateInboxKey', 'sendDraft'];

async function callOperation(s: Session, row: OperationRow): Promise<Answer> {
  const isFresh = row.method === 'DELETE' || USES_UP.includes(row.id);
  const made = await (isFresh ? createThings(s) : s.shared(createThings));
  const path = fill(row.path, thingsFor(row.path, made));
  const body = BODIES[row.id]?.(s, made.from.email);
  const key = isTenantWide(row) ? s.workspace.key : row.id === 'createTenant' ? s.target.operatorKey : undefined;
  return await s.call(row.method, path, body, key === undefined ? {} : { key });
}

/** A list shows one item, because another part of the run may have made others. */
function firstOfEach(body: unknown): unknown {
  if (Array.isArray(body)) return body.slice(0, 1).map(firstOfEach);
  if (body === null || typeof body !== 'object') return body;
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, firstOfEach(value)]));
}

const ofReply = (row: OperationRow): Statement => ({
  id: `${row.id}: reply`,
  operation: row.id,
  text: `${row.method} ${row.path} is answered with ${row.status} and the documented fields`,
  ...(row.id === 'createTenant' && { needs: 'operator' as const }),
  run: async (s) => {
    const answer = await callOperation(s, row);
    const type = answer.headers.get('content-type')?.split(';')[0] ?? 'no content type';
    return [type, ...reply({ ...answer, body: firstOfEach(answer.body) }, s)];
  },
});

const keysOfTiers = async (s: Session): Promise<readonly (readonly [Tier | 'none', string | undefined])[]> => [
  ['none', ''],
  ['operator', s.target.operatorKey],
  ['tenant', s.target.key],
  ['workspace', s.workspace.key],
  ['inbox', (await s.inbox()).key],
];

/** Whether each tier is refused: the request is for something that does not exist, so that it changes nothing. */
const ofTiers = (row: OperationRow): Statement => ({
  id: `${row.id}: tiers`,
  operation: row.id,
  text: 'these key tiers may call it, and no others',
  run: async (s) => {
    const seen = (await keysOfTiers(s))
      .filter(([, key]) => key !== undefined)
      .map(async ([tier, key = '']) => {
        const body =
          row.method === 'POST' || row.method === 'PATCH' ? { email: 0, name: 0, username: 0, domain: 0 } : undefined;
        const answer = await s.call(row.method, fill(row.path, {}), body, { key });
        return [tier, [401, 403].includes(answer.status) ? answer.status : 'may call it'];
      });
    return await Promise.all(seen);
  },
});

/** Whether keys of another tenant, workspace and inbox reach what is not theirs. */
const ofIsolation = (row: OperationRow, other: 'tenant' | 'workspace' | 'inbox'): Statement => ({
  id: `${row.id}: isolation from another ${other}`,
  operation: row.id,
  text: `a key of another ${other} does not reach it`,
  ...(other === 'tenant' && { needs: 'two tenants' as const }),
  run: async (s) => {
    const made = await s.shared(createThings);
    const foreign = { tenant: s.target.secondKey, workspace: made.key.key, inbox: made.from.key }[other];
    const path = fill(row.path, thingsFor(row.path, { ...made, workspace: s.workspace }));
    return status(await s.call(row.method, path, BODIES[row.id]?.(s, made.from.email), { key: foreign ?? '' }));
  },
});

const written: readonly Statement[] = [
  {
    id: 'authentication: Authorization',
    operation: 'getMe',
    text: 'a key may be sent as Authorization: Bearer',
    run: async (s) =>
      status(await s.get('/v1/me', { key: '', headers: { Authorization: `Bearer ${(await s.inbox()).key}` } })),
  },
  {
    id: 'rotation: the old key of an inbox',
    operation: 'rotateInboxKey',
    text: 'rotating the key of an inbox invalidates the old key immediately, and the mail stays',
    run: async (s) => {
      const { to } = await s.mail();
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
      const { key, workspace } = await createThings(s);
      await s.must(s.delete(`/v1/workspaces/${workspace.id}/keys/${key.id}`));
      return status(await s.get('/v1/me', { key: key.key }));
    },
  },
  {
    id: 'delivery: message.received',
    operation: 'createWebhook',
    text: 'a webhook is told of a mail that was received',
    needs: 'receiver',
    run: async (s) => {
      const receiver = await s.receiver();
      const { message } = await s.mail();
      const [call] = await receiver.arrived(1);
      const { event, messageId } = JSON.parse(call?.body ?? '{}') as { event?: string; messageId?: string };
      return [event, messageId === message.id];
    },
  },
];

const others = ({ path }: OperationRow): ('tenant' | 'workspace' | 'inbox')[] => {
  if (/^\/v1\/(?:tenants|domains)/.test(path)) return [];
  if (!path.startsWith('/v1/inboxes/{id}')) return ['tenant', 'workspace'];
  return ['tenant', 'workspace', 'inbox'];
};

/** Every statement: of each operation its reply, its tiers and its isolation, and what the document says besides. */
export const STATEMENTS: readonly Statement[] = [
  ...written,
  ...OPERATION_ROWS.filter(({ id }) => !NOT_REPEATABLE.includes(id)).map(ofReply),
  ...OPERATION_ROWS.filter(({ tiers }) => tiers !== 'public').map(ofTiers),
  ...OPERATION_ROWS.filter(({ path }) => path.includes('{')).flatMap((row) =>
    others(row).map((other) => ofIsolation(row, other)),
  ),
];
