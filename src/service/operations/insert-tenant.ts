import { newId, timestampNow } from '../../world/environment.ts';
import type { Worlds } from '../../world/store/worlds.ts';
import { createKey } from '../access/principal.ts';

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
