import { z } from 'zod';
import type { Choose } from '../behaviours.ts';
import { defineOperation } from '../operation.ts';
import { deletedReply, emptyReply, name, pathId, text, timestamp, uuid } from '../schemas.ts';
import type { Tier } from '../tiers.ts';

const READ_TIERS = {
  'tenant-and-workspace': ['tenant', 'workspace'],
  'tenant-only': ['tenant'],
} as const satisfies Record<string, readonly Tier[]>;

const readTiers = (choose: Choose) => READ_TIERS[choose('workspaces.read.tiers')];

const workspace = z.strictObject({
  id: uuid,
  name: z.string(),
  slug: z.string(),
  isDefault: z.boolean(),
  inboxCount: z.int().describe('How many inboxes it has.'),
  domainCount: z.int().describe('How many domains belong to it.'),
  createdAt: timestamp,
});

const WORKSPACES = { reference: workspace };

const workspaceReply = (choose: Choose) => WORKSPACES[choose('workspaces.shape')];

const SLUGS = {
  'from-name': text(63)
    .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, 'must be lower-case letters and digits, with single hyphens between them')
    .nullish(),
};

const DELETE_REPLIES = { 'deleted-and-id': deletedReply, empty: emptyReply };

export const workspaceOperations = {
  createWorkspace: defineOperation({
    method: 'POST',
    path: '/v1/workspaces',
    summary: 'Create a workspace',
    origin: 'reference',
    tiers: () => ['tenant'],
    body: (choose) => z.object({ name: name(200), slug: SLUGS[choose('workspaces.create.slug')] }),
    status: 201,
    reply: workspaceReply,
    errors: ['ALREADY_EXISTS'],
  }),
  listWorkspaces: defineOperation({
    method: 'GET',
    path: '/v1/workspaces',
    summary: 'List workspaces',
    origin: 'reference',
    tiers: readTiers,
    status: 200,
    reply: (choose) => z.strictObject({ workspaces: z.array(workspaceReply(choose)) }),
  }),
  getWorkspace: defineOperation({
    method: 'GET',
    path: '/v1/workspaces/{id}',
    summary: 'Read a workspace',
    origin: 'reference',
    tiers: readTiers,
    params: z.object({ id: pathId }),
    status: 200,
    reply: workspaceReply,
  }),
  deleteWorkspace: defineOperation({
    method: 'DELETE',
    path: '/v1/workspaces/{id}',
    summary: 'Delete a workspace and everything in it',
    origin: 'reference',
    tiers: (choose) => READ_TIERS[choose('workspaces.delete.tiers')],
    params: z.object({ id: pathId }),
    status: 200,
    reply: (choose) => DELETE_REPLIES[choose('workspaces.delete.body')],
    errors: ['CONFLICT'],
  }),
};
