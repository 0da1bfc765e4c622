import type {
  Delivery,
  DeliveryFilter,
  FeedEvent,
  Mail,
  MailboxState,
  RequestEntry,
  RequestFilter,
} from '../../mailbox/without-msw.ts';
import { type Candidate, describeDelivery, describeMail, describeRequest } from './candidates.ts';
import type { Expected } from './find-matches.ts';

/** The part of a mailbox or a sandbox that the matchers read. */
export interface Observed {
  readonly journalSize: number;
  requests(filter?: RequestFilter): RequestEntry[];
  deliveries(filter?: DeliveryFilter): Delivery[];
  messages(filter?: { readonly direction: 'outbound' }): Mail[];
  snapshot(): MailboxState;
  feed(options: { readonly lastEventId: string; readonly follow: false }): AsyncIterable<FeedEvent>;
  settled(): Promise<{ readonly held?: readonly { readonly reason: string }[] }>;
}

/** Checks what `expect()` was called with. */
export function observe(received: unknown): Observed {
  const methods = ['requests', 'deliveries', 'messages', 'snapshot', 'feed', 'settled'] as const;
  const isObserved =
    typeof received === 'object' &&
    received !== null &&
    methods.every((name) => typeof (received as Partial<Observed>)[name] === 'function');
  if (isObserved) return received as Observed;
  throw new TypeError('The value in expect() must be a mailbox or a sandbox, such as server.mailbox.');
}

/** Returns every HTTP request of the journal. @throws {Error} if the journal records none. */
export function readRequests(mailbox: Pick<Observed, 'journalSize' | 'requests'>): RequestEntry[] {
  if (mailbox.journalSize > 0) return mailbox.requests({ protocol: 'http' });
  throw new Error('The journal records no requests, because journalSize is 0.');
}

/**
 * Lists the requests as candidates. The filter refuses an unknown operation. It also finds those with a key that is
 * expected in full, because they show only its start.
 */
export function listRequests(mailbox: Observed, expected: Expected): Candidate[] {
  mailbox.requests(textsOf(expected, 'operation'));
  const withKey = new Set(mailbox.requests(textsOf(expected, 'key')).map(({ id }) => id));
  const isInFull = ({ id }: RequestEntry) => typeof expected.key === 'string' && withKey.has(id);
  return readRequests(mailbox).map((entry) => describeRequest(entry, isInFull(entry) ? expected.key : entry.key));
}

/** Lists the deliveries as candidates. The filter refuses an unknown kind of event, and an unknown state. */
export function listDeliveries(mailbox: Observed, expected: Expected): Candidate[] {
  mailbox.deliveries(textsOf(expected, 'event', 'state'));
  return mailbox.deliveries().map(describeDelivery);
}

/** Lists the sent mail as candidates. */
export function listSentMail(mailbox: Observed): Candidate[] {
  const requests = mailbox.requests();
  return mailbox.messages({ direction: 'outbound' }).map((mail) => describeMail(mail, requests));
}

/** Returns the fields that are expected to be a certain text. */
function textsOf(expected: Expected, ...names: readonly string[]): object {
  const fields = Object.entries(expected);
  return Object.fromEntries(fields.filter(([name, value]) => names.includes(name) && typeof value === 'string'));
}
