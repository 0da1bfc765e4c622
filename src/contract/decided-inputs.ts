import { isUrlWithScheme } from '../basics/text.ts';
import { parseAddress, splitAddresses } from './addresses/email-address.ts';
import type { ChangeableId, ReadBehaviour } from './behaviours.ts';
import { EVENT_KINDS } from './events.ts';
import { isDigits, MAX_LIMIT } from './query.ts';

/** The fields of a query or of a body, as they were sent. */
type Sent = Readonly<Record<string, unknown>>;

/**
 * The behaviours on which the schema of a query or a body depends, each with the requests about which it decides: those
 * that another value would accept, refuse or read differently. A schema is built before the requests that it parses,
 * and so cannot know which of its behaviours a request depends on.
 */
const DECIDED: { readonly [Id in ChangeableId]?: (sent: Sent, readBehaviour: ReadBehaviour) => boolean } = {
  'messages.list.over-limit': ({ limit }) => isDigits(limit) && Number(limit) > MAX_LIMIT,
  'webhooks.create.url': ({ url }) => typeof url === 'string' && isUrlWithScheme(url, /^http$/),
  'webhooks.create.required': ({ events }) => events === undefined,
  'webhooks.create.events': ({ events }) => Array.isArray(events) && events.some(isKindBeyondDocument),
  'sending.address-lists': (sent) => recipientsIn(sent).some((text) => typeof text === 'string' && isSeveral(text)),
  'drafts.recipients': (sent, readBehaviour) => {
    const mayBeSeveral = readBehaviour('sending.address-lists') === 'commas';
    return recipientsIn(sent)
      .flatMap((text) => (typeof text === 'string' && mayBeSeveral ? splitAddresses(text) : text))
      .some((text) => typeof text === 'string' && parseAddress(text) === undefined);
  },
};

/**
 * Returns whether a behaviour on which the schema of a query or a body depends decides about a request. `readBehaviour`
 * is for the behaviours on which that depends in turn.
 */
export function isDecidedBy(id: ChangeableId, sent: Sent, readBehaviour: ReadBehaviour): boolean {
  return DECIDED[id]?.(sent, readBehaviour) ?? true;
}

function isKindBeyondDocument(kind: unknown): boolean {
  return kind !== 'message.received' && EVENT_KINDS.some((known) => known === kind);
}

function recipientsIn({ to, cc, bcc }: Sent): unknown[] {
  return [to, cc, bcc].flat();
}

/** Returns whether a text is not one address, but a list of addresses. */
function isSeveral(text: string): boolean {
  return parseAddress(text) === undefined && splitAddresses(text).every((part) => parseAddress(part) !== undefined);
}
