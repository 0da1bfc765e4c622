import { z } from 'zod';
import { chooseBy, defineOperations } from '../operation.ts';
import { deleteReplies, name, object, timestamp, uuid } from '../schemas.ts';

/** Creates the row of an operation that only the operator may call. */
const operatorOperation = defineOperations({ section: '5', tiers: ['operator'] });

export const tenantOperations = {
  createTenant: operatorOperation('POST /v1/tenants', 'Create a tenant, with a workspace called Default', {
    origin: 'reference',
    body: () => z.object({ name: name(200) }),
    reply: () =>
      object('Tenant', {
        id: uuid(),
        name: z.string(),
        apiKey: z.string().describe('The first tenant key; no other reply shows it.'),
        defaultWorkspaceId: uuid(),
        createdAt: timestamp(),
      }),
    status: 201,
  }),
  deleteTenant: operatorOperation('DELETE /v1/tenants/{id}', 'Delete a tenant and everything in it', {
    reply: chooseBy('tenants.delete.body', deleteReplies),
  }),
};
