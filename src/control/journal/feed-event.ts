import type {
  AgentDone,
  AttemptActivity,
  ClockChange,
  DeliveredEvent,
  DeliveryActivity,
  FaultChange,
  HeldMailActivity,
  MailActivity,
  MailSource,
  StreamActivity,
  TestChange,
} from '../../world/journal/entry.ts';
import type { RequestSummary } from './request-entry.ts';

/** A finished request to the service. */
export interface RequestFeedItem {
  /** Always `request`. */
  readonly kind: 'request';
  /** The request in one line; `GET /__mock/requests/{id}` shows all of it. */
  readonly request: RequestSummary;
}

/** A mail, with the start of its text. */
interface MailInFeed extends MailActivity {
  /** The id of its thread. */
  readonly threadId: string;
  /** The display forms of its recipients, without Cc and Bcc. */
  readonly to: readonly string[];
  /** The start of its text: at most 240 characters. */
  readonly excerpt: string;
  /** What caused the mail. */
  readonly source: MailSource;
}

/** A mail that arrived in an inbox. */
interface MailFeedItem extends MailInFeed {
  /** Always `mail`. */
  readonly kind: 'mail';
}

/** A mail that an inbox sent. */
interface SentMailFeedItem extends MailInFeed {
  /** Always `mail-sent`. */
  readonly kind: 'mail-sent';
}

/** A mail that did not arrive, because its sender and its recipient exchange too many mails. */
interface HeldMailFeedItem extends HeldMailActivity {
  /** Always `mail-held`. */
  readonly kind: 'mail-held';
}

/** A new delivery, before its first attempt; one that is sent now or again; or one that has ended, not by an attempt. */
interface DeliveryFeedItem extends DeliveryActivity, Pick<DeliveredEvent, 'messageId'> {
  /** What happened to the delivery. */
  readonly kind: 'delivery-created' | 'delivery-released' | 'delivery-ended';
}

/** An attempt to send a delivery, even if it was refused. */
interface AttemptFeedItem extends AttemptActivity, Pick<DeliveredEvent, 'messageId'> {
  /** Always `attempt`. */
  readonly kind: 'attempt';
}

/** A stream that was opened or closed. */
interface StreamFeedItem extends StreamActivity {
  /** What happened to the stream. */
  readonly kind: 'stream-opened' | 'stream-closed';
}

/** An agent said that it is done. */
export interface AgentDoneFeedItem extends AgentDone {
  /** Always `agent-done`. */
  readonly kind: 'agent-done';
}

/** A change of the time by a test. */
export interface ClockFeedItem extends ClockChange {
  /** Always `clock`. */
  readonly kind: 'clock';
}

/** A fault that a test added or removed, or that has happened. */
export interface FaultFeedItem extends FaultChange {
  /** Always `fault`. */
  readonly kind: 'fault';
}

/** A change that a test made, except changes of the time and of the faults. */
export interface ChangeFeedItem extends TestChange {
  /** What was changed: a sandbox, a checkpoint, an API key, the journal of requests, mail, or behaviours. */
  readonly kind: 'sandbox' | 'checkpoint' | 'key' | 'journal' | 'messages' | 'behaviours';
}

/** A reset of the mailbox, or of one sandbox. */
export interface ResetFeedItem {
  /** Always `reset`. */
  readonly kind: 'reset';
  /** The id of the sandbox; null for the whole mailbox. */
  readonly tenantId: string | null;
}

/** Events that are missing here, because they are too old or were published before a restart. */
export interface GapFeedItem {
  /** Always `gap`. */
  readonly kind: 'gap';
  /** How many events are missing; null if that is unknown. */
  readonly missed: number | null;
}

/** A failure of the emulator itself, with the message of the error. */
export interface FailureFeedItem {
  /** Always `failure`. */
  readonly kind: 'failure';
  /** The message of the error. */
  readonly error: string;
}

/** Something that happened. The other fields depend on `kind`. */
export type FeedItem =
  | RequestFeedItem
  | MailFeedItem
  | SentMailFeedItem
  | HeldMailFeedItem
  | DeliveryFeedItem
  | AttemptFeedItem
  | StreamFeedItem
  | AgentDoneFeedItem
  | ClockFeedItem
  | FaultFeedItem
  | ChangeFeedItem
  | ResetFeedItem
  | FailureFeedItem
  | GapFeedItem;

/** An event of the feed. API keys, secrets and passwords are masked. */
export type FeedEvent = FeedItem & {
  /** The id of the event, for `lastEventId`. */
  readonly id: string;
  /** When it happened, in real time: ISO 8601 UTC. */
  readonly realTime: string;
};

/** Where the feed starts, and whether it ends. */
export interface FeedOptions {
  /**
   * The id of the last event that the reader has; the feed continues after it. With `0`, the feed starts with the
   * oldest event that is kept. Default: only new events.
   */
  readonly lastEventId?: string | undefined;
  /** Whether to wait for new events. If `false`, the feed has only the events that are kept. Default: `true`. */
  readonly follow?: boolean | undefined;
}
