import type { z } from 'zod';
import type { BehaviourValues } from '../../contract/behaviours.ts';
import { EVENT_KINDS, type EventKind } from '../../contract/events.ts';
import { clientFrame, type subscribeFrame } from '../../contract/stream-protocol.ts';
import type { MailEvent } from '../../world/event-bus.ts';
import { primaryAddress, type World } from '../../world/store/world.ts';
import { isInScope, type TenantPrincipal } from '../pipeline/access/principal.ts';

/** A frame that the service sends (reference, "Event stream"). */
export type ServerFrame =
  | { readonly type: 'connected'; readonly inboxId: string | null; readonly email: string | null }
  | {
      readonly type: 'subscribed';
      readonly event_types: readonly EventKind[];
      readonly inbox_ids: readonly string[];
      readonly workspace_ids: readonly string[];
    }
  | {
      readonly type: 'event';
      readonly event_type: EventKind;
      readonly event_id: string;
      readonly message: Readonly<Record<string, unknown>>;
      readonly thread: { readonly thread_id: string; readonly subject: string };
    }
  | { readonly type: 'ping' }
  | { readonly type: 'error'; readonly message: string };

/** A frame as text and as bytes. Each form is created when it is first read, and then shared by all clients. */
export interface EncodedFrame {
  readonly text: string;
  /** The UTF-8 bytes of the text. */
  readonly bytes: Uint8Array;
}

/** Encodes a frame. `make` is called when the text or the bytes are first read. */
export function encodeFrame(make: () => ServerFrame): EncodedFrame {
  let text: string | undefined;
  let bytes: Uint8Array | undefined;
  return {
    get text() {
      text ??= JSON.stringify(make());
      return text;
    },
    get bytes() {
      bytes ??= new TextEncoder().encode(this.text);
      return bytes;
    },
  };
}

/** Creates the first frame of a stream. It names the inbox of the stream, if the stream is for a single inbox. */
export function connectedFrame(world: World, inboxId: string | null): ServerFrame {
  const inbox = inboxId === null ? undefined : world.inboxes.get(inboxId);
  return { type: 'connected', inboxId, email: inbox ? primaryAddress(world, inbox) : null };
}

/** Creates the frame that confirms a subscription. */
export function subscribedFrame({ kinds, inboxIds, workspaceIds }: Subscription): ServerFrame {
  return { type: 'subscribed', event_types: kinds, inbox_ids: inboxIds, workspace_ids: workspaceIds };
}

/** Creates the frame of an event. */
export function eventFrame(
  { id, kind, world, inboxId, message, bounce }: MailEvent,
  behaviours: BehaviourValues,
): ServerFrame {
  const { threadId, from, to, subject, plainBody, htmlBody, receivedAt } = message;
  const thread = world.messageIndex.thread(inboxId, threadId);
  return {
    type: 'event',
    event_type: kind,
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

/** Parses a frame from a client; returns an error message for the client if it is invalid. */
export function readFrame(data: unknown): z.output<ReturnType<typeof clientFrame>> | string {
  const parsed = clientFrame().safeParse(readJson(data));
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.slice(0, 3).map(({ path, message }) => `${path.join('.')} ${message}`.trim());
  return `The frame is not valid: ${problems.join('; ')}.`;
}

/** Parses a text as JSON; `undefined` if it is not JSON. */
function readJson(data: unknown): unknown {
  try {
    return typeof data === 'string' ? JSON.parse(data) : undefined;
  } catch {
    return undefined;
  }
}

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
export function toSubscription(frame: z.output<ReturnType<typeof subscribeFrame>>): Subscription {
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

/** Returns whether an event of the same tenant matches a subscription and the scope of the key. */
export function isSubscribed(
  principal: TenantPrincipal,
  { kinds, inboxIds, workspaceIds }: Subscription,
  event: MailEvent,
): boolean {
  const { kind, workspaceId, inboxId } = event;
  if (!kinds.includes(kind) || !isInScope(principal, { workspaceId, inboxId })) {
    return false;
  }
  const isUnrestricted = inboxIds.length === 0 && workspaceIds.length === 0;
  return isUnrestricted || inboxIds.includes(inboxId) || workspaceIds.includes(workspaceId);
}
