import { addressContains } from '../basics/domain-name.ts';
import type { FeedEvent } from '../control/journal/feed-event.ts';
import type { JournalEntry, JournalMail } from '../control/journal/journal-entry.ts';
import { type ControlClient, RefusedCallError, type ReplyTo } from '../control/table/client.ts';
import type { TraceHeader, TraceLine } from '../control/trace.ts';
import { parseTerms, type SearchTerm } from './views/mail/find-conditions.ts';

type Story = Extract<TraceLine, { type: 'story' }>;
type Delivery = ReplyTo<'getDelivery'>;
type Tenant = ReplyTo<'listTenants'>['tenants'][number];

/** What the run of a trace needs. */
interface Run {
  readonly header: TraceHeader | undefined;
  readonly tenants: readonly Extract<TraceLine, { type: 'tenant' }>[];
  readonly samples: readonly Extract<TraceLine, { type: 'sample' }>[];
  readonly events: readonly FeedEvent[];
}

/** A trace: what happened in an emulator, which need not run any more. */
interface Trace {
  readonly run: Run;
  readonly entries: readonly JournalEntry[];
  readonly stories: ReadonlyMap<string, Story>;
}

/** Why a call fails that a trace cannot answer. */
const READ_ONLY = 'This is a trace, a record of what has happened. It does not have this, and cannot be changed.';

/** Why a search for unread mail fails. */
const UNREAD_UNKNOWN = 'A trace does not say which mail is unread. Remove is:unread from the search.';

/** Opens the text of a trace. */
type OpenTrace = () => Promise<ReadableStream<Uint8Array<ArrayBuffer>>>;

/**
 * Creates a client of the control plane that answers from a trace. It answers the calls by which the views of a trace
 * read, and refuses all others. A trace may be long, so only what the run shows is kept at first; when a call needs the
 * details, the trace is read once more.
 */
export function createTraceClient(openTrace: OpenTrace): ControlClient {
  const run = readRun(openTrace);
  const runReads = run.then(createRunReads);
  let whole: Promise<Reads> | undefined;
  return new Proxy({} as ControlClient, {
    get: (_, name: keyof ControlClient) => async (input: never) => {
      if (name === 'readFeed' && (input as { readonly follow?: boolean } | undefined)?.follow !== false) {
        return neverEnding();
      }
      const readFromRun = (await runReads)[name];
      if (readFromRun) return readFromRun(input);
      whole ??= readDetails(await run, openTrace).then(createReads);
      const read = (await whole)[name];
      if (!read) throw new RefusedCallError(READ_ONLY);
      return read(input);
    },
  });
}

/** A feed of a trace, in which nothing happens any more. */
async function* neverEnding(): AsyncGenerator<FeedEvent> {
  await new Promise(() => {});
}

/** Reads what the run shows. @throws {RefusedCallError} if the trace cannot be read to its end. */
async function readRun(openTrace: OpenTrace): Promise<Run> {
  let header: TraceHeader | undefined;
  const run = { tenants: [] as Run['tenants'][number][], samples: [] as Run['samples'][number][] };
  const events: FeedEvent[] = [];
  await readLines(openTrace, (line, number) => {
    if (line.type === 'entry') {
      events.push(toEvent(toEntry(line), `trace-${number}`));
    } else if (line.type === 'trace') header = line;
    else if (line.type === 'tenant') run.tenants.push(line);
    else if (line.type === 'sample') run.samples.push(line);
  });
  return { ...run, header, events };
}

/** The entry of a line. The type of a line does not say what the `data` of each kind has. */
const toEntry = (line: Extract<TraceLine, { type: 'entry' }>) => line as unknown as JournalEntry;

/** Reads the details. */
async function readDetails(run: Run, openTrace: OpenTrace): Promise<Trace> {
  const entries: JournalEntry[] = [];
  const stories = new Map<string, Story>();
  await readLines(openTrace, (line) => {
    if (line.type === 'entry') entries.push(toEntry(line));
    else if (line.type === 'story') stories.set(line.messageId, line);
  });
  return { run, entries, stories };
}

/**
 * Passes on each line of a trace as soon as it is there, with its number.
 *
 * @throws {RefusedCallError} if a line is not JSON.
 */
async function readLines(openTrace: OpenTrace, add: (line: TraceLine, number: number) => void): Promise<void> {
  const reader = (await openTrace()).getReader();
  const decoder = new TextDecoder();
  let number = 0;
  const addText = (text: string) => {
    number += 1;
    if (text.trim() === '') return;
    let line: TraceLine;
    try {
      line = JSON.parse(text);
    } catch {
      throw new RefusedCallError(`This trace cannot be shown: its line ${number} is not JSON.`);
    }
    add(line, number);
  };
  let start: string[] = [];
  for (;;) {
    const { done, value } = await reader.read();
    const lines = decoder.decode(value, { stream: !done }).split('\n');
    for (let index = 0; index < lines.length - 1; index += 1) {
      const line = lines[index] ?? '';
      addText(start.length > 0 ? start.join('') + line : line);
      start = [];
    }
    start.push(lines.at(-1) ?? '');
    if (done) break;
  }
  addText(start.join(''));
}

/** The calls that can be answered. */
type Reads = { readonly [Call in keyof ControlClient]?: (input: never) => Promise<unknown> };

/** Returns the calls that a trace without details can answer. */
function createRunReads(run: Run): Reads {
  const { header, samples, events } = run;
  const tenants = tenantsOf(run);
  return {
    getControlHealth: async () => ({ version: header?.writtenBy.version }),
    getClock: async () => ({ now: new Date().toISOString(), frozen: false }),
    listTenants: async () => ({ tenants }),
    listSandboxes: async () => ({ sandboxes: [] }),
    listKeys: async () => ({ keys: [] }),
    listCorrespondents: async () => ({ correspondents: [] }),
    listSamples: async () => ({ samples }),
    readFeed: async () => events,
    readJournal: async () => ({ entries: [], dropped: header?.losses ?? {} }),
  };
}

/** Returns the calls that a whole trace can answer. */
function createReads(trace: Trace): Reads {
  const { run, entries, stories } = trace;
  const mails = mailsOf(entries);
  const matches = createMatcher(trace);
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
      const terms = parseTerms(String(search));
      if (terms.some(({ field }) => field === 'is:unread')) throw new RefusedCallError(UNREAD_UNKNOWN);
      const found = mails.filter((mail) => matches(mail, query, terms)).toReversed();
      const words = terms.flatMap(({ field, text }) => (MARKED_FIELDS.has(field) ? text : []));
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
    listRequests: async () => ({ requests: [...requests.values()], dropped: run.header?.losses.request }),
    getRequest: async ({ id }: { readonly id: string }) => find(requests, id),
  };
}

/** Returns the mails of a trace, each with what is known about it. */
function mailsOf(entries: readonly JournalEntry[]) {
  return entries.flatMap((entry) => (isMail(entry) ? [{ ...entry.data, ...entry.data.mail }] : []));
}

/** A mail of the journal with its inbox. */
type TraceMail = JournalMail['mail'] & Pick<JournalMail, 'inbox'>;

function isMail(entry: JournalEntry): entry is JournalEntry<'mail-received' | 'mail-sent'> {
  return entry.kind === 'mail-received' || entry.kind === 'mail-sent';
}

function isRequest(entry: JournalEntry): entry is JournalEntry<'request' | 'mail-command'> {
  return entry.kind === 'request' || entry.kind === 'mail-command';
}

/** How many characters of the text of a mail the feed has. */
const EXCERPT_LENGTH = 240;

/** The parts of requests, attempts and mails that the run does not show. */
const NO_DETAILS = { request: undefined, reply: undefined };
const NO_RESPONSE = { responseHeaders: undefined, responseBody: undefined, thrown: undefined };
const NO_CONTENT = { headers: undefined, htmlBody: undefined, attachments: undefined };

/**
 * Returns the event that the feed of the emulator had for an entry, without what is long. The run passes over the kinds
 * that the feed does not have. The entry is changed for it, because to copy the fields of many entries would take longer
 * than to read them.
 */
function toEvent(entry: JournalEntry, id: string): FeedEvent {
  if (isRequest(entry)) Object.assign(entry.data, NO_DETAILS);
  if (entry.kind === 'attempt') Object.assign(entry.data, NO_RESPONSE);
  if (isMail(entry)) {
    const plainBody = entry.data.mail.plainBody.trim().slice(0, EXCERPT_LENGTH);
    Object.assign(entry.data.mail, NO_CONTENT, { plainBody });
  }
  return Object.assign(entry, { id }) as FeedEvent;
}

/** The fields of a search whose text is marked where a mail contains it. */
const MARKED_FIELDS: ReadonlySet<string> = new Set(['from:', 'to:', 'subject:', 'text']);

/** What chooses mail beside the words of a search. */
type MailChoice = { readonly [Name in 'tenant' | 'workspace' | 'inbox' | 'folder']?: unknown };

/** Creates a function that returns whether a search finds a mail, as the search of the emulator does. */
function createMatcher({ run, entries }: Trace) {
  const tenants = tenantsOf(run);
  const workspaceByInbox = new Map(
    tenants.flatMap(({ workspaces }) => workspaces.flatMap(({ id, inboxes }) => inboxes.map((each) => [each.id, id]))),
  );
  const domains = new Map(run.tenants.map(({ id, domain }) => [id, domain]));
  const sandboxes = new Map(
    tenants.flatMap(({ id, name, isSandbox }) =>
      isSandbox ? [[id, { name: name.toLowerCase(), domain: domains.get(id) ?? '' }] as const] : [],
    ),
  );
  const sampleIds = new Set(entries.flatMap((entry) => (entry.kind === 'sample' ? entry.data.messageIds : [])));
  const texts = new Map<string, string>();
  const textOf = ({ id, from, to, cc, subject, plainBody, htmlBody }: TraceMail) => {
    const text = texts.get(id) ?? [from, ...to, ...cc, subject, plainBody, htmlBody ?? ''].join('\n').toLowerCase();
    texts.set(id, text);
    return text;
  };
  const isIn = (text: string, ...wholes: readonly string[]) => wholes.some((each) => each.toLowerCase().includes(text));
  const matchesTerm = (mail: TraceMail, { field, text }: SearchTerm): boolean => {
    switch (field) {
      case 'from:':
        return addressContains(mail.from, text);
      case 'to:':
        return [...mail.to, ...mail.cc, ...mail.bcc].some((each) => addressContains(each, text));
      case 'subject:':
        return isIn(text, mail.subject);
      case 'inbox:':
        return isIn(text, mail.inbox, mail.inboxId);
      case 'sandbox:': {
        const sandbox = sandboxes.get(mail.tenantId);
        if (!sandbox) return false;
        return sandbox.name.includes(text) || [sandbox.domain, mail.tenantId].some((each) => each.startsWith(text));
      }
      case 'has:attachment':
        return mail.attachments.length > 0;
      case 'is:sample':
        return sampleIds.has(mail.id);
      default:
        return textOf(mail).includes(text);
    }
  };
  return (mail: TraceMail, choice: MailChoice, terms: readonly SearchTerm[]): boolean => {
    const { tenantId, inboxId, direction } = mail;
    const { tenant = tenantId, workspace, inbox = inboxId, folder = 'all' } = choice;
    if (tenant !== tenantId || inbox !== inboxId) return false;
    if (workspace !== undefined && workspace !== (workspaceByInbox.get(inboxId) ?? tenantId)) return false;
    if (folder !== 'all' && folder !== (direction === 'inbound' ? 'inbox' : 'sent')) return false;
    return terms.every((term) => matchesTerm(mail, term));
  };
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

/**
 * Returns the tenants of a trace, with the numbers of their mails in it. One that was gone at the end is known by its mail
 * alone, and is named by the domain of an inbox.
 */
function tenantsOf({ header, tenants, events }: Run): Tenant[] {
  const mails = events.flatMap((event) =>
    event.kind === 'mail-received' || event.kind === 'mail-sent' ? { ...event.data.mail, inbox: event.data.inbox } : [],
  );
  const counts = countBy(mails, ({ inboxId }) => inboxId);
  const known = new Set(tenants.map(({ id }) => id));
  const sandboxes = new Map<string | null, string | null>([[header?.sandbox ?? null, null]]);
  for (const event of events) if (event.kind === 'sandbox') sandboxes.set(event.data.tenantId, event.data.name);
  const present = tenants.map(({ type, domain, workspaces, ...tenant }) => ({
    ...tenant,
    workspaces: workspaces.map(({ inboxes, ...workspace }) => ({
      ...workspace,
      inboxes: inboxes.map((inbox) => ({ ...inbox, messages: counts.get(inbox.id) ?? 0, unread: 0 })),
    })),
  }));
  const gone = new Map<string, Map<string, string>>();
  for (const { tenantId, inboxId, inbox } of mails) {
    if (known.has(tenantId)) continue;
    const addresses = gone.get(tenantId) ?? new Map<string, string>();
    gone.set(tenantId, addresses.set(inboxId, inbox));
  }
  return [...present, ...[...gone].map(([id, addresses]) => toGoneTenant(id, addresses))];

  function toGoneTenant(id: string, addresses: ReadonlyMap<string, string>): Tenant {
    const inboxes = [...addresses].map(([inboxId, address]) => ({
      id: inboxId,
      address,
      displayName: null,
      isPaused: false,
      messages: counts.get(inboxId) ?? 0,
      unread: 0,
    }));
    const domain = inboxes[0]?.address.split('@')[1] ?? id;
    const workspaces = [{ id, name: 'Inboxes', inboxes }];
    return { id, name: sandboxes.get(id) ?? domain, isSandbox: sandboxes.has(id), workspaces };
  }
}

function countBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1);
  return counts;
}
