import type { ReadBehaviour } from '../../contract/behaviours.ts';
import type { ReplyOf } from '../../contract/operations.ts';
import type { WebhookRow } from '../../world/store/rows.ts';
import { findInScope, type LookupContext, selectWorkspace } from '../access/find-in-scope.ts';
import { insertWebhook, kindsToStore, urlToStore } from '../delivery/insert-webhook.ts';
import type { Run } from './context.ts';
import { DELETE_BODY, updatedBody } from './replies.ts';

type WebhookReply = ReplyOf<'createWebhook'>;

export const createWebhook: Run<'createWebhook'> = (context, { body }) => {
  const { principal, readBehaviour } = context;
  const url = urlToStore(body.url, readBehaviour);
  const selected = selectWorkspace(context, body.workspaceId);
  const workspaceId = principal.workspaceId ?? selected?.id ?? null;
  return { body: toReply(insertWebhook(context, { ...body, url, workspaceId })) };
};

export const listWebhooks: Run<'listWebhooks'> = (context, { query }) => {
  const { readBehaviour } = context;
  const workspace = selectWorkspace(context, query.workspace);
  const rows = visibleWebhooks(context).filter((row) => !workspace || row.workspaceId === workspace.id);
  if (rows.length > 1 && readBehaviour('webhooks.list.order') === 'newest-first') rows.reverse();
  const toItem = readBehaviour('webhooks.list.secret') === 'omitted' ? withoutSecret : toReply;
  return { body: { webhooks: rows.map(toItem) } };
};

function visibleWebhooks({ principal, world, readBehaviour }: LookupContext): WebhookRow[] {
  const { webhooks } = world;
  if (principal.tier === 'tenant') return webhooks.all();
  if (readBehaviour('webhooks.list.workspace-scope') === 'own')
    return webhooks.by('workspaceId', principal.workspaceId);
  return webhooks.all().filter(({ workspaceId }) => workspaceId === null || workspaceId === principal.workspaceId);
}

export const getWebhook: Run<'getWebhook'> = (context, { params }) => {
  const row = context.world.webhooks.get(params.id);
  // A workspace key can also get a webhook of the whole tenant if its list contains this webhook.
  const isListed = row?.workspaceId === null && visibleWebhooks(context).includes(row);
  return { body: showWebhook(isListed ? row : findInScope(context, 'webhooks', params.id), context.readBehaviour) };
};

export const updateWebhook: Run<'updateWebhook'> = (context, { params, body }) => {
  const { world, readBehaviour } = context;
  const { id } = findInScope(context, 'webhooks', params.id);
  const { url, events, isActive } = body;
  const row = world.webhooks.update(id, {
    ...(url !== undefined && { url: urlToStore(url, readBehaviour) }),
    ...(events !== undefined && { events: kindsToStore(events, readBehaviour) }),
    ...(isActive !== undefined && { isActive }),
  });
  const shape = readBehaviour('webhooks.update.reply');
  return { body: shape === 'webhook' ? showWebhook(row, readBehaviour) : updatedBody(id) };
};

function showWebhook(row: WebhookRow, readBehaviour: ReadBehaviour) {
  return readBehaviour('webhooks.get.secret') === 'omitted' ? withoutSecret(row) : toReply(row);
}

export const deleteWebhook: Run<'deleteWebhook'> = (context, { params }) => {
  const { id } = findInScope(context, 'webhooks', params.id);
  context.world.webhooks.remove(id);
  return { body: WEBHOOK_DELETE_BODY[context.readBehaviour('webhooks.delete.body')](id) };
};

const WEBHOOK_DELETE_BODY = { ...DELETE_BODY, none: () => undefined };

/** Returns a webhook as clients see it: the six documented fields, in the document's order. */
function toReply({ id, url, events, secret, isActive, createdAt }: WebhookRow): WebhookReply {
  return { id, url, events: [...events], secret, isActive, createdAt };
}

function withoutSecret(row: WebhookRow): Omit<WebhookReply, 'secret'> {
  const { secret: _, ...shown } = toReply(row);
  return shown;
}
