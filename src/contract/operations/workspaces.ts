import { z } from 'zod';
import { chooseBy, defineOperations } from '../operation.ts';
import { deleteReplies, fieldsOf, name, object, text, timestamp, uuid } from '../schemas.ts';
import { TIER_SETS } from '../tiers.ts';

const slug = () =>
  text(63).regex(
    /^[a-z0-9]+(?:-[a-z0-9]+)*$/,
    'must be lower-case letters and digits, with single hyphens between them',
  );

const workspace = () =>
  object('Workspace', {
    id: uuid(),
    ...fieldsOf(() => z.string(), 'name', 'slug'),
    isDefault: z.boolean(),
    inboxCount: z.int().describe('The number of its inboxes.'),
    domainCount: z.int().describe('The number of its domains.'),
    createdAt: timestamp(),
  });

/** Creates the row of an operation on workspaces. */
const operation = defineOperations({ origin: 'reference', tiers: chooseBy('workspaces.read.tiers', () => TIER_SETS) });

export const workspaceOperations = {
  createWorkspace: operation('POST /v1/workspaces', 'Create a workspace', {
    tiers: () => ['tenant'],
    assumes: ['workspaces.create.slug', 'workspaces.shape', 'requests.names'],
    body: () => z.object({ name: name(200), slug: slug().nullish() }),
    reply: workspace,
    status: 201,
    errors: ['ALREADY_EXISTS'],
  }),
  listWorkspaces: operation('GET /v1/workspaces', 'List workspaces', {
    reply: () => z.strictObject({ workspaces: z.array(workspace()) }),
    assumes: ['workspaces.shape', 'workspaces.list.order'],
  }),
  getWorkspace: operation('GET /v1/workspaces/{id}', 'Read a workspace', {
    reply: workspace,
    assumes: ['workspaces.shape'],
  }),
  deleteWorkspace: operation('DELETE /v1/workspaces/{id}', 'Delete a workspace and everything in it', {
    tiers: chooseBy('workspaces.delete.tiers', () => TIER_SETS),
    reply: chooseBy('workspaces.delete.body', deleteReplies),
    assumes: ['workspaces.delete.cascade'],
    errors: ['FORBIDDEN', 'CONFLICT'],
  }),
};
