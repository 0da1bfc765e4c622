import { z } from 'zod';
import type { ReadBehaviour } from '../behaviours.ts';
import { defineOperation, defineReplies } from '../operation.ts';
import { deleteReplies, idParams, name, text, timestamp, uuid } from '../schemas.ts';
import { TIER_SETS } from '../tiers.ts';

const readTiers = (readBehaviour: ReadBehaviour) => TIER_SETS[readBehaviour('workspaces.read.tiers')];

const slug = () =>
  text(63).regex(
    /^[a-z0-9]+(?:-[a-z0-9]+)*$/,
    'must be lower-case letters and digits, with single hyphens between them',
  );

export const workspaceOperations = {
  createWorkspace: defineOperation('POST /v1/workspaces', 'Create a workspace', {
    origin: 'reference',
    tiers: () => ['tenant'],
    assumes: ['workspaces.create.slug', 'workspaces.shape'],
    body: () => z.object({ name: name(200), slug: slug().nullish() }),
    status: 201,
    errors: ['ALREADY_EXISTS'],
  }),
  listWorkspaces: defineOperation('GET /v1/workspaces', 'List workspaces', {
    origin: 'reference',
    tiers: readTiers,
    assumes: ['workspaces.shape', 'workspaces.list.order'],
  }),
  getWorkspace: defineOperation('GET /v1/workspaces/{id}', 'Read a workspace', {
    origin: 'reference',
    tiers: readTiers,
    params: idParams,
    assumes: ['workspaces.shape'],
  }),
  deleteWorkspace: defineOperation('DELETE /v1/workspaces/{id}', 'Delete a workspace and everything in it', {
    origin: 'reference',
    tiers: (readBehaviour) => TIER_SETS[readBehaviour('workspaces.delete.tiers')],
    params: idParams,
    assumes: ['workspaces.delete.cascade'],
    errors: ['FORBIDDEN', 'CONFLICT'],
  }),
};

const workspace = () =>
  z
    .strictObject({
      id: uuid(),
      name: z.string(),
      slug: z.string(),
      isDefault: z.boolean(),
      inboxCount: z.int().describe('The number of its inboxes.'),
      domainCount: z.int().describe('The number of its domains.'),
      createdAt: timestamp(),
    })
    .meta({ id: 'Workspace' });

/** The bodies of the successful replies of these operations. */
export const workspaceReplies = defineReplies({
  createWorkspace: workspace,
  listWorkspaces: () => z.strictObject({ workspaces: z.array(workspace()) }),
  getWorkspace: workspace,
  deleteWorkspace: (readBehaviour) => deleteReplies()[readBehaviour('workspaces.delete.body')],
});
