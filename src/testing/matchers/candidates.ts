import type {
  Delivery,
  DeliveryFilter,
  FeedEvent,
  Mail,
  MailboxState,
  RequestEntry,
  RequestFilter,
} from '../../mailbox/without-msw.ts';

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

/** Checks that `expect()` was called with a mailbox or a sandbox, and returns it. */
export function parseMailbox(received: unknown): Observed {
  const methods = ['requests', 'deliveries', 'messages', 'snapshot', 'feed', 'settled'] as const;
  if (methods.every((name) => typeof Object(received)[name] === 'function')) return received as Observed;
  throw new TypeError('The value in expect() must be a mailbox or a sandbox, such as server.mailbox.');
}

/** Returns every HTTP request of the journal. @throws {Error} if the journal records no requests. */
export function readRequests(mailbox: Pick<Observed, 'journalSize' | 'requests'>): RequestEntry[] {
  if (mailbox.journalSize > 0) return mailbox.requests({ protocol: 'http' });
  throw new Error('The journal records no requests, because journalSize is 0.');
}

/** A field of a candidate. */
export interface CandidateField {
  /** The value that a failure shows. */
  readonly shown: unknown;
  /** The values to compare. One of them must be as expected. Default: only `shown`. */
  readonly options?: readonly unknown[];
}

/** Something that happened and that a matcher compares with what is expected. */
export interface Candidate {
  /** The name of the candidate in the message of a failure. */
  readonly label: string;
  /** A hint for the message of a failure. It is shown if this candidate is the most similar one. */
  readonly hint?: string | undefined;
  readonly fields: Readonly<Record<string, CandidateField>>;
  /** The mail, if the candidate is a sent mail. */
  readonly mail?: Mail;
}

/** The expected fields, by name. */
export type Expected = Readonly<Record<string, unknown>>;

/** Lists the requests as candidates. */
export function listRequestCandidates(mailbox: Observed, expected: Expected): Candidate[] {
  // This call throws if the operation is unknown.
  mailbox.requests(pickTexts(expected, 'operation'));
  // A request shows only the start of its key. For a full key, the mailbox finds the requests that have it.
  const idsWithKey = new Set(mailbox.requests(pickTexts(expected, 'key')).map(({ id }) => id));
  const hasFullKey = ({ id }: RequestEntry) => typeof expected.key === 'string' && idsWithKey.has(id);
  return readRequests(mailbox).map((entry) => describeRequest(entry, hasFullKey(entry) ? expected.key : entry.key));
}

/** Lists the deliveries as candidates. */
function listDeliveries(mailbox: Observed, expected: Expected): Candidate[] {
  // This call throws if the kind of event or the state is unknown.
  mailbox.deliveries(pickTexts(expected, 'event', 'state'));
  return mailbox.deliveries().map(describeDelivery);
}

/** Lists the sent mail as candidates. */
function listSentMail(mailbox: Observed): Candidate[] {
  const requests = mailbox.requests();
  return mailbox.messages({ direction: 'outbound' }).map((mail) => describeMail(mail, requests));
}

/** What each matcher counts, and the function that lists the candidates. */
export const SEARCHES = {
  toHaveReceivedRequest: { noun: 'request', list: listRequestCandidates },
  toHaveDelivered: { noun: 'delivery', list: listDeliveries },
  toHaveSentMail: { noun: 'sent mail', list: listSentMail },
  toHaveSentOnce: { noun: 'sent mail', list: listSentMail },
} as const;

/** Returns the expected fields with these names, if their value is a string. */
function pickTexts(expected: Expected, ...names: readonly string[]): object {
  const fields = Object.entries(expected);
  return Object.fromEntries(fields.filter(([name, value]) => names.includes(name) && typeof value === 'string'));
}

/** Describes a request of the journal; `comparedKey` is its key as the test writes it, in full or masked. */
export function describeRequest(entry: RequestEntry, comparedKey: unknown = entry.key): Candidate {
  const { id, method, path, status, code, reason, key } = entry;
  const { operation, request, ignored } = entry;
  const notes = [...(reason ? [`: ${reason}`] : []), ...ignored.map((each) => ` (ignored: ${each})`)].join('');
  return {
    label: `${id}, ${method} ${path} → ${[status || 'no reply', code].filter(Boolean).join(' ')}${notes}`,
    fields: {
      ...fieldsOf({
        operation,
        method,
        path,
        status,
        code,
        query: Object.fromEntries(request.query),
        headers: request.headers,
        body: parseJson(request.body),
      }),
      key: { shown: key, options: [comparedKey] },
    },
  };
}

/** Describes a webhook delivery. */
function describeDelivery(delivery: Delivery): Candidate {
  const { event, webhookId, state, reason, payload, attempts } = delivery;
  const url = attempts.at(-1)?.url;
  return {
    label: `${event} to ${url ?? `webhook ${webhookId}`} (${state}${reason === null ? '' : `: ${reason}`})`,
    hint: state === 'pending' ? explainPending(delivery) : undefined,
    fields: { ...fieldsOf({ event, state, payload }), to: { shown: url ?? webhookId, options: [url, webhookId] } },
  };
}

/** Says what a pending delivery waits for. */
function explainPending({ attempts, nextAttemptAt }: Delivery): string {
  const error = attempts.at(-1)?.error;
  if (!error || nextAttemptAt === null) return 'It is still pending; await settled() before this assertion.';
  return (
    `It is still pending. The last attempt failed: ${error} The next is due at ${nextAttemptAt}; go there by ` +
    'clock.advance().'
  );
}

/**
 * Describes a mail that was sent. An address may be given with or without its name. The hint shows the request that
 * sent the mail, if the service has ignored fields of this request.
 */
function describeMail(mail: Mail, requests: readonly RequestEntry[]): Candidate {
  const { id, from, subject, plainBody, htmlBody, headers, attachments } = mail;
  const recipients = recipientsOf(mail);
  const request = requests.find(({ ignored, reply }) => ignored.length > 0 && reply.body?.includes(id));
  return {
    mail,
    hint: request && `The request is ${describeRequest(request).label}`,
    label: labelOfMail(mail),
    fields: {
      to: { shown: recipients.length === 1 ? recipients[0] : recipients, options: recipients.flatMap(formsOf) },
      subject: { shown: subject },
      from: { shown: from, options: formsOf(from) },
      ...fieldsOf({ plainBody, htmlBody, headers, attachments }),
    },
  };
}

export function recipientsOf({ to, cc, bcc }: Mail): string[] {
  return [...to, ...cc, ...bcc];
}

export function labelOfMail(mail: Mail): string {
  return `${JSON.stringify(mail.subject)} to ${recipientsOf(mail).join(', ')}`;
}

function fieldsOf(values: Readonly<Record<string, unknown>>): Record<string, CandidateField> {
  return Object.fromEntries(Object.entries(values).map(([name, shown]) => [name, { shown }]));
}

/** Returns an address as it is written and, if it has a name, also without the name. */
export function formsOf(address: string): string[] {
  const [, bare] = /<([^<>]+)>\s*$/.exec(address) ?? [];
  return bare === undefined ? [address] : [address, bare];
}

/** Parses the body of a request. A body that is not JSON, or that was cut, stays a text. */
function parseJson(body: string | null): unknown {
  try {
    return body === null ? null : JSON.parse(body);
  } catch {
    return body;
  }
}
