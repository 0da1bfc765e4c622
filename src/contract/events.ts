/**
 * The event kinds: inbound mail was stored, an outbound send succeeded, or a sent message bounced. The service document
 * names only the first kind (section 6); the reference names all three.
 */
export const EVENT_KINDS = ['message.received', 'message.sent', 'message.bounced'] as const;

/** A kind of event that a webhook can list. */
export type EventKind = (typeof EVENT_KINDS)[number];
