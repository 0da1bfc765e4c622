import type { BehaviourValues } from '../contract/behaviours.ts';
import type { IncomingMessage } from '../contract/incoming-message.ts';
import type { ReceivedMessage } from '../mail/accept-message.ts';
import type { OpenApiDocument } from '../openapi/document.ts';
import type { MailboxState } from '../store/state.ts';
import type { DeliveryControls } from './delivery-controls.ts';
import type { JournalControls } from './journal-controls.ts';
import type { KeyControls } from './key-controls.ts';
import type { MailInspection } from './mail-inspection.ts';
import type { MailboxClock } from './mailbox-clock.ts';
import type { MailboxFaults } from './mailbox-faults.ts';
import type { MessageControls } from './message-controls.ts';
import type { Settled, SettledOptions } from './settled.ts';
import type { WebhookControls } from './webhook-controls.ts';

/** What a test can do with a whole mailbox, or with one sandbox. */
export interface ControllableMailbox
  extends DeliveryControls,
    KeyControls,
    MailboxFaults,
    MessageControls,
    MailInspection,
    JournalControls,
    WebhookControls {
  /** The origin and path that `handlers` intercept, without a final slash; set by the option `baseUrl`. */
  readonly baseUrl: string;
  /** The current value of each changeable behaviour. */
  readonly behaviours: BehaviourValues;
  /** Restores the initial state, including keys and mail. That of a mailbox also closes every sandbox. */
  reset(): void;
  /**
   * Delivers an inbound mail, given by its parts or as a raw `eml`, and resolves with the messages that it created.
   *
   * @throws {ApiError} if the mail is invalid or larger than 10 MiB, if a recipient is not an inbox of this emulator,
   *   or if the mail does not fit into the storage.
   */
  receiveMessage(message: IncomingMessage): Promise<ReceivedMessage[]>;
  /** The time of the mailbox: freeze, advance or resume it. */
  readonly clock: MailboxClock;
  /**
   * Resolves when no work is due or running. It does not wait for retries that are due later. The result has the number
   * of deliveries that were removed because a delivery log was full.
   *
   * @throws {ApiError} CONFLICT after 4 seconds or the given `timeout`, with the pending deliveries; INTERNAL_ERROR,
   *   once, if a bug in the emulator has stopped some work, with the error as its cause.
   */
  settled(options?: SettledOptions): Promise<Settled>;
  /** Returns a copy of the whole state. That of a mailbox is without its sandboxes. */
  snapshot(): MailboxState;
  /** Returns a copy of the OpenAPI 3.1 document of the emulated API, under the behaviours of this mailbox. */
  openApi(): OpenApiDocument;
}
