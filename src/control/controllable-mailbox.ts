import type { BehaviourValues } from '../contract/behaviours.ts';
import type { OpenApiDocument } from '../contract/openapi/document.ts';
import type { ReceivedMessage } from '../service/mail/incoming/accept-message.ts';
import type { MailServersThatListen } from '../world/store/reachable-worlds.ts';
import type { DeliveryControls, WebhookControls } from './delivery-controls.ts';
import type { JournalControls } from './journal/journal-controls.ts';
import type { MailInspection } from './journal/mail-inspection.ts';
import type { KeyControls } from './key-controls.ts';
import type { MailboxClock } from './mailbox-clock.ts';
import type { MailboxCorrespondents } from './mailbox-correspondents.ts';
import type { MailboxFaults } from './mailbox-faults.ts';
import type { MessageControls } from './message-controls.ts';
import type { DeliveredSample } from './samples/delivered-samples.ts';
import type { Receivable } from './samples/receive-sample.ts';
import type { Settled, SettledOptions } from './settled.ts';
import type { StateControls } from './state/state-controls.ts';

/** What a test can do with a whole mailbox, or with one sandbox. */
export interface ControllableMailbox
  extends DeliveryControls,
    KeyControls,
    MailboxFaults,
    MailboxCorrespondents,
    MessageControls,
    MailInspection,
    JournalControls,
    WebhookControls,
    StateControls {
  /** The origin and path that `handlers` intercept, without a final slash; set by the option `baseUrl`. */
  readonly baseUrl: string;
  /** The current value of each changeable behaviour. */
  readonly behaviours: BehaviourValues;
  /**
   * Delivers an inbound mail, given by its parts or as a raw `eml`, or each mail of a sample, and resolves with the
   * messages that it created.
   *
   * @throws {ApiError} if the mail is invalid or larger than 10 MiB, if a recipient is not an inbox of this emulator,
   *   or if the mail does not fit into the storage. Of a sample, the mails before the one with the error have arrived.
   */
  receiveMessage(message: Receivable): Promise<ReceivedMessage[]>;
  /**
   * Returns the samples that were delivered since the start, a reset or a restore, with their messages: at most the
   * latest 20 of each tenant, oldest first. Those of a sandbox are only in the sandbox.
   *
   * @example
   * const obeyed = mailbox.samples().filter(({ sample }) => sample.breached(mailbox));
   */
  samples(): readonly DeliveredSample[];
  /** The time of the mailbox: freeze, advance or resume it. */
  readonly clock: MailboxClock;
  /**
   * Resolves when no work is due or running. It does not wait for retries and answers that are due later. The result
   * has the number of deliveries that were removed because a delivery log was full, and the mail that is held.
   *
   * @throws {ApiError} CONFLICT after 4 seconds or the given `timeout`, with the pending deliveries; CONFLICT, once, if
   * a correspondent could not answer; INTERNAL_ERROR, once, if a bug in the emulator has stopped some work. The cause
   * is
   *   the error.
   */
  settled(options?: SettledOptions): Promise<Settled>;
  /** Returns a copy of the OpenAPI 3.1 document of the emulated API, under the behaviours of this mailbox. */
  openApi(): OpenApiDocument;
  /** The servers for SMTP and IMAP that listen; in process there is none. */
  readonly mailServers: MailServersThatListen;
}
