import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { DELETE_REPLIES } from '../replies.ts';
import { idParams, name, timestamp, uuid } from '../schemas.ts';

const createdTenant = z.strictObject({
  id: uuid,
  name: z.string(),
  apiKey: z.string().describe('The first tenant key; only shown here.'),
  defaultWorkspaceId: uuid,
  createdAt: timestamp,
});

const CREATE_BODY = z.object({ name: name(200) });

export const tenantOperations = {
  createTenant: defineOperation({
    method: 'POST',
    path: '/v1/tenants',
    summary: 'Create a tenant, with a workspace called Default',
    origin: 'reference',
    section: '5',
    tiers: () => ['operator'],
    body: (choose) => ({ name: CREATE_BODY })[choose('tenants.create.required')],
    status: 201,
    reply: (choose) => ({ 'with-key': createdTenant })[choose('tenants.create.reply')],
  }),
  deleteTenant: defineOperation({
    method: 'DELETE',
    path: '/v1/tenants/{id}',
    summary: 'Delete a tenant and everything in it',
    origin: 'assumed',
    section: '5',
    tiers: () => ['operator'],
    params: idParams,
    status: 200,
    reply: (choose) => DELETE_REPLIES[choose('tenants.delete.body')],
  }),
};
