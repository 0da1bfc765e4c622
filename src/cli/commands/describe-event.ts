import type { ChangeFeedItem } from '../../control/journal/feed-event.ts';
import type { FeedItem } from '../../mailbox/without-msw.ts';
import {
  describeActivity,
  type Line,
  type LoggedEntry,
  limitText,
  nameWithoutOperation,
} from '../../server/server-log.ts';

/** The kinds of events that the feed has, but the log of the server does not have. */
type FeedOnlyKind = Exclude<FeedItem['kind'], LoggedEntry['kind']>;

/**
 * Returns the line that `logs` prints for an event of the feed. An event that the log of the server also has gets the
 * line of the log; `undefined` if the log has no line for the event.
 */
export function describeEvent(event: FeedItem): Line | undefined {
  if (!isFeedOnly(event)) return describeActivity(event);
  return limitText({ name: event.kind, ...DESCRIBERS[event.kind](event as never) });
}

/** Describes a change of something that has a name, such as `added "paid", all tenants`. */
function describeChange({ action, name, ...event }: ChangeFeedItem) {
  return { text: `${action}${name === null ? '' : ` ${JSON.stringify(name)}`}, ${tenantOf(event)}` };
}

const tenantOf = (event: { readonly tenantId: string | null }) => event.tenantId ?? 'all tenants';

/** The parts of a line. If `name` is missing, the name of the line is the kind of the event. */
type LineParts = Omit<Line, 'name'> & Partial<Line>;

const UNKNOWN = 'an unknown number of';

const DESCRIBERS: { readonly [Kind in FeedOnlyKind]: (event: Extract<FeedItem, { kind: Kind }>) => LineParts } = {
  request: ({ request }) => {
    const { operation, protocol, via, method, path, status, code, durationMs, key, reason, ignored = [] } = request;
    const notes = [
      ...(via ? ['by MCP'] : []),
      ...(reason === null ? [] : [reason]),
      ...ignored.map((each) => `ignored: ${each}`),
    ];
    const parts = [method, path, code, `${durationMs.toFixed(1)} ms`, key, ...notes.map((note) => `(${note})`)];
    const name = operation ?? (protocol === 'http' ? nameWithoutOperation(path) : protocol);
    return { name, sign: status, text: parts.filter((part) => part !== null).join(' '), colourStatus: status };
  },
  'mail-sent': ({ inbox, to, subject }) => {
    return { name: 'mail', sign: '→', text: `from ${inbox} to ${to.join(', ')}: ${subject}` };
  },
  'agent-done': () => ({ name: 'agent', text: 'said that it is done' }),
  clock: ({ action, now, ...event }) => ({ text: `${action}, ${tenantOf(event)}: ${now}` }),
  fault: ({ action, fault }) => ({ text: fault ? `${action}: ${JSON.stringify(fault)}` : 'all removed' }),
  sandbox: describeChange,
  checkpoint: describeChange,
  key: describeChange,
  journal: describeChange,
  messages: describeChange,
  behaviours: describeChange,
  reset: ({ tenantId: id }) => ({ text: id === null ? 'all data' : `sandbox ${id}` }),
  gap: ({ missed }) => ({ sign: '!', text: `${missed ?? UNKNOWN} events are missing here`, colourStatus: 400 }),
};

function isFeedOnly(event: FeedItem): event is Extract<FeedItem, { kind: FeedOnlyKind }> {
  return Object.hasOwn(DESCRIBERS, event.kind);
}
