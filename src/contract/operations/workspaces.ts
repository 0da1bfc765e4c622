import { z } from 'zod';
import { chooseBy, defineOperations } from '../operation.ts';
import { deleteReplies, fieldsOf, name, object, text, timestamp, uuid } from '../schemas.ts';

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
const operation = defineOperations({ origin: 'reference', tiers: 'workspaces.read.tiers' });

export const workspaceOperations = {
  createWorkspace: operation('POST /v1/workspaces', 'Create a workspace', {
    tiers: ['tenant'],
    body: () => z.object({ name: name(200), slug: slug().nullish() }),
    reply: workspace,
    status: 201,
    errors: ['ALREADY_EXISTS'],
  }),
  listWorkspaces: operation('GET /v1/workspaces', 'List workspaces', {
    reply: () => z.strictObject({ workspaces: z.array(workspace()) }),
  }),
  getWorkspace: operation('GET /v1/workspaces/{id}', 'Read a workspace', {
    reply: workspace,
  }),
  deleteWorkspace: operation('DELETE /v1/workspaces/{id}', 'Delete a workspace and everything in it', {
    tiers: 'workspaces.delete.tiers',
    reply: chooseBy('workspaces.delete.body', deleteReplies),
    errors: ['FORBIDDEN', 'CONFLICT'],
  }),
};
