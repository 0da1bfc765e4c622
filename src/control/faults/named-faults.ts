/** How often a fault happens that lasts until it is removed: the maximum of `times`. */
const UNTIL_REMOVED = 1_000_000;

/**
 * Faults by the name of what a test wants: what happens, and the fault in its full form. Code, the command, the control
 * calls and their clients all read this table; the page gets it from the OpenAPI document of the control calls.
 */
export const NAMED_FAULTS = {
  'lost-reply': {
    help: 'The operation runs, but the connection is cut instead of its reply.',
    fault: { on: 'request', cut: true, effect: 'applied' },
  },
  'lost-request': {
    help: 'The connection is cut, and the operation does not run.',
    fault: { on: 'request', cut: true },
  },
  slow: {
    help: 'Each reply comes two seconds late.',
    fault: { on: 'request', latency: { ms: 2_000 }, times: UNTIL_REMOVED },
  },
  'rate-limit': {
    help: 'More than 5 requests of a tenant in a minute get 429.',
    fault: { on: 'request', rateLimit: { limit: 5, per: '1m' } },
  },
  down: { help: 'Each request gets 503.', fault: { on: 'request', status: 503, times: UNTIL_REMOVED } },
  'server-error': {
    help: 'A request gets 500, and its operation does not run.',
    fault: { on: 'request', status: 500 },
  },
  'duplicate-delivery': { help: 'A delivery is sent twice.', fault: { on: 'delivery', kind: 'duplicate' } },
  'reordered-delivery': {
    help: 'A delivery is sent after the next one to the same webhook.',
    fault: { on: 'delivery', kind: 'reorder' },
  },
  'late-delivery': { help: 'A delivery is sent a minute late.', fault: { on: 'delivery', kind: 'delay' } },
  'lost-delivery': { help: 'A delivery is never sent.', fault: { on: 'delivery', kind: 'drop' } },
  'wrong-signature': {
    help: 'A delivery is signed with another secret.',
    fault: { on: 'delivery', kind: 'wrong-secret' },
  },
  'receiver-down': {
    help: 'The first attempt of a delivery fails as if no program listened at the URL.',
    fault: { on: 'delivery', kind: 'unreachable' },
  },
  'closed-stream': {
    help: 'An event stream is closed instead of an event on it.',
    fault: { on: 'stream', kind: 'close' },
  },
  'silent-stream': {
    help: 'An event stream stays open, but nothing is sent on it any more.',
    fault: { on: 'stream', kind: 'stall' },
  },
  'refused-recipient': { help: 'A recipient is refused over SMTP, for now.', fault: { on: 'smtp' } },
  'lost-imap-connection': {
    help: 'An IMAP connection is cut two seconds after its login.',
    fault: { on: 'imap', kind: 'disconnect' },
  },
} as const;

/** The name of a fault that is often needed, such as `lost-reply`. */
export type FaultName = keyof typeof NAMED_FAULTS;

/** Every name of a fault. */
export const FAULT_NAMES = Object.keys(NAMED_FAULTS) as FaultName[];
