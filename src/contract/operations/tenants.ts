import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { DELETE_REPLIES } from '../replies.ts';
import { idParams, name, timestamp, uuid } from '../schemas.ts';

const createdTenant = z.strictObject({
  id: uuid,
  name: z.string(),
  apiKey: z.string().describe('The first tenant key; no other reply shows it.'),
  defaultWorkspaceId: uuid,
  createdAt: timestamp,
});

export const tenantOperations = {
  createTenant: defineOperation({
    method: 'POST',
    path: '/v1/tenants',
    summary: 'Create a tenant, with a workspace called Default',
    origin: 'reference',
    section: '5',
    tiers: () => ['operator'],
    assumes: ['tenants.create.required', 'tenants.create.workspace', 'tenants.create.reply'],
    body: () => z.object({ name: name(200) }),
    status: 201,
    reply: () => createdTenant,
  }),
  deleteTenant: defineOperation({
    method: 'DELETE',
    path: '/v1/tenants/{id}',
    summary: 'Delete a tenant and everything in it',
    origin: 'assumed',
    section: '5',
    tiers: () => ['operator'],
    params: idParams,
    assumes: ['tenants.delete.cascade'],
    status: 200,
    reply: (readBehaviour) => DELETE_REPLIES[readBehaviour('tenants.delete.body')],
  }),
};
