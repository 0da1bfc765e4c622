import { ApiError } from '../../contract/errors.ts';
import { newId, timestampNow } from '../../world/environment.ts';
import type { Worlds } from '../../world/store/worlds.ts';
import { createKey } from '../access/principal.ts';
import type { Run } from './context.ts';
import { DELETE_BODY } from './replies.ts';

export const createTenant: Run<'createTenant'> = ({ worlds }, { body }) => ({ body: insertTenant(worlds, body.name) });

/** Creates a tenant with a workspace named Default (reference) and a first tenant key. */
export function insertTenant(worlds: Worlds, name: string) {
  const { environment } = worlds;
  const createdAt = timestampNow(environment);
  const id = newId(environment);
  const workspace = { id: newId(environment), name: 'Default', slug: 'default', isDefault: true, createdAt };
  const key = createKey(environment, { tier: 'tenant', ownerId: id });
  const world = worlds.add({ id, name, createdAt });
  world.workspaces.insert(workspace);
  world.addKey(key);
  return { id, name, apiKey: key.key, defaultWorkspaceId: workspace.id, createdAt };
}

/** Deletes a tenant with all its data. From the next request on, its keys are refused. */
export const deleteTenant: Run<'deleteTenant'> = ({ worlds, readBehaviour }, { params }) => {
  if (!worlds.remove(params.id)) throw new ApiError('NOT_FOUND', 'There is no tenant with this id.');
  return { body: DELETE_BODY[readBehaviour('tenants.delete.body')](params.id) };
};
