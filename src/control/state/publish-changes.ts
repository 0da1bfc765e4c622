import type { ClockFeedItem, FaultFeedItem } from '../journal/feed-event.ts';
import type { Recorder } from '../journal/recorder.ts';
import type { KeyControls } from '../key-controls.ts';
import type { MailboxClock, TenantOption } from '../mailbox-clock.ts';
import type { MailboxFaults } from '../mailbox-faults.ts';

/**
 * Returns a clock that publishes each change of the time in the feed; `owner` is the only tenant of the clock, if any.
 */
export function publishClock(clock: MailboxClock, recorder: Recorder, owner?: string): MailboxClock {
  const publish = (action: ClockFeedItem['action'], options?: TenantOption) => {
    const now = clock.now(options).toISOString();
    const tenant = options?.tenant ?? owner ?? null;
    recorder.publish(tenant, { kind: 'clock', action, tenantId: tenant, now });
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

/** Returns fault methods that publish each change in the feed; `owner` is the only tenant of the faults, if any. */
export function publishFaults(faults: MailboxFaults, recorder: Recorder, owner?: string): MailboxFaults {
  const publish = (action: FaultFeedItem['action'], fault: FaultFeedItem['fault']) =>
    recorder.publish(fault?.tenantId ?? owner ?? null, { kind: 'fault', action, fault });
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

/** Returns key methods that publish each change in the feed; `owner` is the only tenant of the keys, if any. */
export function publishKeys(keys: KeyControls, recorder: Recorder, owner: string | null = null): KeyControls {
  return {
    ...keys,
    rotateKey(id) {
      const rotated = keys.rotateKey(id);
      recorder.publish(owner, { kind: 'key', action: 'replaced', tenantId: owner, name: null });
      return rotated;
    },
  };
}
