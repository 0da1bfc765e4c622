import type { WorkspaceRow } from './rows.ts';
import type { World } from './world.ts';

/** The workspace that is used if none is named; `undefined` in a tenant without workspaces. */
export function defaultWorkspace({ workspaces }: World): WorkspaceRow | undefined {
  return workspaces.all().find(({ isDefault }) => isDefault);
}
