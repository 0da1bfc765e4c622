import { z } from 'zod';
import type { ReadBehaviour } from '../behaviours.ts';
import { defineOperation } from '../operation.ts';
import { idInRequest, idParams, name } from '../schemas.ts';
import { TIER_SETS } from '../tiers.ts';

const ofWorkspace = {
  section: '4.4',
  tiers: (readBehaviour: ReadBehaviour) => TIER_SETS[readBehaviour('workspaces.keys.tiers')],
} as const;

export const keyOperations = {
  rotateInboxKey: defineOperation('POST /v1/inboxes/{id}/keys', 'Rotate the key of an inbox', {
    origin: 'document',
    section: '4.4',
    tiers: (readBehaviour) => TIER_SETS[readBehaviour('inboxes.rotate.tiers')],
    params: idParams,
    status: 201,
    assumes: ['inboxes.rotate.status'],
  }),
  createWorkspaceKey: defineOperation('POST /v1/workspaces/{id}/keys', 'Create a key for a workspace', {
    origin: 'reference',
    ...ofWorkspace,
    params: idParams,
    body: () => z.object({ name: name(200).nullish() }),
    status: 201,
    assumes: ['workspaces.keys.create.reply'],
  }),
  listWorkspaceKeys: defineOperation('GET /v1/workspaces/{id}/keys', 'List the keys of a workspace', {
    origin: 'reference',
    ...ofWorkspace,
    params: idParams,
    assumes: ['workspaces.keys.list.reply'],
  }),
  deleteWorkspaceKey: defineOperation('DELETE /v1/workspaces/{id}/keys/{key_id}', 'Delete a key of a workspace', {
    origin: 'document',
    ...ofWorkspace,
    params: () => z.object({ id: idInRequest(), key_id: idInRequest() }),
  }),
};
