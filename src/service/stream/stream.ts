import type { BehaviourValues } from '../../contract/behaviours.ts';
import { CLOSE_CODES, MAX_BUFFERED_BYTES, MAX_FRAME_BYTES } from '../../contract/stream-protocol.ts';
import type { Environment } from '../../world/environment.ts';
import type { StreamFault } from '../../world/fault.ts';
import type { StreamAccess } from '../access/check-stream-access.ts';
import type { TenantPrincipal } from '../access/principal.ts';
import type { MailEvent } from '../journal/entry-data.ts';
import type { EncodedFrame, ServerFrame, Subscription } from './frames.ts';
import {
  connectedFrame,
  encodeFrame,
  findOutOfScope,
  isSubscribed,
  readFrame,
  subscribedFrame,
  subscribeToAll,
  toSubscription,
} from './frames.ts';

/** The part of a connection that a stream uses. */
export interface StreamConnection {
  /** Sends a text frame. `toBytes` returns the text in UTF-8; all connections share these bytes. */
  send(text: string, toBytes: () => Uint8Array): void;
  /** Closes the WebSocket with a close code and a reason of at most 123 bytes (RFC 6455). */
  close(code: number, reason: string): void;
  /** How many bytes are buffered and not sent yet. */
  readonly bufferedBytes: number;
}

/** The time between two pings. */
const PING_MS: Record<BehaviourValues['stream.ping'], number | undefined> = {
  '30s': 30_000,
  '5m': 300_000,
  never: undefined,
};

/** The event stream of one client. */
export class Stream {
  readonly #principal: TenantPrincipal;
  readonly #connection: StreamConnection;
  readonly #pingMs: number | undefined;
  readonly #takeFault: () => StreamFault | undefined;
  #subscription: Subscription | undefined;
  #isOpen = true;
  /** Whether a fault has stopped all frames to the client. The connection stays open. */
  #isStalled = false;
  #cancelPing = () => {};

  /**
   * Starts a stream on an open connection and sends the first frames. `takeFault` returns the fault that happens
   * instead of the next event, if any.
   */
  constructor(
    { principal, inboxId }: StreamAccess,
    connection: StreamConnection,
    behaviours: BehaviourValues,
    takeFault: () => StreamFault | undefined,
  ) {
    this.#principal = principal;
    this.#connection = connection;
    this.#takeFault = takeFault;
    this.#pingMs = PING_MS[behaviours['stream.ping']];
    const isSubscribedAtStart = inboxId !== undefined || behaviours['stream.before-subscribe'] === 'everything';
    this.#subscription = isSubscribedAtStart ? subscribeToAll(inboxId) : undefined;
    this.#send(connectedFrame(principal.world, inboxId ?? principal.inboxId));
    // `stream.alias` decides whether /v1/inboxes/{id}/ws also sends a subscribed frame.
    if (inboxId !== undefined && behaviours['stream.alias'] === 'subscribed') {
      this.#send(subscribedFrame(subscribeToAll(inboxId)));
    }
    this.#schedulePing();
  }

  /** Handles a frame from the client. A frame that is not text gets an error frame. */
  receive(data: unknown): void {
    // After the stream has closed, frames that the client sent before may still arrive.
    if (!this.#isOpen) return;
    if (typeof data === 'string' && data.length > MAX_FRAME_BYTES) {
      this.close(CLOSE_CODES.tooLarge, 'The frame is larger than 64 KiB.');
      return;
    }
    const reply = this.#replyTo(data);
    if (reply) this.#send(reply);
  }

  /**
   * Sends the frame of an event if the event matches the subscription and no fault happens instead. Returns whether
   * the frame was sent.
   */
  notify(event: MailEvent, frame: EncodedFrame): boolean {
    const isWanted = this.#subscription && isSubscribed(this.#principal, this.#subscription, event);
    if (!isWanted || !this.#isOpen || this.#isStalled) return false;
    const fault = this.#takeFault();
    if (!fault) this.#sendEncoded(frame);
    else if (fault.kind === 'close') this.close(fault.code, 'A fault closes the stream.');
    else this.#isStalled = true;
    return fault === undefined && this.#isOpen;
  }

  /** Closes the stream and the connection, with a reason for the client. */
  close(code: number, reason: string): void {
    if (!this.#isOpen) return;
    this.end();
    closeOrReport(this.#connection, [code, reason], this.#principal.world.environment.report);
  }

  /** Marks the stream as ended and stops its pings; does not close the connection. */
  end(): void {
    this.#isOpen = false;
    this.#cancelPing();
  }

  #replyTo(data: unknown): ServerFrame | undefined {
    const frame = readFrame(data);
    if (typeof frame === 'string') return { type: 'error', message: frame };
    if (frame.type === 'pong') return undefined;
    const subscription = toSubscription(frame);
    const outOfScope = findOutOfScope(this.#principal, subscription);
    if (outOfScope !== undefined) {
      return { type: 'error', message: `This key has no access to ${outOfScope}; the subscription is unchanged.` };
    }
    this.#subscription = subscription;
    return subscribedFrame(subscription);
  }

  #schedulePing(): void {
    if (this.#pingMs === undefined || !this.#isOpen) return;
    const { clock } = this.#principal.world;
    this.#cancelPing = clock.schedule(new Date(clock.now().getTime() + this.#pingMs), () => {
      this.#send({ type: 'ping' });
      this.#schedulePing();
    });
  }

  #send(frame: ServerFrame): void {
    this.#sendEncoded(encodeFrame(() => frame));
  }

  /** Sends a frame. If that fails, only this stream ends; other streams still get the event. */
  #sendEncoded({ text, bytes }: EncodedFrame): void {
    if (!this.#isOpen || this.#isStalled) return;
    if (this.#connection.bufferedBytes > MAX_BUFFERED_BYTES) {
      this.close(CLOSE_CODES.tooSlow, 'The client reads too slowly.');
      return;
    }
    try {
      this.#connection.send(text(), bytes);
    } catch {
      this.end();
    }
  }
}

/** Closes a connection. A failure is reported and not thrown, because the stream ends anyway. */
export function closeOrReport(
  connection: StreamConnection,
  [code, reason]: readonly [code: number, reason: string],
  report: Environment['report'],
): void {
  try {
    connection.close(code, reason);
  } catch (error) {
    report(error);
  }
}
