import type { ActivityEntry } from '../../world/event-bus.ts';
import type { Fault } from '../../world/fault.ts';
import type { RequestSummary } from './request-entry.ts';

/** A finished request to the service. */
export interface RequestFeedItem {
  /** Always `request`. */
  readonly kind: 'request';
  /** The request in one line; `GET /__mock/requests/{id}` shows all of it. */
  readonly request: RequestSummary;
}

/** A change of the time by a test. */
export interface ClockFeedItem {
  /** Always `clock`. */
  readonly kind: 'clock';
  /** What the test did. */
  readonly action: 'freeze' | 'resume' | 'advance';
  /** The id of the tenant; null for all tenants. */
  readonly tenantId: string | null;
  /** The time after the change: ISO 8601 UTC. */
  readonly now: string;
}

/** A fault that a test added or removed, or that has happened. */
export interface FaultFeedItem {
  /** Always `fault`. */
  readonly kind: 'fault';
  /** What the test did, or `used` each time after a fault with a limited number of `times` has happened. */
  readonly action: 'added' | 'removed' | 'cleared' | 'used';
  /** The fault; its `times` is 0 after it has happened for the last time. Null if all faults were removed. */
  readonly fault: Fault | null;
}

/** A change that a test made, except changes of the time and of the faults. */
export interface ChangeFeedItem {
  /** What was changed: a sandbox, a checkpoint, an API key, the journal of requests, mail, or behaviours. */
  readonly kind: 'sandbox' | 'checkpoint' | 'key' | 'journal' | 'messages' | 'behaviours';
  /**
   * What the test did. A key and behaviours are `replaced`; the journal is `cleared` or `restored`. When a sandbox
   * expires, the action is also `removed`.
   */
  readonly action: 'added' | 'removed' | 'replaced' | 'cleared' | 'restored';
  /** For mail, the id of its tenant. Otherwise, the id of the sandbox, or null for the whole mailbox. */
  readonly tenantId: string | null;
  /** The name of the sandbox or the checkpoint; null if it has none. */
  readonly name: string | null;
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

type ShownActivity = Exclude<ActivityEntry, { kind: 'failure' }>;

/** Something that happened. The other fields depend on `kind`. */
export type FeedItem =
  | RequestFeedItem
  | ShownActivity
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
