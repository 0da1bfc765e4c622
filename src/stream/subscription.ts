import type { z } from 'zod';
import { isInScope } from '../access/policy.ts';
import type { TenantPrincipal } from '../access/principal.ts';
import { EVENT_KINDS, type EventKind } from '../contract/events.ts';
import type { subscribeFrame } from '../contract/stream-protocol.ts';
import type { MailEvent } from '../events/event-bus.ts';

/**
 * The events that a client subscribes to. If both lists of ids are empty: those of every inbox in the scope of its key.
 */
export interface Subscription {
  readonly kinds: readonly EventKind[];
  readonly inboxIds: readonly string[];
  readonly workspaceIds: readonly string[];
}

/** Creates a subscription to every kind of event, of the given inboxes or of all in the scope of the key. */
export function subscribeToAll(inboxIds: readonly string[] = []): Subscription {
  return { kinds: EVENT_KINDS, inboxIds, workspaceIds: [] };
}

/** Creates a subscription from a frame. */
export function toSubscription(frame: z.output<typeof subscribeFrame>): Subscription {
  const { event_types: kinds, inbox_ids: inboxIds, workspace_ids: workspaceIds, pod_ids: podIds } = frame;
  return {
    kinds: kinds.length > 0 ? kinds : EVENT_KINDS,
    inboxIds,
    workspaceIds: [...new Set([...workspaceIds, ...podIds])],
  };
}

/** Describes the first inbox or workspace of a subscription that is not in scope; `undefined` if all are. */
export function findOutOfScope(
  principal: TenantPrincipal,
  { inboxIds, workspaceIds }: Subscription,
): string | undefined {
  const { inboxes, workspaces } = principal.world;
  const inbox = inboxIds.find((id) => {
    const row = inboxes.get(id);
    return !row || row.deletedAt !== null || !isInScope(principal, { workspaceId: row.workspaceId, inboxId: id });
  });
  if (inbox !== undefined) return `inbox ${inbox}`;
  const workspace = workspaceIds.find(
    (id) => !workspaces.get(id) || !isInScope(principal, { workspaceId: id, inboxId: null }),
  );
  return workspace === undefined ? undefined : `workspace ${workspace}`;
}

/** Returns whether an event matches a subscription and the scope of the key. */
export function isSubscribed(
  principal: TenantPrincipal,
  { kinds, inboxIds, workspaceIds }: Subscription,
  event: MailEvent,
): boolean {
  const { tenantId, kind, workspaceId, inboxId } = event;
  if (tenantId !== principal.world.id || !kinds.includes(kind) || !isInScope(principal, { workspaceId, inboxId })) {
    return false;
  }
  const isUnrestricted = inboxIds.length === 0 && workspaceIds.length === 0;
  return isUnrestricted || inboxIds.includes(inboxId) || workspaceIds.includes(workspaceId);
}
