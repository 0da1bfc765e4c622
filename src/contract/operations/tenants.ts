import { z } from 'zod';
import { defineOperation, defineReplies } from '../operation.ts';
import { deleteReplies, idParams, name, timestamp, uuid } from '../schemas.ts';

export const tenantOperations = {
  createTenant: defineOperation('POST /v1/tenants', 'Create a tenant, with a workspace called Default', {
    origin: 'reference',
    section: '5',
    tiers: () => ['operator'],
    assumes: ['tenants.create.required', 'tenants.create.workspace', 'tenants.create.reply'],
    body: () => z.object({ name: name(200) }),
    status: 201,
  }),
  deleteTenant: defineOperation('DELETE /v1/tenants/{id}', 'Delete a tenant and everything in it', {
    section: '5',
    tiers: () => ['operator'],
    params: idParams,
    assumes: ['tenants.delete.cascade'],
  }),
};

const createdTenant = () =>
  z
    .strictObject({
      id: uuid(),
      name: z.string(),
      apiKey: z.string().describe('The first tenant key; no other reply shows it.'),
      defaultWorkspaceId: uuid(),
      createdAt: timestamp(),
    })
    .meta({ id: 'Tenant' });

/** The bodies of the successful replies of these operations. */
export const tenantReplies = defineReplies({
  createTenant: createdTenant,
  deleteTenant: (readBehaviour) => deleteReplies()[readBehaviour('tenants.delete.body')],
});
