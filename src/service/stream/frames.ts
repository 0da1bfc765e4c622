import type { z } from 'zod';
import { lazy } from '../../basics/lazy-schema.ts';
import type { BehaviourValues } from '../../contract/behaviours.ts';
import { EVENT_KINDS, type EventKind } from '../../contract/events.ts';
import { clientFrame, type subscribeFrame } from '../../contract/stream-protocol.ts';
import { primaryAddress, type World } from '../../world/store/world.ts';
import { isInScope, type TenantPrincipal } from '../access/principal.ts';
import type { MailEvent } from '../journal/entry-data.ts';

/** A frame that the service sends (reference, "Event stream"). */
export type ServerFrame =
  | ReturnType<typeof connectedFrame | typeof subscribedFrame | typeof eventFrame>
  | { readonly type: 'ping' }
  | { readonly type: 'error'; readonly message: string };

/** A frame as text and as bytes in UTF-8. Each form is created at its first use, and then shared by clients. */
export type EncodedFrame = ReturnType<typeof encodeFrame>;

/** Encodes a frame. `create` is called at the first use of the text or the bytes. */
export function encodeFrame(create: () => ServerFrame) {
  const text = lazy(() => JSON.stringify(create()));
  return { text, bytes: lazy(() => new TextEncoder().encode(text())) };
}

/** Creates the first frame of a stream. It names the inbox of the stream, if the stream is for a single inbox. */
export function connectedFrame(world: World, inboxId: string | null) {
  const inbox = world.inboxes.get(inboxId ?? '');
  return { type: 'connected' as const, inboxId, email: inbox ? primaryAddress(world, inbox) : null };
}

/** Creates the frame that confirms a subscription. */
export function subscribedFrame({ kinds, inboxIds, workspaceIds }: Subscription) {
  return { type: 'subscribed' as const, event_types: kinds, inbox_ids: inboxIds, workspace_ids: workspaceIds };
}

/** Creates the frame of an event. */
export function eventFrame(world: World, mailEvent: MailEvent, behaviours: BehaviourValues) {
  const { id, event, inboxId, message, bounce } = mailEvent;
  const { threadId, from, to, subject, plainBody, htmlBody, receivedAt } = message;
  const thread = world.messageIndex.thread(inboxId, threadId);
  return {
    type: 'event' as const,
    event_type: event,
    event_id: id,
    message: {
      ...(behaviours['stream.event.message'] === 'with-id' && { message_id: message.id }),
      inbox_id: inboxId,
      thread_id: threadId,
      from,
      to,
      subject,
      plain_body: plainBody,
      html_body: htmlBody,
      timestamp: receivedAt,
      ...(bounce && { recipient: bounce.recipient, status_code: bounce.statusCode }),
    },
    thread: { thread_id: threadId, subject: thread?.first.subject ?? subject },
  };
}

/** Parses a frame from a client; returns an error message for the client if the frame is invalid. */
export function readFrame(data: unknown): z.output<ReturnType<typeof clientFrame>> | string {
  const parsed = clientFrame().safeParse(readJson(data));
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.slice(0, 3).map(({ path, message }) => `${path.join('.')} ${message}`.trim());
  return `The frame is not valid: ${problems.join('; ')}.`;
}

/** Parses a text as JSON; returns `undefined` if it is not JSON. */
function readJson(data: unknown): unknown {
  try {
    return typeof data === 'string' ? JSON.parse(data) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The events to which a client subscribes. If both lists of ids are empty, it gets the events of every inbox in the
 * scope of its key.
 */
export interface Subscription {
  readonly kinds: readonly EventKind[];
  readonly inboxIds: readonly string[];
  readonly workspaceIds: readonly string[];
}

/** Creates a subscription to every kind of event, of one inbox or of all inboxes in the scope of the key. */
export function subscribeToAll(inboxId?: string): Subscription {
  return { kinds: EVENT_KINDS, inboxIds: inboxId === undefined ? [] : [inboxId], workspaceIds: [] };
}

/** Creates a subscription from a frame. Its `pod_ids` are also ids of workspaces. */
export function toSubscription(frame: z.output<ReturnType<typeof subscribeFrame>>): Subscription {
  const { event_types: kinds, inbox_ids: inboxIds, workspace_ids: workspaceIds, pod_ids: podIds } = frame;
  const workspaces = [...new Set([...workspaceIds, ...podIds])];
  return { kinds: kinds.length > 0 ? kinds : EVENT_KINDS, inboxIds, workspaceIds: workspaces };
}

/** Describes the first inbox or workspace of a subscription that is out of scope; returns `undefined` if none is. */
export function findOutOfScope(principal: TenantPrincipal, subscription: Subscription): string | undefined {
  const { inboxes, workspaces } = principal.world;
  const inboxId = subscription.inboxIds.find((id) => {
    const row = inboxes.get(id);
    return row?.deletedAt !== null || !isInScope(principal, { workspaceId: row.workspaceId, inboxId: id });
  });
  if (inboxId !== undefined) return `inbox ${inboxId}`;
  const isHidden = (id: string) => !workspaces.get(id) || !isInScope(principal, { workspaceId: id });
  const workspaceId = subscription.workspaceIds.find(isHidden);
  return workspaceId === undefined ? undefined : `workspace ${workspaceId}`;
}

/** Returns whether an event of the same tenant matches a subscription and the scope of the key. */
export function isSubscribed(
  principal: TenantPrincipal,
  { kinds, inboxIds, workspaceIds }: Subscription,
  mailEvent: MailEvent,
): boolean {
  const { event, inboxId, workspaceId } = mailEvent;
  if (!kinds.includes(event) || !isInScope(principal, mailEvent)) return false;
  const isUnrestricted = inboxIds.length === 0 && workspaceIds.length === 0;
  return isUnrestricted || inboxIds.includes(inboxId) || workspaceIds.includes(workspaceId);
}
