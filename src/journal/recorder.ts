import type { Environment } from '../environment.ts';
import type { Activity } from '../events/activity.ts';
import type { Service } from '../pipeline/service.ts';
import { Feed, toFeedItem } from './feed.ts';
import { Journal } from './journal.ts';
import { JOURNAL_SIZE_RULE, parseJournalSize } from './journal-size.ts';
import { MailLog } from './mail-log.ts';
import { showSummary } from './show-request.ts';

/** The parts of a mailbox that a recorder observes. */
interface Observed {
  readonly service: Service;
  readonly realEnvironment: Environment;
  readonly activity: Activity;
}

/** How many requests of each tenant a journal keeps. */
const DEFAULT_SIZE = 1_000;

/** Records what happens in a mailbox: its requests in the journal, its mail, and everything in the feed. */
export class Recorder {
  readonly journal: Journal;
  readonly feed: Feed;
  readonly mailLog: MailLog;

  /**
   * Starts to record. With the size 0, requests are not recorded.
   *
   * @throws {RangeError} on an invalid size.
   */
  constructor({ service, realEnvironment, activity }: Observed, size: unknown = DEFAULT_SIZE) {
    const { worlds, events, behaviours, observers } = service;
    const limit = parseJournalSize(size);
    if (limit === undefined) {
      throw new RangeError(`The option journalSize must be ${JOURNAL_SIZE_RULE}, not ${JSON.stringify(size)}.`);
    }
    const feed = new Feed(realEnvironment);
    const journal = new Journal({ worlds, realEnvironment }, behaviours, limit);
    activity.subscribe((entry) => feed.publish(() => toFeedItem(entry)));
    if (limit > 0) {
      observers.push((exchange) => {
        const kept = journal.record(exchange);
        feed.publish(() => ({ kind: 'request', request: showSummary(kept, behaviours) }), kept.realTimeMs);
      });
    }
    this.feed = feed;
    this.journal = journal;
    this.mailLog = new MailLog(worlds, events);
  }

  /** Empties the journal, forgets all mail, and publishes the reset in the feed, which keeps its past events. */
  reset(): void {
    this.journal.reset();
    this.mailLog.reset();
    this.feed.publish(() => ({ kind: 'reset' }));
  }

  /** Ends the live feed of every reader, and every wait for mail. */
  end(): void {
    this.feed.end();
    this.mailLog.end('The server was closed');
  }
}
