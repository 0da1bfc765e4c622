import type { Fixture, FixtureTenant } from '../contract/fixture.ts';
import type { World } from './world.ts';
import type { Worlds } from './worlds.ts';

type Workspace = FixtureTenant['workspaces'][string];
type Inbox = Workspace['inboxes'][string];

/** Fills empty worlds with what a checked fixture holds. */
export function seed(worlds: Worlds, fixture: Fixture): void {
  worlds.addOperatorKey(fixture.operator.key);
  for (const tenant of Object.values(fixture.tenants)) seedTenant(worlds, tenant);
}

function seedTenant(worlds: Worlds, { id, name, createdAt, key, workspaces, webhooks }: FixtureTenant): void {
  const world = worlds.add({ id, name, createdAt });
  world.addKey({ ...key, tier: 'tenant', ownerId: id });
  for (const workspace of Object.values(workspaces)) seedWorkspace(world, workspace);
  for (const { workspace: handle, ...webhook } of Object.values(webhooks)) {
    world.webhooks.insert({ ...webhook, workspaceId: handle === null ? null : (workspaces[handle]?.id ?? null) });
  }
}

function seedWorkspace(world: World, { key, inboxes, ...workspace }: Workspace): void {
  world.workspaces.insert(workspace);
  world.addKey({ ...key, tier: 'workspace', ownerId: workspace.id });
  for (const inbox of Object.values(inboxes)) seedInbox(world, workspace.id, inbox);
}

function seedInbox(world: World, workspaceId: string, { key, messages, ...inbox }: Inbox): void {
  world.inboxes.insert({ ...inbox, workspaceId });
  world.addKey({ ...key, tier: 'inbox', ownerId: inbox.id });
  for (const message of messages) world.messages.insert({ ...message, inboxId: inbox.id });
}
