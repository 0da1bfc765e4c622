import { z } from 'zod';
import { describeValue } from '../basics/check-options.ts';
import { lazy, type OutputOf } from '../basics/lazy-schema.ts';
import { ApiError, parseOrRefuse } from '../contract/errors.ts';
import type { EntryKind } from '../service/journal/entry-kinds.ts';
import type { ControlScope } from './control-scope.ts';
import type { FeedEvent, FeedOptions } from './journal/feed-event.ts';
import { findRequest, listRequests } from './journal/find-requests.ts';
import { type JournalEntry, type JournalLosses, type JournalQuery, journalQuery } from './journal/journal-entry.ts';
import { readJournal, readLosses } from './journal/read-journal.ts';
import type { RequestEntry, RequestFilter, RequestSummary } from './journal/request-entry.ts';
import { showRequest, showSummary } from './journal/show-request.ts';
import { type TraceOptions, traceOptions, writeTrace } from './trace.ts';
import { type MailStory, tellStory } from './verdicts/story.ts';

const connectionFields = () => ({
  /** How it is connected: to an event stream, or by IMAP or SMTP. */
  protocol: z.enum(['websocket', 'imap', 'smtp']),
  /** The real time at which it connected. */
  since: z.string().describe('The real time at which it connected.'),
  /** The tenant of its key or its login; null without one. */
  tenantId: z.string().nullable().describe('The tenant of its key or its login; null without one.'),
  /** The workspace of its key or its login; null if it has none. */
  workspaceId: z.string().nullable(),
  /** The inbox of its key or its login; null if it has none. */
  inboxId: z.string().nullable(),
});

/** The schema of a client that is connected now. */
export const connectionReply = lazy(() => z.strictObject(connectionFields()));

/** A client that is connected now. */
export interface ConnectedClient extends OutputOf<ReturnType<typeof connectionFields>> {}

/** The control methods for the journal of requests and the live feed. */
export interface JournalControls {
  /**
   * How many requests of each tenant the journal keeps, as the option `journalSize` sets it. With 0, it records none.
   */
  readonly journalSize: number;
  /**
   * Returns the requests that the service has handled, oldest first, with the reason of each refusal. The journal keeps
   * the latest requests of each tenant: 1,000, or the number that the option `journalSize` sets.
   *
   * @throws {ApiError} VALIDATION_ERROR for an invalid filter.
   * @example
   * const [refused] = mailbox.requests({ operation: 'deleteWebhook', status: 404 });
   * refused?.reason;
   */
  requests(filter?: RequestFilter): RequestEntry[];
  /** Returns the same requests, oldest first, without headers, queries and bodies. @throws {ApiError} VALIDATION_ERROR */
  requestSummaries(filter?: RequestFilter): RequestSummary[];
  /** Returns one request. @throws {ApiError} NOT_FOUND if the journal does not have it. */
  request(id: string): RequestEntry;
  /**
   * Returns what has happened since the start or the latest reset, oldest first: mail with everything that it had,
   * requests, commands, changes, deliveries with their attempts, and what tests did. Deleting a mail, an inbox or a
   * sandbox removes no entry. Only a full journal drops entries; `journalLosses` counts them.
   *
   * @throws {ApiError} VALIDATION_ERROR for an invalid query.
   * @example
   * const sent = mailbox.journal({ kinds: ['mail-sent'] }).map(({ data }) => data.mail.subject);
   */
  journal<Kind extends EntryKind = EntryKind>(
    query?: JournalQuery & { readonly kinds?: readonly Kind[] | undefined },
  ): JournalEntry<Kind>[];
  /**
   * Returns how many entries of each kind the journal has dropped since the latest reset, because it was full or because
   * `journalSize` is 0. An answer that needs such entries cannot be given.
   */
  journalLosses(): JournalLosses;
  /**
   * Tells what became of a mail: how it came, which webhooks were called for it or why not, what they answered, who read
   * it, what was sent because of it, and what is still due. The mail is one of `receiveMessage`, of `messages` or of the
   * journal, or its id.
   *
   * @throws {ApiError} NOT_FOUND if the journal does not have the mail.
   * @example
   * const [mail] = await mailbox.receiveMessage({ from: 'dana@customer.test', to: 'helpdesk@acme.test' });
   * console.log(mailbox.explain(mail).lines.join('\n'));
   */
  explain(mail: { readonly id: string } | string): MailStory;
  /**
   * Writes what has happened since the start or the latest reset as a trace: JSON Lines with a header, every entry of the
   * journal, and the stories of the latest mails. Keys and secrets are masked. `agent-mailbox-mock show <file>` prints
   * the stories of a trace.
   *
   * @throws {ApiError} VALIDATION_ERROR for an invalid option.
   */
  trace(options?: TraceOptions): string;
  /**
   * Returns a text in which secrets are masked as in a trace: the keys, the passwords and the webhook secrets of the
   * mailbox in every usual encoding, and what has the form of a secret. Use it for what a report of your own shows.
   *
   * @throws {ApiError} VALIDATION_ERROR if it is not a text.
   *
   * @example
   * console.log(mailbox.mask(agent.output));
   */
  mask(text: string): string;
  /**
   * Returns how much is under way now: the `requests` of clients that have no reply yet, those by the Model Context
   * Protocol included, and the `deliveries` that are being sent, together with the answers that correspondents are
   * writing. The journal has a request only when it has its reply. Commands of SMTP and IMAP do not count.
   */
  openCalls(): { readonly requests: number; readonly deliveries: number };
  /**
   * Returns the clients that are connected now, the oldest first: those of the event streams, of IMAP and of SMTP. Of a
   * sandbox, only those with its logins and keys; otherwise also those that have not logged in.
   *
   * @example
   * const watchers = mailbox.connections().filter(({ protocol }) => protocol === 'imap');
   */
  connections(): ConnectedClient[];
  /** Makes `requests()` start after the present requests. `restoreRequests` undoes this. The journal keeps them. */
  clearRequests(): void;
  /** Makes `requests()` start where it started before the latest `clearRequests`, unless a reset came after it. */
  restoreRequests(): void;
  /**
   * Returns the entries of the journal while they happen, oldest first, without what may be long: requests, deliveries,
   * mail, streams, faults, changes of the time and of the state, and resets. A reader gets an event of the kind `gap` in
   * place of entries that the journal no longer has.
   *
   * @example
   * for await (const event of mailbox.feed()) console.log(event.kind);
   */
  feed(options?: FeedOptions): AsyncIterable<FeedEvent>;
}

/** The schema of a mail or its id, in a call in code. */
const mailOrId = lazy(() =>
  z.union(
    [z.string(), z.looseObject({ id: z.string() }).transform(({ id }) => id)],
    'must be a mail with an id, or the id of a mail',
  ),
);

/** The schema of the options of `feed`. */
const feedOptions = lazy(() =>
  z.strictObject(
    {
      lastEventId: z.string('must be the id of an event').optional(),
      follow: z.boolean('must be true or false').optional(),
    },
    'must be an object',
  ),
);

/** Creates the journal methods of a mailbox or a sandbox. */
export function createJournalControls(scope: ControlScope): JournalControls {
  const { service, feeds, worlds, publishChange } = scope;
  const { journals } = service;
  return {
    journalSize: journals.size,
    requests: (filter) => listRequests(journals, worlds, filter, showRequest),
    requestSummaries: (filter) => listRequests(journals, worlds, filter, showSummary),
    request: (id) => findRequest(journals, worlds, id),
    journal: (query = {}) => readJournal(journals, worlds, parseOrRefuse('The query', journalQuery(), query) as never),
    journalLosses: () => readLosses(journals, worlds),
    explain: (mail) => tellStory(scope, parseOrRefuse('The mail', mailOrId(), mail)),
    trace: (options = {}) => writeTrace(scope, parseOrRefuse('The input of trace', traceOptions(), options)),
    mask(text) {
      if (typeof text === 'string') return worlds.mailbox.mask.text(text);
      throw new ApiError('VALIDATION_ERROR', `The text to mask must be a text, not ${describeValue(text)}.`);
    },
    openCalls: () => ({
      requests: service.openCalls.count(worlds.owners()),
      deliveries: worlds.all().reduce((sum, { clock }) => sum + clock.runningWork, 0),
    }),
    connections: () =>
      service.connections.list(worlds.all(), worlds.sandboxId === undefined).map(({ protocol, since, principal }) => {
        const { world, workspaceId = null, inboxId = null } = principal() ?? {};
        return { protocol, since: since.toISOString(), tenantId: world?.id ?? null, workspaceId, inboxId };
      }),
    clearRequests() {
      journals.clearRequests(worlds.owners());
      publishChange('journal', 'cleared');
    },
    restoreRequests() {
      journals.restoreRequests(worlds.owners());
      publishChange('journal', 'restored');
    },
    feed: (options = {}) => feeds.read(worlds, parseOrRefuse('The input of feed', feedOptions(), options)),
  };
}
