import { z } from 'zod';
import { defineReplies } from '../../operation.ts';
import { timestamp, uuid } from '../../schemas.ts';
import { deleteReplies } from './common.ts';

const createdTenant = () =>
  z.strictObject({
    id: uuid(),
    name: z.string(),
    apiKey: z.string().describe('The first tenant key; no other reply shows it.'),
    defaultWorkspaceId: uuid(),
    createdAt: timestamp(),
  });

/** The bodies of the successful replies of these operations. */
export const tenantReplies = defineReplies({
  createTenant: createdTenant,
  deleteTenant: (readBehaviour) => deleteReplies()[readBehaviour('tenants.delete.body')],
});
