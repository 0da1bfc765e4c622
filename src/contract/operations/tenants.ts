import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { idParams, name } from '../schemas.ts';

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
  }),
};
