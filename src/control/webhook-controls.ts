import type { EventKind } from '../contract/events.ts';
import type { ReachableWorlds } from '../store/reachable-worlds.ts';

/** A webhook as its owner knows it, with its secret. */
export interface WebhookSettings {
  /** The id of the webhook. */
  readonly id: string;
  /** The id of its tenant. */
  readonly tenantId: string;
  /** The id of the workspace whose events it gets; null for those of the whole tenant. */
  readonly workspaceId: string | null;
  /** The URL to which events are delivered. */
  readonly url: string;
  /** The kinds of event that it gets. */
  readonly events: readonly EventKind[];
  /** Whether events are delivered. */
  readonly isActive: boolean;
  /** The secret that signs its deliveries, which the service shows only when it is created. */
  readonly secret: string;
}

/** The control methods for webhooks. */
export interface WebhookControls {
  /** Returns every webhook with its secret, grouped by tenant, oldest first. */
  webhooks(): WebhookSettings[];
}

/** Creates the webhook methods of a mailbox. */
export function createWebhookControls(worlds: ReachableWorlds): WebhookControls {
  return {
    webhooks: () =>
      worlds.all().flatMap((world) =>
        world.webhooks.all().map(({ id, workspaceId, url, events, isActive, secret }) => {
          return { id, tenantId: world.id, workspaceId, url, events, isActive, secret };
        }),
      ),
  };
}
