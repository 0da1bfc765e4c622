import { z } from 'zod';
import { lazy } from '../../basics/lazy-schema.ts';
import { parseOrRefuse } from '../../contract/errors.ts';
import type { ControlScope } from '../control-scope.ts';
import type { FeedEvent, FeedOptions } from './feed-event.ts';
import type { RequestEntry, RequestFilter, RequestSummary } from './request-entry.ts';
import { showRequest, showSummary } from './show-request.ts';

/** The control methods for the journal of requests and the live feed. */
export interface JournalControls {
  /**
   * How many requests of each tenant the journal keeps, as the option `journalSize` sets it. With 0, it records none.
   */
  readonly journalSize: number;
  /**
   * Returns the requests that the service has handled, oldest first, with the reason of each refusal. The journal keeps
   * the latest requests of each tenant: 1,000, or the number that the option `journalSize` sets.
   *
   * @throws {ApiError} VALIDATION_ERROR for an invalid filter.
   * @example
   * const [refused] = mailbox.requests({ operation: 'deleteWebhook', status: 404 });
   * refused?.reason;
   */
  requests(filter?: RequestFilter): RequestEntry[];
  /** Returns the same requests, without headers, queries and bodies. @throws {ApiError} VALIDATION_ERROR */
  requestSummaries(filter?: RequestFilter): RequestSummary[];
  /** Returns one request. @throws {ApiError} NOT_FOUND if the journal does not have it. */
  request(id: string): RequestEntry;
  /** Removes every request from the journal. `restoreRequests` restores them. */
  clearRequests(): void;
  /** Restores the requests that the latest `clearRequests` has removed, unless a reset came after it. */
  restoreRequests(): void;
  /**
   * Returns the events of the mailbox while they happen: requests, deliveries, mail, streams, faults, changes of the
   * time and of the state, and resets. A reader that is more than 1,000 events behind gets an event of the kind `gap`
   * instead of the oldest events.
   *
   * @example
   * for await (const event of mailbox.feed()) console.log(event.kind);
   */
  feed(options?: FeedOptions): AsyncIterable<FeedEvent>;
}

/** The schema of the options of `feed`. */
const feedOptions = lazy(() =>
  z.strictObject(
    {
      lastEventId: z.string('must be the id of an event').optional(),
      follow: z.boolean('must be true or false').optional(),
    },
    'must be an object',
  ),
);

/** Creates the journal methods of a mailbox or a sandbox. */
export function createJournalControls({ recorder, worlds, publishChange }: ControlScope): JournalControls {
  const { journal } = recorder;
  const feed = recorder.feedOf(worlds);
  return {
    journalSize: journal.size,
    requests: (filter) => journal.list(worlds, filter, showRequest),
    requestSummaries: (filter) => journal.list(worlds, filter, showSummary),
    request: (id) => journal.find(worlds, id),
    clearRequests() {
      journal.clear(worlds.owners());
      publishChange('journal', 'cleared');
    },
    restoreRequests() {
      journal.restore(worlds.owners());
      publishChange('journal', 'restored');
    },
    feed: (options = {}) => feed.read(parseOrRefuse('The input of feed', feedOptions(), options)),
  };
}
