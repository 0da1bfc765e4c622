import type { Delivery, DeliveryFilter } from '../../service/delivery/delivery.ts';
import type { Correspondent } from '../../service/mail/correspondents/correspondent.ts';
import type { JournalEntry } from '../journal/journal-entry.ts';
import type { RequestEntry, RequestFilter } from '../journal/request-entry.ts';
import { bareAddress, countDropped, type Evidence, readTraffic, requestsOf, type TrafficEntry } from './evidence.ts';
import type { MailStory } from './story.ts';

/** The part of a mailbox or a sandbox that the matchers read. */
export interface Observed extends Evidence {
  requests(filter?: RequestFilter): RequestEntry[];
  deliveries(filter?: DeliveryFilter): Delivery[];
  correspondents(): Pick<Correspondent, 'address' | 'due'>[];
  explain(mail: string): MailStory;
  mask(text: string): string;
  settled(): Promise<{ readonly held?: readonly { readonly reason: string }[] }>;
}

/** A mail that was sent, as the journal has it. */
export type SentMail = JournalEntry<'mail-sent'>;

/** Checks that `expect()` was called with a mailbox or a sandbox, and returns it. */
export function parseMailbox(received: unknown): Observed {
  const methods = [
    'journal',
    'journalLosses',
    'requests',
    'deliveries',
    'correspondents',
    'explain',
    'mask',
    'settled',
  ] as const;
  if (methods.every((name) => typeof Object(received)[name] === 'function')) return received as Observed;
  throw new TypeError('The value in expect() must be a mailbox or a sandbox, such as server.mailbox.');
}

/**
 * Returns the requests of the journal. Unless `filter` chooses a protocol, commands of SMTP and IMAP are among them.
 *
 * @throws {Error} if the journal keeps no requests.
 */
export function readRequests(
  mailbox: Pick<Observed, 'journalSize' | 'requests'>,
  filter: RequestFilter = {},
): RequestEntry[] {
  if (mailbox.journalSize > 0) return mailbox.requests(filter);
  throw new Error('The journal records no requests, because journalSize is 0.');
}

/** The refused requests that a sandbox learns of although they did not have one of its keys, as candidates. */
export interface Refusals {
  /** Those that name the sandbox or something of it. No exception allows them. */
  readonly foreign: readonly Candidate[];
  /** Those of which nothing shows whose they were. */
  readonly unowned: readonly Candidate[];
}

/** Returns these refusals. The whole mailbox has none, because its requests are those of everybody. */
export function readRefusals(mailbox: Pick<Observed, 'journal'>): Refusals {
  if ('createSandbox' in mailbox) return { foreign: [], unowned: [] };
  const refusals = mailbox.journal({ kinds: ['refusal'] });
  const describe = ({ data }: JournalEntry<'refusal'>, key: string): Candidate => ({
    label: `without ${key}: ${data.method} ${data.path} → ${data.status}: ${data.reason}`,
    fields: fieldsOf({ operation: data.operation, method: data.method, path: data.path, status: data.status }),
  });
  return {
    foreign: refusals
      .filter(({ tenantId }) => tenantId !== null)
      .map((each) => describe(each, 'a key of this sandbox')),
    unowned: refusals.filter(({ tenantId }) => tenantId === null).map((each) => describe(each, 'a valid key')),
  };
}

/**
 * Checks that the journal has everything of some kinds, because a verdict could depend on what it has dropped.
 *
 * @throws {Error} if entries were dropped, with what can be done.
 */
export function checkComplete(mailbox: Evidence, kinds: readonly JournalEntry['kind'][], consequence: string): void {
  const count = countDropped(mailbox, kinds);
  if (count === 0) return;
  const isTraffic = kinds.includes('request');
  const advice = isTraffic
    ? `make journalSize larger than ${mailbox.journalSize}, or reset the mailbox before the test`
    : 'reset the mailbox before the test';
  throw new Error(`The journal no longer has ${count} of these entries, so ${consequence}; ${advice}.`);
}

/** A field of a candidate. */
export interface CandidateField {
  /** The value that a failure shows. */
  readonly shown: unknown;
  /** The values to compare. One of them must be as expected. Default: only `shown`. */
  readonly options?: readonly unknown[];
  /**
   * The addresses to compare, each with its forms. `some`: each expected address must be among them. `all`: each of them
   * must also be expected.
   */
  readonly addresses?: { readonly forms: readonly (readonly string[])[]; readonly mustBe: 'some' | 'all' };
}

/** Something that happened and that a matcher compares with what is expected. */
export interface Candidate {
  /** The name of the candidate in the message of a failure. */
  readonly label: string;
  /** A hint for the message of a failure. It is shown if this candidate is the most similar one. */
  readonly hint?: string | undefined;
  readonly fields: Readonly<Record<string, CandidateField>>;
  /** What it was before it was changed, the latest first. It is as expected if it was so at any time. */
  readonly earlier?: readonly Candidate[];
  /** The mail, if the candidate is a sent mail. */
  readonly mail?: SentMail;
}

/** The expected fields, by name. */
export type Expected = Readonly<Record<string, unknown>>;

/** Lists the HTTP requests as candidates. */
export function listRequestCandidates(mailbox: Observed, expected: Expected): Candidate[] {
  return describeRequests(mailbox, expected, readRequests(mailbox, { protocol: 'http' }));
}

/** Describes requests as candidates. @throws {ApiError} VALIDATION_ERROR for an unknown operation. */
export function describeRequests(
  mailbox: Observed,
  expected: Expected,
  requests: readonly RequestEntry[],
): Candidate[] {
  // This call throws if the operation is unknown.
  mailbox.requests(pickTexts(expected, 'operation'));
  // A request shows only the start of its key. For a full key, the mailbox finds the requests that have it.
  const idsWithKey = new Set(mailbox.requests(pickTexts(expected, 'key')).map(({ id }) => id));
  const hasFullKey = ({ id }: RequestEntry) => typeof expected.key === 'string' && idsWithKey.has(id);
  return requests.map((entry) => describeRequest(entry, hasFullKey(entry) ? expected.key : entry.key));
}

/** Lists the deliveries as candidates. */
function listDeliveries(mailbox: Observed, expected: Expected): Candidate[] {
  // This call throws if the kind of event or the state is unknown.
  mailbox.deliveries(pickTexts(expected, 'event', 'state'));
  return mailbox.deliveries().map(describeDelivery);
}

/** Lists the sent mail as candidates, also if it was deleted since. @throws {Error} if the journal has dropped mail. */
export function listSentMail(mailbox: Observed): Candidate[] {
  checkComplete(mailbox, ['mail-sent'], 'nothing shows what was sent');
  const traffic = readTraffic(mailbox);
  return mailbox.journal({ kinds: ['mail-sent'] }).map((entry) => describeMail(entry, traffic));
}

/**
 * Lists the drafts that clients wrote as candidates, each with what it was before it was changed. With `exists`, only
 * those that still exist, as they are.
 */
export function listDrafts(mailbox: Observed, { exists }: Expected): Candidate[] {
  return listChanged(mailbox, { object: 'draft', mustExist: exists === true, mustBeCreated: false }, ({ data }) => {
    const draft = data.row as Readonly<Record<'to' | 'cc' | 'bcc', readonly string[]>> & {
      readonly subject: string | null;
    };
    const { to, cc, bcc, subject } = draft;
    const all = [...to, ...cc, ...bcc];
    return {
      label: `the draft ${JSON.stringify(subject ?? '')} to ${all.join(', ') || 'nobody'}`,
      fields: { ...fieldsOf({ ...draft }), ...addressFields({ to: all, cc, bcc }) },
    };
  });
}

/**
 * Lists the objects of one kind that clients created as candidates, each with what it was before it was changed. With
 * `exists`, only those that still exist, as they are.
 */
export function listCreated(mailbox: Observed, { object, exists }: Expected): Candidate[] {
  const wanted = { object: String(object), mustExist: exists === true, mustBeCreated: true };
  return listChanged(mailbox, wanted, ({ data }) => ({
    label: `the ${data.object} ${data.id}, ${data.action} by ${data.by}`,
    fields: { object: { shown: data.object }, ...fieldsOf({ ...data.row }) },
  }));
}

interface WantedObjects {
  readonly object: string;
  readonly mustExist: boolean;
  readonly mustBeCreated: boolean;
}

/** Returns each object of a kind, or of those that were created, as it is or was last, with what it was before. */
function listChanged(
  mailbox: Observed,
  { object, mustExist, mustBeCreated }: WantedObjects,
  describe: (version: JournalEntry<'change'>) => Candidate,
): Candidate[] {
  checkComplete(mailbox, ['change'], `nothing shows which ${object} there was`);
  const byId = new Map<string, JournalEntry<'change'>[]>();
  for (const entry of mailbox.journal({ kinds: ['change'] })) {
    if (entry.data.object !== object) continue;
    const entries = byId.get(entry.data.id) ?? [];
    entries.push(entry);
    byId.set(entry.data.id, entries);
  }
  return [...byId.values()].flatMap((entries) => {
    const isRemoved = entries.at(-1)?.data.action === 'removed';
    const isCreated = entries.some(({ data }) => data.action === 'created');
    if ((mustExist && isRemoved) || (mustBeCreated && !isCreated)) return [];
    // The row of a removed object is the one before it was removed, which the entry before has, too.
    const versions = entries.filter(({ data }) => data.action !== 'removed').reverse();
    const [latest, ...earlier] = versions.map(describe);
    if (!latest) return [];
    return mustExist || earlier.length === 0 ? latest : { ...latest, earlier };
  });
}

/** What each matcher counts, and the function that lists the candidates. */
export const SEARCHES = {
  toHaveReceivedRequest: { noun: 'request', list: listRequestCandidates },
  toHaveDelivered: { noun: 'delivery', list: listDeliveries },
  toHaveSentMail: { noun: 'sent mail', list: listSentMail },
  toHaveSentOnce: { noun: 'sent mail', list: listSentMail },
  toHaveDraft: { noun: 'draft', list: listDrafts },
  toHaveCreated: { noun: 'created object', list: listCreated },
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
 * Describes a mail that was sent. An address may be given with or without its name, in any letter case. The hint shows
 * the request that sent the mail, if the service has ignored fields of this request.
 */
function describeMail(entry: SentMail, traffic: readonly TrafficEntry[]): Candidate {
  const { from, to, cc, bcc, subject, plainBody, htmlBody, inReplyTo, headers, attachments } = entry.data.mail;
  const request = requestsOf(traffic, entry).find(({ ignored }) => ignored.length > 0);
  const all = [...to, ...cc, ...bcc];
  return {
    mail: entry,
    hint: request && `The request is ${describeRequest(request).label}`,
    label: labelOfMail(entry),
    fields: {
      ...fieldsOf({ subject, plainBody, htmlBody, inReplyTo, headers, attachments }),
      ...addressFields({ to: all, cc, bcc }),
      from: { shown: from, addresses: { forms: [formsOf(from)], mustBe: 'some' } },
    },
  };
}

/** Returns the fields of addresses. `to` has all recipients, of which the expected ones are some. */
function addressFields(
  lists: Readonly<Record<'to' | 'cc' | 'bcc', readonly string[]>>,
): Record<string, CandidateField> {
  const { to: all, cc, bcc } = lists;
  const some = (shown: readonly string[]): CandidateField => ({
    shown: shown.length === 1 ? shown[0] : shown,
    addresses: { forms: shown.map(formsOf), mustBe: 'some' },
  });
  return {
    to: some(all),
    cc: some(cc),
    bcc: some(bcc),
    recipients: { shown: all, addresses: { forms: all.map(formsOf), mustBe: 'all' } },
  };
}

export function labelOfMail({ data: { mail } }: SentMail): string {
  const hidden = mail.bcc.length > 0 ? ` (${mail.bcc.join(', ')} in Bcc)` : '';
  return `${JSON.stringify(mail.subject)} to ${[...mail.to, ...mail.cc, ...mail.bcc].join(', ')}${hidden}`;
}

function fieldsOf(values: Readonly<Record<string, unknown>>): Record<string, CandidateField> {
  return Object.fromEntries(Object.entries(values).map(([name, shown]) => [name, { shown }]));
}

/** Returns an address as it is written, and its bare form in lower case. */
export function formsOf(address: string): string[] {
  return [address, bareAddress(address)];
}

/** Parses the body of a request. A body that is not JSON, or that was cut, stays a text. */
function parseJson(body: string | null): unknown {
  try {
    return body === null ? null : JSON.parse(body);
  } catch {
    return body;
  }
}
