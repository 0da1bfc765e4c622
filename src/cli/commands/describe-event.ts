import type { ChangeFeedItem } from '../../control/journal/feed-event.ts';
import type { FeedItem } from '../../mailbox/without-msw.ts';
import { describeActivity, type Line, limitText, nameOfOther } from '../../server/server-log.ts';
import type { ActivityEntry } from '../../world/activity.ts';

/** The kinds of events that only the feed has, and not the log of the server. */
type OwnKind = Exclude<FeedItem['kind'], ActivityEntry['kind']>;

/**
 * Describes an event of the feed in one line, as the log of the server does; `undefined` if the log has no line for it.
 */
export function describeEvent(event: FeedItem): Line | undefined {
  if (!isOwn(event)) return describeActivity(event);
  return limitText({ name: event.kind, ...WRITERS[event.kind](event as never) });
}

/** Describes a change of something that the mailbox lists: `added "paid", all tenants`. */
function describeChange({ action, name, ...event }: ChangeFeedItem) {
  return { text: `${action}${name === null ? '' : ` ${JSON.stringify(name)}`}, ${tenantOf(event)}` };
}

const tenantOf = (event: { readonly tenantId: string | null }) => event.tenantId ?? 'all tenants';

/** What is in the line besides the kind of the event, or in place of it. */
type Described = Omit<Line, 'name'> & Partial<Line>;

const UNKNOWN = 'an unknown number of';

const WRITERS: { readonly [Kind in OwnKind]: (event: Extract<FeedItem, { kind: Kind }>) => Described } = {
  request: ({ request }) => {
    const { operation, protocol, method, path, status, code, durationMs, key, reason, ignored = [] } = request;
    const notes = [...(reason === null ? [] : [reason]), ...ignored.map((each) => `ignored: ${each}`)];
    const parts = [method, path, code, `${durationMs.toFixed(1)} ms`, key, ...notes.map((note) => `(${note})`)];
    const name = operation ?? (protocol === 'http' ? nameOfOther(path) : protocol);
    return { name, sign: status, text: parts.filter((part) => part !== null).join(' '), status };
  },
  clock: ({ action, now, ...event }) => ({ text: `${action}, ${tenantOf(event)}: ${now}` }),
  fault: ({ action, fault }) => ({ text: fault ? `${action}: ${JSON.stringify(fault)}` : 'all removed' }),
  ...{ sandbox: describeChange, checkpoint: describeChange, key: describeChange },
  ...{ journal: describeChange, messages: describeChange, behaviours: describeChange },
  reset: ({ tenantId: id }) => ({ text: id === null ? 'all data' : `sandbox ${id}` }),
  gap: ({ missed }) => ({ sign: '!', text: `${missed ?? UNKNOWN} events are missing here`, status: 400 }),
};

function isOwn(event: FeedItem): event is Extract<FeedItem, { kind: OwnKind }> {
  return Object.hasOwn(WRITERS, event.kind);
}
