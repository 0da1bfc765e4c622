import { z } from 'zod';
import { defineReplies } from '../../operation.ts';
import { timestamp, uuid } from '../../schemas.ts';
import { deleteReplies } from './common.ts';

const workspace = () =>
  z.strictObject({
    id: uuid(),
    name: z.string(),
    slug: z.string(),
    isDefault: z.boolean(),
    inboxCount: z.int().describe('The number of its inboxes.'),
    domainCount: z.int().describe('The number of its domains.'),
    createdAt: timestamp(),
  });

/** The bodies of the successful replies of these operations. */
export const workspaceReplies = defineReplies({
  createWorkspace: workspace,
  listWorkspaces: () => z.strictObject({ workspaces: z.array(workspace()) }),
  getWorkspace: workspace,
  deleteWorkspace: (readBehaviour) => deleteReplies()[readBehaviour('workspaces.delete.body')],
});
