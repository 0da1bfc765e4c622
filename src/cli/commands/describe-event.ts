import type { ChangeFeedItem } from '../../control/journal/feed-event.ts';
import type { FeedItem } from '../../mailbox/without-msw.ts';
import { describeActivity, type Line, toPrintable } from '../../server/activity-log.ts';
import type { ActivityEntry } from '../../world/activity.ts';

/** The kinds of events that only the feed has, and not the log of the server. */
type OwnKind = Exclude<FeedItem['kind'], ActivityEntry['kind']>;

/**
 * Describes an event of the feed in one line, as the log of the server does; `undefined` if the log has no line for it.
 */
export function describeEvent(event: FeedItem): Line | undefined {
  if (!isOwn(event)) return describeActivity(event);
  const { text, status } = WRITERS[event.kind](event as never);
  return { text: toPrintable(text), status };
}

/** Describes a change of something that the mailbox lists: `checkpoint added "paid", all tenants`. */
function describeChange({ kind, action, name, ...event }: ChangeFeedItem): Line {
  return { text: `${kind} ${action}${name === null ? '' : ` ${JSON.stringify(name)}`}, ${tenantOf(event)}` };
}

const tenantOf = (event: { readonly tenantId: string | null }) => event.tenantId ?? 'all tenants';

const WRITERS: { readonly [Kind in OwnKind]: (event: Extract<FeedItem, { kind: Kind }>) => Line } = {
  request: ({ request }) => {
    const { method, path, status, code, durationMs, key, reason, ignored = [] } = request;
    const notes = [...(reason === null ? [] : [reason]), ...ignored.map((each) => `ignored: ${each}`)];
    const parts = [method, path, status, code, `${durationMs.toFixed(1)} ms`, key, ...notes.map((note) => `(${note})`)];
    return { text: parts.filter((part) => part !== null).join(' '), status };
  },
  clock: ({ action, now, ...event }) => ({ text: `clock ${action}, ${tenantOf(event)}: ${now}` }),
  fault: ({ action, fault }) => ({ text: fault ? `fault ${action}: ${JSON.stringify(fault)}` : 'all faults removed' }),
  ...{ sandbox: describeChange, checkpoint: describeChange, key: describeChange },
  ...{ journal: describeChange, messages: describeChange, behaviours: describeChange },
  reset: ({ tenantId: id }) => ({ text: id === null ? 'reset' : `reset of sandbox ${id}` }),
  gap: ({ missed }) => ({ text: `${missed ?? 'an unknown number of'} events are missing here`, status: 400 }),
};

function isOwn(event: FeedItem): event is Extract<FeedItem, { kind: OwnKind }> {
  return Object.hasOwn(WRITERS, event.kind);
}
