import type { Feed } from '../journal/feed.ts';
import type { ClockFeedItem, FaultFeedItem } from '../journal/feed-event.ts';
import type { MailboxClock, TenantOption } from './mailbox-clock.ts';
import type { MailboxFaults } from './mailbox-faults.ts';

/** Returns a clock that publishes each change of the time in the feed. */
export function publishClock(clock: MailboxClock, feed: Feed): MailboxClock {
  const publish = (action: ClockFeedItem['action'], options?: TenantOption) => {
    const now = clock.now(options).toISOString();
    feed.publish(() => ({ kind: 'clock', action, tenantId: options?.tenant ?? null, now }));
  };
  return {
    ...clock,
    freeze(at, options) {
      clock.freeze(at, options);
      publish('freeze', options);
    },
    resume(options) {
      clock.resume(options);
      publish('resume', options);
    },
    async advance(duration, options) {
      await clock.advance(duration, options);
      publish('advance', options);
    },
  };
}

/** Returns fault methods that publish each change in the feed. */
export function publishFaults(faults: MailboxFaults, feed: Feed): MailboxFaults {
  const publish = (action: FaultFeedItem['action'], fault: FaultFeedItem['fault']) =>
    feed.publish(() => ({ kind: 'fault', action, fault }));
  return {
    ...faults,
    addFault(options) {
      const fault = faults.addFault(options);
      publish('added', fault);
      return fault;
    },
    removeFault(id) {
      const fault = faults.removeFault(id);
      publish('removed', fault);
      return fault;
    },
    clearFaults() {
      faults.clearFaults();
      publish('cleared', null);
    },
  };
}
