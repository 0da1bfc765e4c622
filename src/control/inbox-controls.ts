import { z } from 'zod';
import { type InputOf, lazy, type OutputOf } from '../basics/lazy-schema.ts';
import { ApiError, parseOrRefuse } from '../contract/errors.ts';
import { inboxOperations } from '../contract/operations/inboxes.ts';
import { tenantOperations } from '../contract/operations/tenants.ts';
import { idInRequest } from '../contract/schemas.ts';
import { insertNewInbox } from '../service/operations/insert-inbox.ts';
import { insertTenant } from '../service/operations/insert-tenant.ts';
import type { Worlds } from '../world/store/worlds.ts';
import { tenantField } from './call-fields.ts';
import { type ControlScope, findOnlyTenant } from './control-scope.ts';

const inboxFields = () => ({
  /** The part of its address before the `@`, such as `helpdesk`. Default: one that is made from the name of the tenant. */
  username: z.string('must be a text').optional(),
  /** The domain of its address, which must be verified for the workspace. Default: the domain of the service. */
  domain: z.string('must be a domain').optional(),
  /** The name that mail of the inbox shows beside its address. Default: none. */
  displayName: z.string('must be a text').optional(),
  /** The id of its workspace. Default: the first workspace of the tenant. */
  workspace: idInRequest().optional(),
  /** The id of its tenant. It is needed if there are several tenants, and `newTenant` is not given. */
  tenant: tenantField().optional(),
  /** The name of a new tenant, which is created with a workspace and a key, and to which the inbox then belongs. */
  newTenant: z.string('must be a name').optional(),
});

/** The schema of an inbox that a test adds. */
export const addedInbox = lazy(() => z.strictObject(inboxFields(), 'must be an object'));

/** An inbox that a test adds. */
export type AddedInbox = InputOf<ReturnType<typeof inboxFields>>;

const settingsFields = () => ({
  /** The id of the inbox. */
  id: z.string(),
  /** Its address. */
  address: z.string(),
  /** The id of its tenant. */
  tenantId: z.string().describe('The id of its tenant.'),
  /** The id of its workspace. */
  workspaceId: z.string().describe('The id of its workspace.'),
  /** Its key. */
  key: z.string().describe('Its key.'),
  /** The key of the tenant; null if the tenant was there before. */
  tenantKey: z.string().nullable().describe('The key of the new tenant; null if the tenant was there before.'),
});

/** The schema of an inbox that was added. */
export const inboxSettings = lazy(() => z.strictObject(settingsFields()));

/** An inbox that was added, with its key. */
export interface InboxSettings extends OutputOf<ReturnType<typeof settingsFields>> {}

/** The control methods for inboxes, which only a whole mailbox has. */
export interface InboxControls {
  /**
   * Adds an inbox to a tenant or to a new one, after the same checks as `createInbox` and `createTenant`. No request of
   * a client is recorded.
   *
   * @throws {ApiError} VALIDATION_ERROR if a field is not valid, or if several tenants could be meant; NOT_FOUND for an
   *   unknown tenant or workspace; USERNAME_TAKEN if the address is taken. After an error nothing has changed.
   * @example
   * const { address, key } = mailbox.addInbox({ newTenant: 'Acme', username: 'helpdesk' });
   */
  addInbox(options?: AddedInbox): InboxSettings;
}

/** Creates the methods for inboxes of a mailbox. */
export function createInboxControls(scope: ControlScope, worlds: Worlds): InboxControls {
  const { readBehaviour, publishChange } = scope;
  return {
    addInbox(options = {}) {
      const { workspace, tenant, newTenant, ...given } = parseOrRefuse('The inbox', addedInbox(), options);
      if (newTenant !== undefined && (tenant ?? workspace) !== undefined) {
        throw new ApiError('VALIDATION_ERROR', 'The inbox is not valid: give newTenant, or tenant and workspace.');
      }
      const body = parseOrRefuse('The inbox', inboxOperations.createInbox.body(), {
        ...given,
        workspaceId: workspace,
      });
      const made =
        newTenant === undefined
          ? undefined
          : insertTenant(
              worlds,
              parseOrRefuse('The tenant', tenantOperations.createTenant.body(), { name: newTenant }).name,
            );
      try {
        const world = findOnlyTenant(worlds, made?.id ?? tenant, 'The inbox needs tenant or newTenant');
        const principal = { tier: 'tenant', world, workspaceId: null, inboxId: null } as const;
        const { inbox, key } = insertNewInbox({ readBehaviour, worlds, world, principal }, body);
        const address = `${inbox.username}@${inbox.domain}`;
        publishChange('key', 'added', address);
        return {
          id: inbox.id,
          address,
          tenantId: world.id,
          workspaceId: inbox.workspaceId,
          key,
          tenantKey: made?.apiKey ?? null,
        };
      } catch (error) {
        // The tenant was only made for the inbox.
        if (made) worlds.remove(made.id);
        throw error;
      }
    },
  };
}
