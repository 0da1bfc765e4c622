import type { FeedEvent } from '../control/journal/feed-event.ts';
import { deliveriesOf } from '../control/journal/from-entries/entry-deliveries.ts';
import { chooseMails, type MailChoice, mailsOf, threadOf } from '../control/journal/from-entries/entry-mails.ts';
import { droppedRequests, requestsOf } from '../control/journal/from-entries/entry-requests.ts';
import { tenantsOf } from '../control/journal/from-entries/entry-tenants.ts';
import { isWholeInFeed, shortenForFeed } from '../control/journal/from-entries/feed-entries.ts';
import { detailMail, listPage, type PageOptions } from '../control/journal/from-entries/mail-list.ts';
import type { JournalEntry } from '../control/journal/journal-entry.ts';
import type { ParsedRequestFilter } from '../control/journal/request-entry.ts';
import { type ControlClient, RefusedCallError } from '../control/table/client.ts';
import type { TraceHeader, TraceLine } from '../control/trace.ts';
import type { DeliveryFilter } from '../service/delivery/delivery.ts';
import { LANE_OF } from './views/run/run-log.ts';

/** What a line of a type has. */
type LineOf<Type extends TraceLine['type']> = Omit<Extract<TraceLine, { type: Type }>, 'type'>;

/** What the run of a trace needs, and what is short. */
interface Run {
  readonly header: TraceHeader | undefined;
  readonly tenants: readonly LineOf<'tenant'>[];
  readonly webhooks: readonly LineOf<'webhook'>[];
  readonly samples: readonly LineOf<'sample'>[];
  /** How the mails were at the end, by their ids. */
  readonly mails: ReadonlyMap<string, LineOf<'mail'>>;
  readonly events: readonly FeedEvent[];
}

/** A trace: what happened in an emulator, which need not run any more. */
interface Trace {
  readonly run: Run;
  readonly entries: readonly JournalEntry[];
  readonly deliveries: readonly LineOf<'delivery'>[];
  readonly stories: ReadonlyMap<string, LineOf<'story'>>;
}

/** Why a call fails that a trace cannot answer. */
const READ_ONLY = 'This is a trace, a record of what has happened. It does not have this, and cannot be changed.';

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
      const answer = await readFromRun?.(input);
      if (answer !== undefined) return answer;
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
  const tenants: LineOf<'tenant'>[] = [];
  const webhooks: LineOf<'webhook'>[] = [];
  const samples: LineOf<'sample'>[] = [];
  const mails = new Map<string, LineOf<'mail'>>();
  const events: FeedEvent[] = [];
  await readLines(openTrace, (line, number) => {
    if (line.type === 'entry') {
      // The feed does not have every kind of entry.
      if (isInFeed(line.kind)) events.push(toEvent(toEntry(line), number));
    } else if (line.type === 'trace') header = line;
    else if (line.type === 'tenant') tenants.push(withoutType(line));
    else if (line.type === 'webhook') webhooks.push(withoutType(line));
    else if (line.type === 'mail') mails.set(line.id, withoutType(line));
    else if (line.type === 'sample') samples.push(withoutType(line));
  });
  return { header, tenants, webhooks, samples, mails, events };
}

/** The entry of a line. The type of a line does not say what the `data` of each kind has. */
const toEntry = (line: Extract<TraceLine, { type: 'entry' }>) =>
  Object.assign(line, NO_TYPE) as unknown as JournalEntry;

/** A field is not deleted, because objects without a field of others are slow. */
const NO_TYPE = { type: undefined };

/** Returns whether the feed has entries of a kind. */
const isInFeed = (kind: string) => Object.hasOwn(LANE_OF, kind);

/** The event that the feed had for an entry. */
const toEvent = (entry: JournalEntry, lineNumber: number): FeedEvent =>
  Object.assign(shortenForFeed(entry), { id: `trace-${lineNumber}` });

function withoutType<Line extends TraceLine>({ type: _, ...fields }: Line): Omit<Line, 'type'> {
  return fields;
}

/** Reads the details. */
async function readDetails(run: Run, openTrace: OpenTrace): Promise<Trace> {
  const entries: JournalEntry[] = [];
  const deliveries: LineOf<'delivery'>[] = [];
  const stories = new Map<string, LineOf<'story'>>();
  await readLines(openTrace, (line) => {
    if (line.type === 'entry') entries.push(toEntry(line));
    else if (line.type === 'delivery') deliveries.push(withoutType(line));
    else if (line.type === 'story') stories.set(line.messageId, withoutType(line));
  });
  return { run, entries, deliveries, stories };
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

/** Returns the calls that a trace without details can answer. The answer is undefined if it needs details. */
function createRunReads(run: Run): Reads {
  const { header, webhooks, samples, events } = run;
  const tenants = tenantsIn(run).map(({ domain: _, addresses: _addresses, ...tenant }) => tenant);
  return {
    getControlHealth: async () => ({ version: header?.writtenBy.version }),
    getClock: async () => ({ now: new Date().toISOString(), frozen: false }),
    listTenants: async () => ({ tenants }),
    listSandboxes: async () => ({ sandboxes: [] }),
    listKeys: async () => ({ keys: [] }),
    listCorrespondents: async () => ({ correspondents: [] }),
    listSamples: async () => ({ samples }),
    listWebhookSettings: async () => ({
      webhooks: webhooks.map((webhook) => ({ ...webhook, secret: '' })),
    }),
    readFeed: async () => events,
    readJournal: async ({ kinds }: JournalInput = {}) => {
      const wanted = kindsIn(kinds);
      if (!wanted?.every((kind) => isInFeed(kind) && isWholeInFeed(kind))) return undefined;
      const entries = events.filter(({ kind }) => wanted.includes(kind)).map(({ id: _, ...entry }) => entry);
      return { entries, dropped: header?.losses ?? {} };
    },
  };
}

/** Returns the tenants of a trace. A sandbox that was gone at the end has the name that its entries have. */
function tenantsIn({ header, tenants, mails, events }: Run) {
  const names = new Map<string | null, string | null>([[header?.sandbox ?? null, null]]);
  for (const event of events) if (event.kind === 'sandbox') names.set(event.data.tenantId, event.data.name);
  const mailEvents = events.flatMap((event) =>
    event.kind === 'mail-received' || event.kind === 'mail-sent' ? event.data : [],
  );
  return tenantsOf(tenants, mailEvents, mails, names);
}

/** What `readJournal` takes. */
type JournalInput = { readonly kinds?: string | readonly string[] };

const kindsIn = (kinds: JournalInput['kinds']) =>
  kinds === undefined
    ? undefined
    : String(kinds)
        .split(',')
        .map((kind) => kind.trim());

/** What `searchMail` takes. */
interface SearchInput extends MailChoice, PageOptions {
  readonly search?: string | undefined;
}

/** What `listRequests` takes. */
interface RequestInput extends ParsedRequestFilter {
  readonly format?: 'har' | 'summary' | undefined;
}

/** Returns the calls that a whole trace can answer. */
function createReads({ run, entries, deliveries: deliveriesAtEnd, stories }: Trace): Reads {
  const losses = run.header?.losses ?? {};
  const tenants = tenantsIn(run);
  const mails = mailsOf(entries, run.mails, tenants);
  const requests = requestsOf(entries);
  const deliveries = deliveriesOf(entries, deliveriesAtEnd);
  const find = <Value>(values: readonly Value[], idOf: (value: Value) => string, id: string): Value => {
    const value = values.find((each) => idOf(each) === id);
    if (value === undefined) throw new RefusedCallError('The trace does not have it.');
    return value;
  };
  return {
    readJournal: async ({ kinds }: JournalInput = {}) => {
      const wanted = kindsIn(kinds);
      return { entries: entries.filter(({ kind }) => wanted?.includes(kind) ?? true), dropped: losses };
    },
    searchMail: async (query: SearchInput = {}) => {
      if (query.tenant !== undefined && !tenants.some(({ id }) => id === query.tenant)) {
        throw new RefusedCallError('There is no tenant with this id.');
      }
      return listPage(chooseMails(mails, query), query.search, query);
    },
    getMail: async ({ id }: { readonly id: string }) => {
      const found = find(mails, ({ mail }) => mail.id, id);
      const { links = [], misleadingLinks = [] } = run.mails.get(id) ?? {};
      const { headers, attachments } = found.mail;
      const thread = mails.filter(({ mail }) => threadOf(mail) === threadOf(found.mail));
      return {
        ...detailMail(found, thread),
        headers: Object.entries(headers).map(([name, value]) => ({ name, value, isTrace: false })),
        files: attachments.map(({ content: _, ...file }) => file),
        links,
        misleadingLinks,
        request: requests.find(({ messages }) => messages.includes(id))?.id ?? null,
        deliveries: deliveries.flatMap((one) => (one.payload.messageId === id ? one.id : [])),
        api: found.mail,
      };
    },
    explainMail: async ({ id }: { readonly id: string }) =>
      find([...stories.values()], ({ messageId }) => messageId, id),
    listDeliveries: async (filter: DeliveryFilter = {}) => {
      return { deliveries: deliveriesOf(entries, deliveriesAtEnd, filter) };
    },
    getDelivery: async ({ id }: { readonly id: string }) => find(deliveries, (delivery) => delivery.id, id),
    listRequests: async ({ format, ...filter }: RequestInput = {}) => {
      if (format === 'har') throw new RefusedCallError(READ_ONLY);
      const listed = requestsOf(entries, filter);
      const dropped = droppedRequests(losses);
      const requests =
        format === 'summary' ? listed.map(({ request: _, reply: _reply, ...summary }) => summary) : listed;
      return dropped ? { requests, dropped } : { requests };
    },
    getRequest: async ({ id }: { readonly id: string }) => find(requests, (request) => request.id, id),
  };
}
