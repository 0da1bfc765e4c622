import type { OperationId } from '../contract/operations/index.ts';
import type { Run } from './context.ts';
import { createWorkspaceKey, deleteWorkspaceKey, listWorkspaceKeys, rotateInboxKey } from './keys.ts';
import { getHealth } from './service.ts';
import { createTenant, deleteTenant } from './tenants.ts';
import { createWebhook, deleteWebhook, listWebhooks } from './webhooks.ts';

/** The code of every operation; the compiler refuses a table row without one. */
export const RUN = {
  createWebhook,
  listWebhooks,
  deleteWebhook,
  rotateInboxKey,
  createWorkspaceKey,
  listWorkspaceKeys,
  deleteWorkspaceKey,
  createTenant,
  deleteTenant,
  getHealth,
} satisfies { [Id in OperationId]: Run<Id> };
