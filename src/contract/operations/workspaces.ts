import { z } from 'zod';
import type { ReadBehaviour } from '../behaviours.ts';
import { defineOperation } from '../operation.ts';
import { idParams, name, text } from '../schemas.ts';
import { TIER_SETS } from '../tiers.ts';

const readTiers = (readBehaviour: ReadBehaviour) => TIER_SETS[readBehaviour('workspaces.read.tiers')];

const slug = text(63).regex(
  /^[a-z0-9]+(?:-[a-z0-9]+)*$/,
  'must be lower-case letters and digits, with single hyphens between them',
);

export const workspaceOperations = {
  createWorkspace: defineOperation({
    method: 'POST',
    path: '/v1/workspaces',
    summary: 'Create a workspace',
    origin: 'reference',
    tiers: () => ['tenant'],
    assumes: ['workspaces.create.slug', 'workspaces.shape'],
    body: () => z.object({ name: name(200), slug: slug.nullish() }),
    status: 201,
    errors: ['ALREADY_EXISTS'],
  }),
  listWorkspaces: defineOperation({
    method: 'GET',
    path: '/v1/workspaces',
    summary: 'List workspaces',
    origin: 'reference',
    tiers: readTiers,
    status: 200,
    assumes: ['workspaces.shape', 'workspaces.list.order'],
  }),
  getWorkspace: defineOperation({
    method: 'GET',
    path: '/v1/workspaces/{id}',
    summary: 'Read a workspace',
    origin: 'reference',
    tiers: readTiers,
    params: idParams,
    status: 200,
    assumes: ['workspaces.shape'],
  }),
  deleteWorkspace: defineOperation({
    method: 'DELETE',
    path: '/v1/workspaces/{id}',
    summary: 'Delete a workspace and everything in it',
    origin: 'reference',
    tiers: (readBehaviour) => TIER_SETS[readBehaviour('workspaces.delete.tiers')],
    params: idParams,
    status: 200,
    assumes: ['workspaces.delete.cascade'],
    errors: ['FORBIDDEN', 'CONFLICT'],
  }),
};
