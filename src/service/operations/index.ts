import type { OperationId } from '../../contract/operations.ts';
import type { Run } from './context.ts';
import * as domains from './domains.ts';
import * as drafts from './drafts.ts';
import * as inboxes from './inboxes.ts';
import * as keys from './keys.ts';
import * as lists from './lists.ts';
import * as messages from './messages.ts';
import * as metrics from './metrics.ts';
import * as sending from './sending.ts';
import * as service from './service.ts';
import * as tenants from './tenants.ts';
import * as threads from './threads.ts';
import * as webhooks from './webhooks.ts';
import * as workspaces from './workspaces.ts';

/** The function of every operation: all exports of these files. If a function is missing, this does not compile. */
export const OPERATION_FUNCTIONS: { readonly [Id in OperationId]: Run<Id> } = {
  ...domains,
  ...drafts,
  ...inboxes,
  ...keys,
  ...lists,
  ...messages,
  ...metrics,
  ...sending,
  ...service,
  ...tenants,
  ...threads,
  ...webhooks,
  ...workspaces,
};
