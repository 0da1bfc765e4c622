import type { z } from 'zod';
import type { BehaviourValues } from '../contract/behaviours.ts';
import type { EventKind } from '../contract/events.ts';
import { clientFrame } from '../contract/stream-protocol.ts';
import type { MailEvent } from '../events/event-bus.ts';
import { primaryAddress } from '../store/inbox-address.ts';
import type { World } from '../store/world.ts';
import type { Subscription } from './subscription.ts';

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
  world: World,
  { id, kind, inboxId, message, bounce }: MailEvent,
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
export function readFrame(data: unknown): z.output<typeof clientFrame> | string {
  const parsed = clientFrame.safeParse(readJson(data));
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
