import type { ReadBehaviour } from '../../contract/behaviours.ts';
import type { ReplyOf } from '../../contract/operations.ts';
import type { WebhookRow } from '../../world/store/rows.ts';
import { insertWebhook, withoutRepeats } from '../delivery/insert-webhook.ts';
import { findInScope, selectWorkspace } from '../pipeline/access/find-in-scope.ts';
import type { Principal } from '../pipeline/access/principal.ts';
import type { Run } from './context.ts';
import { DELETED, updated } from './replies/show-page.ts';

type WebhookReply = ReplyOf<'createWebhook'>;
type WebhookPrincipal = Extract<Principal, { tier: 'tenant' | 'workspace' }>;

export const createWebhook: Run<'createWebhook'> = (context, { body }) => {
  const { principal, readBehaviour, assume } = context;
  if (body.workspaceId) assume('webhooks.create.workspace');
  const workspace = selectWorkspace(context, body.workspaceId);
  const workspaceId = principal.tier === 'workspace' ? principal.workspaceId : (workspace?.id ?? null);
  return { body: toReply(insertWebhook({ world: principal.world, readBehaviour }, { ...body, workspaceId })) };
};

export const listWebhooks: Run<'listWebhooks'> = (context, { query }) => {
  const { principal, readBehaviour, assume } = context;
  const workspace = selectWorkspace(context, query.workspace);
  const visible = visibleWebhooks(principal, readBehaviour);
  const selected = workspace ? visible.filter((row) => row.workspaceId === workspace.id) : visible;
  const rows = sortWebhooks(selected, readBehaviour);
  if (workspace || rows.length > 1) assume('webhooks.list.pages');
  const toItem = readBehaviour('webhooks.list.secret') === 'omitted' ? withoutSecret : toReply;
  return { body: { webhooks: rows.map(toItem) } };
};

function visibleWebhooks(principal: WebhookPrincipal, readBehaviour: ReadBehaviour): WebhookRow[] {
  const { webhooks } = principal.world;
  if (principal.tier === 'tenant') return webhooks.all();
  if (readBehaviour('webhooks.list.workspace-scope') === 'own')
    return webhooks.by('workspaceId', principal.workspaceId);
  return webhooks.all().filter((row) => row.workspaceId === null || row.workspaceId === principal.workspaceId);
}

function sortWebhooks(rows: WebhookRow[], readBehaviour: ReadBehaviour): WebhookRow[] {
  return rows.length > 1 && readBehaviour('webhooks.list.order') === 'newest-first' ? rows.reverse() : rows;
}

export const getWebhook: Run<'getWebhook'> = (context, { params }) => {
  const { principal, readBehaviour } = context;
  const row = principal.world.webhooks.get(params.id);
  const isListed = row?.workspaceId === null && visibleWebhooks(principal, readBehaviour).includes(row);
  return { body: showWebhook(isListed ? row : findInScope(context, 'webhooks', params.id), readBehaviour) };
};

export const updateWebhook: Run<'updateWebhook'> = (context, { params, body }) => {
  const { principal, readBehaviour } = context;
  const { id } = findInScope(context, 'webhooks', params.id);
  const { url, events, isActive } = body;
  const row = principal.world.webhooks.update(id, {
    ...(url !== undefined && { url }),
    ...(events !== undefined && { events: withoutRepeats(events, readBehaviour) }),
    ...(isActive !== undefined && { isActive }),
  });
  return { body: readBehaviour('webhooks.update.reply') === 'webhook' ? showWebhook(row, readBehaviour) : updated(id) };
};

function showWebhook(row: WebhookRow, readBehaviour: ReadBehaviour) {
  return readBehaviour('webhooks.get.secret') === 'omitted' ? withoutSecret(row) : toReply(row);
}

export const deleteWebhook: Run<'deleteWebhook'> = (context, { params }) => {
  const { id } = findInScope(context, 'webhooks', params.id);
  context.principal.world.webhooks.remove(id);
  return { body: DELETE_BODIES[context.readBehaviour('webhooks.delete.body')](id) };
};

const DELETE_BODIES = { ...DELETED, none: () => undefined };

/** Returns a webhook as clients see it: the six documented fields, in the document's order. */
function toReply({ id, url, events, secret, isActive, createdAt }: WebhookRow): WebhookReply {
  return { id, url, events: [...events], secret, isActive, createdAt };
}

function withoutSecret(row: WebhookRow): Omit<WebhookReply, 'secret'> {
  const { secret: _, ...shown } = toReply(row);
  return shown;
}
