import { z } from 'zod';
import type { ReadBehaviour } from '../behaviours.ts';
import { defineOperation } from '../operation.ts';
import { idInRequest, idParams, name } from '../schemas.ts';
import { TIER_SETS } from '../tiers.ts';

const workspaceKeyTiers = (readBehaviour: ReadBehaviour) => TIER_SETS[readBehaviour('workspaces.keys.tiers')];

export const keyOperations = {
  rotateInboxKey: defineOperation({
    method: 'POST',
    path: '/v1/inboxes/{id}/keys',
    summary: 'Rotate the key of an inbox',
    origin: 'document',
    section: '4.4',
    tiers: (readBehaviour) => TIER_SETS[readBehaviour('inboxes.rotate.tiers')],
    params: idParams,
    status: 201,
    assumes: ['inboxes.rotate.status'],
  }),
  createWorkspaceKey: defineOperation({
    method: 'POST',
    path: '/v1/workspaces/{id}/keys',
    summary: 'Create a key for a workspace',
    origin: 'reference',
    section: '4.4',
    tiers: workspaceKeyTiers,
    params: idParams,
    body: () => z.object({ name: name(200).nullish() }),
    status: 201,
    assumes: ['workspaces.keys.create.reply'],
  }),
  listWorkspaceKeys: defineOperation({
    method: 'GET',
    path: '/v1/workspaces/{id}/keys',
    summary: 'List the keys of a workspace',
    origin: 'reference',
    section: '4.4',
    tiers: workspaceKeyTiers,
    params: idParams,
    status: 200,
    assumes: ['workspaces.keys.list.reply'],
  }),
  deleteWorkspaceKey: defineOperation({
    method: 'DELETE',
    path: '/v1/workspaces/{id}/keys/{key_id}',
    summary: 'Delete a key of a workspace',
    origin: 'document',
    section: '4.4',
    tiers: workspaceKeyTiers,
    params: z.object({ id: idInRequest, key_id: idInRequest }),
    status: 200,
  }),
};
