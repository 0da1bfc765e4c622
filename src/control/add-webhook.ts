import { z } from 'zod';
import { type InputOf, lazy } from '../basics/lazy-schema.ts';
import { ApiError, parseOrRefuse } from '../contract/errors.ts';
import { webhookOperations } from '../contract/operations/webhooks.ts';
import { idInRequest } from '../contract/schemas.ts';
import { insertWebhook } from '../service/delivery/insert-webhook.ts';
import type { World } from '../world/store/world.ts';
import { tenantField } from './call-fields.ts';
import { type ControlScope, findOnlyTenant, findStoredRow, notFound } from './control-scope.ts';

const webhookFields = () => ({
  /** The URL to which events are delivered. */
  url: z.string('must be a URL'),
  /** The kinds of event, such as `message.received`, which is the default. */
  events: z.array(z.string('must be a kind of event'), 'must be a list of kinds of event').readonly().optional(),
  /**
   * The address or the id of an inbox, whose workspace the webhook is for. A webhook of the service belongs to a
   * workspace and not to an inbox: it also gets the events of the other inboxes of this workspace.
   */
  workspaceOf: z
    .string('must be the address or the id of an inbox')
    .describe('The address or the id of an inbox: the webhook gets the events of every inbox of its workspace.')
    .optional(),
  /**
   * The id of the workspace whose events the webhook gets. Default: the webhook gets the events of the whole tenant.
   */
  workspace: idInRequest().optional(),
  /** The id of the tenant. It is needed if there are several tenants, and neither `workspaceOf` nor `workspace` is given. */
  tenant: tenantField().optional(),
});

/** The schema of a webhook that a test adds. */
export const addedWebhook = lazy(() => z.strictObject(webhookFields(), 'must be an object'));

/** A webhook that a test adds. */
export type AddedWebhook = InputOf<ReturnType<typeof webhookFields>>;

/** Adds a webhook after the same checks as `createWebhook`. @throws {ApiError} VALIDATION_ERROR or NOT_FOUND */
export function addWebhook(scope: ControlScope, given: AddedWebhook) {
  const parsed = parseOrRefuse('The webhook', addedWebhook(), given);
  const { url, events = ['message.received'], ...target } = parsed;
  const body = parseOrRefuse('The webhook', webhookOperations.createWebhook.body(scope.readBehaviour), { url, events });
  const { world, workspaceId } = findOwner(scope, target);
  return { world, row: insertWebhook({ ...scope, world }, { ...body, workspaceId }) };
}

/** Finds the tenant and the workspace whose events a webhook gets. */
function findOwner({ worlds, findInbox }: ControlScope, { workspaceOf, workspace, tenant }: Partial<AddedWebhook>) {
  if (workspaceOf !== undefined) {
    const id = workspaceOf.includes('@') ? findInbox(workspaceOf)?.inbox.id : workspaceOf.toLowerCase();
    const found = findStoredRow(worlds, 'inboxes', id ?? '');
    if (found) return checkOwner({ world: found.world, workspaceId: found.row.workspaceId }, { workspace, tenant });
    throw new ApiError('NOT_FOUND', `There is no inbox ${workspaceOf}.`);
  }
  if (workspace !== undefined) {
    const found = findStoredRow(worlds, 'workspaces', workspace);
    if (found) return checkOwner({ world: found.world, workspaceId: workspace }, { tenant });
    throw notFound('workspace');
  }
  return {
    world: findOnlyTenant(worlds, tenant, 'The webhook needs workspaceOf, workspace or tenant'),
    workspaceId: null,
  };
}

/** Refuses a workspace or a tenant that is not that of the inbox, or of the workspace, of the webhook. */
function checkOwner(
  owner: { readonly world: World; readonly workspaceId: string },
  { workspace = owner.workspaceId, tenant = owner.world.id }: Pick<Partial<AddedWebhook>, 'workspace' | 'tenant'>,
) {
  if (workspace !== owner.workspaceId) {
    throw new ApiError('VALIDATION_ERROR', 'The webhook is not valid: workspace must be the workspace of the inbox.');
  }
  if (tenant !== owner.world.id) {
    const rule = 'tenant must be the tenant of the inbox or of the workspace';
    throw new ApiError('VALIDATION_ERROR', `The webhook is not valid: ${rule}.`);
  }
  return owner;
}
