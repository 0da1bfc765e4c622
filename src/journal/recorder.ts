import type { BehaviourValues } from '../contract/behaviours.ts';
import type { Environment } from '../environment.ts';
import type { Activity } from '../events/activity.ts';
import type { Service } from '../pipeline/service.ts';
import { Feed, toFeedItem } from './feed.ts';
import type { FeedItem } from './feed-event.ts';
import { Journal } from './journal.ts';
import { JOURNAL_SIZE_RULE, parseJournalSize } from './journal-size.ts';
import { MailLog } from './mail-log.ts';

/** The parts of a mailbox that a recorder observes. */
interface Observed {
  readonly service: Service;
  readonly realEnvironment: Environment;
  readonly activity: Activity;
}

/** The events of the whole mailbox that the feed of each tenant has, too, because they change its time or its journal. */
const CHANGES_ALL_TENANTS: ReadonlySet<FeedItem['kind']> = new Set(['clock', 'journal']);

/** How many requests of each tenant a journal keeps. */
const DEFAULT_SIZE = 1_000;

/** Records what happens in a mailbox: its requests in the journal, its mail, and everything in the feed. */
export class Recorder {
  readonly journal: Journal;
  readonly feed: Feed;
  readonly mailLog: MailLog;
  readonly #realEnvironment: Environment;
  readonly #behaviours: BehaviourValues;
  readonly #tenantFeeds = new Map<string, Feed>();

  /**
   * Starts to record. With the size 0, requests are not recorded.
   *
   * @throws {RangeError} on an invalid size.
   */
  constructor({ service, realEnvironment, activity }: Observed, size: unknown = DEFAULT_SIZE) {
    const { worlds, events, behaviours, observers, faults } = service;
    const limit = parseJournalSize(size);
    if (limit === undefined) {
      throw new RangeError(`The option journalSize must be ${JOURNAL_SIZE_RULE}, not ${JSON.stringify(size)}.`);
    }
    this.#realEnvironment = realEnvironment;
    this.#behaviours = behaviours;
    this.feed = new Feed(realEnvironment, behaviours);
    const journal = new Journal({ worlds, realEnvironment }, behaviours, limit);
    activity.subscribe((entry) => this.publish('tenantId' in entry ? entry.tenantId : null, toFeedItem(entry)));
    faults.onUsed((fault) => this.publish(fault.tenantId, { kind: 'fault', action: 'used', fault }));
    worlds.onRemoved(({ id }) => {
      this.#tenantFeeds.get(id)?.end();
      this.#tenantFeeds.delete(id);
    });
    if (limit > 0) {
      observers.push((exchange) => {
        const kept = journal.record(exchange);
        this.feed.publishRequest(kept);
        this.#tenantFeeds.get(kept.principal?.tenantId ?? '')?.publishRequest(kept);
      });
    }
    this.journal = journal;
    this.mailLog = new MailLog(worlds, events);
  }

  /** Starts a feed that has only the events of one tenant, and keeps them although others have many. */
  addTenantFeed(tenantId: string): Feed {
    const feed = new Feed(this.#realEnvironment, this.#behaviours);
    this.#tenantFeeds.set(tenantId, feed);
    return feed;
  }

  /** Publishes an event of a tenant, or with null one of the whole mailbox, which may name data of any tenant. */
  publish(tenantId: string | null, item: FeedItem): void {
    this.feed.publish(item);
    if (tenantId !== null) this.#tenantFeeds.get(tenantId)?.publish(item);
    else if (CHANGES_ALL_TENANTS.has(item.kind)) for (const feed of this.#tenantFeeds.values()) feed.publish(item);
  }

  /** Ends the feed of every reader, and every wait for mail. */
  end(): void {
    for (const feed of [this.feed, ...this.#tenantFeeds.values()]) feed.end();
    this.mailLog.end('The server was closed');
  }

  /**
   * Empties the journal and forgets all mail, or only those of one tenant, and publishes the reset in the feed, which
   * keeps its past events.
   */
  reset(tenantId?: string): void {
    this.journal.reset(tenantId);
    this.mailLog.reset(tenantId);
    this.publish(tenantId ?? null, { kind: 'reset', tenantId: tenantId ?? null });
  }
}
