import type { FeedEvent } from '../control/journal/feed-event.ts';
import type { JournalEntry, JournalMail } from '../control/journal/journal-entry.ts';
import type { TraceHeader, TraceLine } from '../control/journal/trace.ts';
import { type ControlClient, RefusedCallError, type ReplyTo } from '../control/table/client.ts';
import { wordsOf } from './text.tsx';

type Story = Extract<TraceLine, { type: 'story' }>;
type Delivery = ReplyTo<'getDelivery'>;
type Tenants = ReplyTo<'listTenants'>['tenants'];

/** A trace: what happened in an emulator, which need not run any more. */
interface Trace {
  readonly header: TraceHeader;
  readonly entries: readonly JournalEntry[];
  readonly stories: ReadonlyMap<string, Story>;
}

/** Why a call fails that a trace cannot answer. */
const READ_ONLY = 'This is a trace, a record of what has happened. It does not have this, and cannot be changed.';

/** Reads the text of a trace. */
interface TraceSource {
  /** Reads it without the details that the run does not show: stories, headers, bodies, and entries of other kinds. */
  readonly readRun: () => Promise<string>;
  /** Reads all of it. */
  readonly readWhole: () => Promise<string>;
}

/**
 * Creates a client of the control plane that answers from a trace. It answers the calls by which the views of a trace
 * read, and refuses all others. The whole trace is read when a call needs its details.
 */
export function createTraceClient({ readRun, readWhole }: TraceSource): ControlClient {
  const run = readRun().then((text) => createRunReads(parseTrace(text)));
  let whole: Promise<Reads> | undefined;
  return new Proxy({} as ControlClient, {
    get: (_, name: keyof ControlClient) => async (input: never) => {
      const readFromRun = (await run)[name];
      if (readFromRun) return readFromRun(input);
      whole ??= readWhole().then((text) => createReads(parseTrace(text)));
      const read = (await whole)[name];
      if (!read) throw new RefusedCallError(READ_ONLY);
      return read(input);
    },
  });
}

/** The calls that can be answered. */
type Reads = { readonly [Call in keyof ControlClient]?: (input: never) => Promise<unknown> };

/** Returns the calls that a trace without details can answer. */
function createRunReads(trace: Trace): Reads {
  const { header, entries } = trace;
  return {
    getControlHealth: async () => ({ version: header.writtenBy.version }),
    getClock: async () => ({ now: new Date().toISOString(), frozen: false }),
    listTenants: async () => ({ tenants: tenantsOf(trace, mailsOf(entries)) }),
    listSandboxes: async () => ({ sandboxes: [] }),
    listKeys: async () => ({ keys: [] }),
    listCorrespondents: async () => ({ correspondents: [] }),
    listSamples: async () => ({ samples: [] }),
    readFeed: async ({ follow = true }: { readonly follow?: boolean } = {}) =>
      readEvents(follow ? [] : eventsOf(trace), follow),
    readJournal: async () => ({ entries: [], dropped: header.losses }),
  };
}

/** Returns the calls that a whole trace can answer. */
function createReads(trace: Trace): Reads {
  const { header, entries, stories } = trace;
  const mails = mailsOf(entries);
  const mailById = new Map(mails.map((mail) => [mail.id, mail]));
  const bounces = new Map(
    entries.flatMap((entry) => (entry.kind === 'mail-bounced' ? [[entry.data.mail.id, entry.at] as const] : [])),
  );
  const deliveries = deliveriesOf(entries);
  const requests = new Map(
    entries.flatMap((entry) => (isRequest(entry) ? [[entry.data.id, entry.data] as const] : [])),
  );
  const threadSizes = countBy(mails, ({ threadId }) => threadId);
  const summarise = (mail: TraceMail) => ({
    ...mail,
    snippet: mail.plainBody.replace(/\s+/g, ' ').slice(0, 200),
    attachments: mail.attachments.length,
    messagesInThread: threadSizes.get(mail.threadId) ?? 1,
    bouncedAt: bounces.get(mail.id) ?? null,
    // A trace does not have these states of a mail, so nothing is marked.
    isRead: true,
    isStarred: false,
  });
  const find = <Value>(values: ReadonlyMap<string, Value>, id: string): Value => {
    const value = values.get(id);
    if (value === undefined) throw new RefusedCallError('The trace does not have it.');
    return value;
  };
  return {
    listMail: async () => ({ messages: mails }),
    searchMail: async (query: Parameters<ControlClient['searchMail']>[0] = {}) => {
      const { offset = 0, limit = 50, search = '', indexOf } = query;
      const words = wordsOf(String(search));
      const found = mails.filter((mail) => isFound(mail, query, words)).toReversed();
      return {
        total: found.length,
        words,
        messages: found.slice(Number(offset), Number(offset) + Number(limit)).map(summarise),
        index: indexOf === undefined ? -1 : found.findIndex(({ id }) => id === indexOf),
      };
    },
    getMail: async ({ id }: { readonly id: string }) => {
      const mail = find(mailById, id);
      const { headers, attachments } = mail;
      return {
        ...summarise(mail),
        references: [],
        isArchived: false,
        deletedAt: null,
        headers: Object.entries(headers).map(([name, value]) => ({ name, value, isTrace: false })),
        files: attachments,
        links: [],
        misleadingLinks: [],
        thread: mails.filter(({ threadId }) => threadId === mail.threadId).map(summarise),
        request: [...requests.values()].find(({ messages }) => messages.includes(id))?.id ?? null,
        deliveries: [...deliveries.values()].flatMap((one) => (one.payload.messageId === id ? one.id : [])),
        api: mail,
      };
    },
    explainMail: async ({ id }: { readonly id: string }) => find(stories, id),
    listDeliveries: async () => ({ deliveries: [...deliveries.values()] }),
    getDelivery: async ({ id }: { readonly id: string }) => find(deliveries, id),
    listWebhookSettings: async () => ({ webhooks: webhooksOf(trace) }),
    listRequests: async () => ({ requests: [...requests.values()], dropped: header.losses.request }),
    getRequest: async ({ id }: { readonly id: string }) => find(requests, id),
  };
}

/** Returns the mails of a trace, each with what is known about it. */
function mailsOf(entries: readonly JournalEntry[]) {
  return entries.flatMap((entry) => (isMail(entry) ? [{ ...entry.data, ...entry.data.mail }] : []));
}

/** A mail of the journal with its inbox. */
type TraceMail = JournalMail['mail'] & Pick<JournalMail, 'inbox'>;

/** Parses the lines. The program that wrote them into the page has checked them. */
function parseTrace(text: string): Trace {
  const lines = text.split('\n').flatMap((line): TraceLine[] => (line.trim() === '' ? [] : [JSON.parse(line)]));
  return {
    header: lines[0] as TraceHeader,
    entries: lines.flatMap((line) => (line.type === 'entry' ? [line as unknown as JournalEntry] : [])),
    stories: new Map(lines.flatMap((line) => (line.type === 'story' ? [[line.messageId, line] as const] : []))),
  };
}

function isMail(entry: JournalEntry): entry is JournalEntry<'mail-received' | 'mail-sent'> {
  return entry.kind === 'mail-received' || entry.kind === 'mail-sent';
}

function isRequest(entry: JournalEntry): entry is JournalEntry<'request' | 'mail-command'> {
  return entry.kind === 'request' || entry.kind === 'mail-command';
}

/** How many characters of the text of a mail the feed has. */
const EXCERPT_LENGTH = 240;

/** The kinds of entries that the feed has as they are. */
const PLAIN_KINDS: ReadonlySet<string> = new Set<FeedEvent['kind']>([
  ...(['mail-held', 'delivery-created', 'delivery-released', 'attempt', 'delivery-ended'] as const),
  ...(['stream-opened', 'stream-closed'] as const),
  ...(['clock', 'fault', 'sandbox', 'checkpoint', 'key', 'journal', 'messages', 'behaviours'] as const),
  ...(['reset', 'failure'] as const),
]);

/** Returns the events that the feed of the emulator had. */
function eventsOf({ entries }: Trace): FeedEvent[] {
  return entries.flatMap((entry, index): FeedEvent[] => {
    const common = { id: `trace-${index}`, realTime: entry.realTime };
    if (isRequest(entry)) return [{ ...common, kind: 'request', request: entry.data }];
    if (isMail(entry)) {
      const kind = entry.kind === 'mail-received' ? 'mail' : entry.kind;
      const { inbox, source } = entry.data;
      const { id: messageId, tenantId, inboxId, threadId, from, to, subject, plainBody } = entry.data.mail;
      const excerpt = plainBody.trim().slice(0, EXCERPT_LENGTH);
      const mail = { messageId, tenantId, inboxId, threadId, from, to, subject, excerpt };
      return [{ ...common, kind, ...mail, inbox, source }];
    }
    return PLAIN_KINDS.has(entry.kind) ? [{ ...entry.data, ...common, kind: entry.kind } as unknown as FeedEvent] : [];
  });
}

/** Sends events. A feed that is followed does not end. */
async function* readEvents(events: readonly FeedEvent[], isFollowed: boolean): AsyncGenerator<FeedEvent> {
  yield* events;
  if (isFollowed) await new Promise(() => {});
}

function isFound(
  { tenantId, inboxId, direction, from, to, subject, plainBody }: TraceMail,
  { tenant, workspace, inbox, folder = 'all' }: { [Name in 'tenant' | 'workspace' | 'inbox' | 'folder']?: unknown },
  words: readonly string[],
): boolean {
  if ((tenant ?? tenantId) !== tenantId || (inbox ?? inboxId) !== inboxId) return false;
  if ((workspace ?? tenantId) !== tenantId) return false;
  if (folder !== 'all' && folder !== (direction === 'inbound' ? 'inbox' : 'sent')) return false;
  const text = [from, ...to, subject, plainBody].join('\n').toLowerCase();
  return words.every((word) => text.includes(word));
}

/** Returns the deliveries as they were at the end of the trace. The requests that were sent are not in a trace. */
function deliveriesOf(entries: readonly JournalEntry[]): Map<string, Delivery> {
  const deliveries = new Map<string, Delivery>();
  for (const { kind, data, at, realTime } of entries) {
    if (!('deliveryId' in data)) continue;
    const { deliveryId: id, tenantId, webhookId, event, eventId, messageId, state, reason } = data;
    const earlier = deliveries.get(id)?.attempts ?? [];
    const retryInMs = kind === 'attempt' ? data.retryInMs : null;
    const nextAttemptAt = retryInMs === null ? null : new Date(Date.parse(at) + retryInMs).toISOString();
    const createdAt = deliveries.get(id)?.createdAt ?? at;
    const payload = { id: eventId, event, messageId } as Delivery['payload'];
    const common = { id, tenantId, webhookId, event, eventId, payload, createdAt, nextAttemptAt };
    const attempt = kind === 'attempt' && {
      at,
      realTime,
      url: data.url ?? '',
      requestHeaders: {},
      requestBody: '',
      fault: null,
      faultId: null,
      status: data.status,
      responseHeaders: data.responseHeaders,
      responseBody: data.responseBody,
      error: data.error,
      durationMs: data.durationMs,
      nextAttemptAt,
    };
    const attempts = attempt ? [...earlier, attempt] : earlier;
    deliveries.set(id, { ...common, state: state as Delivery['state'], reason, attempts });
  }
  return deliveries;
}

/** Returns what a trace shows of the webhooks: their URLs. */
function webhooksOf({ entries, stories }: Trace) {
  const urls = new Map<string, string>();
  for (const { webhooks } of stories.values()) for (const { webhookId, url } of webhooks) urls.set(webhookId, url);
  for (const { data } of entries) {
    if ('deliveryId' in data && data.url !== null) urls.set(data.webhookId, data.url);
  }
  return [...urls].map(([id, url]) => ({ id, url, events: [], isActive: true, secret: '' }));
}

/** Returns the tenants that had mail. A trace does not have their names, so the domain of an inbox names them. */
function tenantsOf({ header, entries }: Trace, mails: readonly TraceMail[]): Tenants {
  const sandboxes = new Map<string | null, string | null>([[header.sandbox, null]]);
  for (const { kind, data } of entries) if (kind === 'sandbox') sandboxes.set(data.tenantId, data.name);
  const counts = countBy(mails, ({ inboxId }) => inboxId);
  return [...new Set(mails.map(({ tenantId }) => tenantId))].map((id) => {
    const own = mails.filter(({ tenantId }) => tenantId === id);
    const domain = own[0]?.inbox.split('@')[1] ?? id;
    const addresses = new Map(own.map(({ inboxId, inbox }) => [inboxId, inbox]));
    const inboxes = [...addresses].map(([id, address]) => ({
      id,
      address,
      displayName: null,
      isPaused: false,
      messages: counts.get(id) ?? 0,
      unread: 0,
    }));
    const workspaces = [{ id, name: 'Inboxes', inboxes }];
    return { id, name: sandboxes.get(id) ?? domain, isSandbox: sandboxes.has(id), workspaces } as Tenants[number];
  });
}

function countBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1);
  return counts;
}
