/**
 * The event kinds: inbound mail stored, an outbound send succeeded, a bounce detected for one of our sends.
 * The document names the first (section 6), the reference all three.
 */
export const EVENT_KINDS = ['message.received', 'message.sent', 'message.bounced'] as const;

/** A kind of event that a webhook can list. */
export type EventKind = (typeof EVENT_KINDS)[number];
