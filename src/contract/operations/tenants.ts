import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { deletedReply, emptyReply, name, pathId, timestamp, uuid } from '../schemas.ts';

const createdTenant = z.strictObject({
  id: uuid,
  name: z.string(),
  apiKey: z.string().describe('The first tenant key; only shown here.'),
  defaultWorkspaceId: uuid,
  createdAt: timestamp,
});

const CREATE_BODY = z.object({ name: name(200) });

const DELETE_REPLIES = { 'deleted-and-id': deletedReply, empty: emptyReply };

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
    params: z.object({ id: pathId }),
    status: 200,
    reply: (choose) => DELETE_REPLIES[choose('tenants.delete.body')],
  }),
};
