import { z } from 'zod';
import { formatDuration } from '../../basics/duration.ts';
import { lazy } from '../../basics/lazy-schema.ts';
import { plural, truncate } from '../../basics/text.ts';
import { ApiError } from '../../contract/errors.ts';
import type { OperationId } from '../../contract/operations.ts';
import type { Delivery } from '../../service/delivery/delivery.ts';
import { reasonToSkip } from '../../service/delivery/dispatcher.ts';
import { traceIdOf } from '../../service/delivery/request.ts';
import type { ShownPart } from '../../service/journal/entry-data.ts';
import type { WebhookRow } from '../../world/store/rows.ts';
import type { World } from '../../world/store/world.ts';
import type { ControlScope } from '../control-scope.ts';
import { describeCall, isRefused } from '../journal/from-entries/call-of.ts';
import type { JournalEntry } from '../journal/journal-entry.ts';
import { readJournal, readLosses } from '../journal/read-journal.ts';
import { type RequestEntry, type RequestSummary, summaryReply } from '../journal/request-entry.ts';
import { recipientsOf } from './addresses.ts';
import { createCauseFinder } from './cause.ts';
import {
  countDropped,
  type Evidence,
  findNotice,
  isAfter,
  type MailEntry,
  readMail,
  readTraffic,
  requestsOf,
  sentAfter,
} from './evidence.ts';
import { MAX_LINES, shortenStory, tellTogether } from './story-lines.ts';

const webhookFields = () => ({
  webhookId: z.string(),
  url: z.string().describe('Without login and query.'),
  deliveries: z.array(z.string()).describe('The ids of its deliveries of this mail.'),
  skipped: z.string().nullable().describe('Why it got no delivery; null if it got one.'),
});

/** The parts of a story in short, in the order in which a reader asks for them. */
const STORY_STEPS = ['arrival', 'webhooks', 'reading', 'answer'] as const;

const stepFields = () => ({
  step: z.enum(STORY_STEPS),
  text: z.string().describe('What became of it, such as `1 of 3 webhooks delivered, 2 failing` or `never read`.'),
  result: z
    .enum(['good', 'bad', 'unknown'])
    .describe('Whether it went as it should; `unknown` if the journal no longer shows it.'),
  ids: z.array(z.string()).describe('The deliveries, the request that read it, or the mails that answer it.'),
});

/** The schema of a story. */
export const storyReply = lazy(() =>
  z.strictObject({
    messageId: z.string(),
    lines: z.array(z.string()).describe('The story in sentences, at most 20.'),
    steps: z
      .array(z.strictObject(stepFields()))
      .describe('The story of a received mail in short: each step on the way to an answer.'),
    webhooks: z.array(z.strictObject(webhookFields())),
    requests: z
      .array(summaryReply())
      .describe('The requests and commands that came after the mail, at most the first 20.'),
    sent: z.array(z.string()).describe('The ids of the mails that were sent because of it.'),
  }),
);

/** What became of a mail, as far as the journal shows. */
export interface MailStory {
  /** The id of the message. */
  readonly messageId: string;
  /** The story in sentences, at most 20. */
  readonly lines: string[];
  /** The story of a received mail in short: each step on the way to an answer. Empty for a mail that was sent. */
  readonly steps: StoryStep[];
  /** Each webhook of the tenant: whether it was called for this mail, or why it was not. */
  readonly webhooks: WebhookStory[];
  /** The requests and commands that came after the mail, at most the first 20. */
  readonly requests: RequestSummary[];
  /** The ids of the mails that were sent because of it, oldest first, also if they were deleted since. */
  readonly sent: string[];
}

/** One step on the way of a received mail to an answer. */
export interface StoryStep {
  /** Which step it is. */
  readonly step: (typeof STORY_STEPS)[number];
  /** What became of it, such as `1 of 3 webhooks delivered, 2 failing` or `never read`. */
  readonly text: string;
  /** Whether it went as it should; `unknown` if the journal no longer shows it. */
  readonly result: 'good' | 'bad' | 'unknown';
  /** The ids of the deliveries, of the request that read it, or of the mails that answer it. */
  readonly ids: string[];
}

/** What a webhook has to do with a mail. */
export interface WebhookStory {
  /** The id of the webhook. */
  readonly webhookId: string;
  /** Its URL, without login and query. */
  readonly url: string;
  /** The ids of its deliveries of this mail. */
  readonly deliveries: string[];
  /** Why it got no delivery; null if it got one. */
  readonly skipped: string | null;
}

/** How many requests a story lists. */
const MAX_REQUESTS = 5;

/** Returns the evidence of a mailbox or a sandbox. */
export function evidenceOf({ worlds, service: { journals } }: ControlScope): Evidence {
  return {
    journalSize: journals.size,
    journal: ({ kinds }) => readJournal(journals, worlds, { kinds }),
    journalLosses: () => readLosses(journals, worlds),
  };
}

/** Tells what became of a mail that arrived or was sent. @throws {ApiError} NOT_FOUND if the journal does not have it. */
export function tellStory(scope: ControlScope, messageId: string, evidence: Evidence = evidenceOf(scope)): MailStory {
  const { worlds } = scope;
  const id = String(messageId).toLowerCase();
  const isNamed = ({ data }: MailEntry) => data.mail.id === id;
  const entry: MailEntry | undefined =
    readMail(evidence).findLast(isNamed) ?? evidence.journal({ kinds: ['mail-at-start'] }).find(isNamed);
  if (!entry) throw new ApiError('NOT_FOUND', 'The journal has no mail with this id.');
  const { mail, inbox } = entry.data;
  const world = worlds.get(entry.tenantId ?? '');
  const traffic = readTraffic(evidence);
  const deliveries = world ? scope.dispatcher.list([world]).filter(({ payload }) => payload.messageId === id) : [];
  const isReceived = mail.direction === 'inbound';
  const isAtStart = entry.kind === 'mail-at-start';
  const created = evidence.journal({ kinds: ['delivery-created'] }).filter(({ data }) => data.messageId === id);
  const createdFor = new Set(created.map(({ data }) => data.webhookId));
  const losses = evidence.journalLosses();
  // The journal may have dropped the entry of a delivery that the log has dropped too.
  const mayLackDeliveries = (losses['delivery-created']?.until ?? '') >= entry.realTime;
  const webhooks = world
    ? world.webhooks.all().map((row) => {
        const own = deliveries.filter(({ webhookId }) => webhookId === row.id).map(({ id }) => id);
        let skipped: string | null = null;
        if (own.length === 0 && createdFor.has(row.id)) skipped = NO_LONGER_IN_LOG;
        else if (own.length === 0) skipped = whySkipped(row, entry, world, mayLackDeliveries);
        return { webhookId: row.id, url: withoutQuery(row.url), deliveries: own, skipped };
      })
    : [];

  // How it came. After a reset or a restore, the journal does not show what was before.
  const isAfterReset = isAtStart && evidence.journal({ kinds: ['reset'] }).length > 0;
  const start = isAfterReset ? 'when the state was last reset or restored' : 'from the start';
  const lines = [
    isAtStart
      ? `${quote(mail.subject)} from ${mail.from || 'nobody'} was at ${inbox} ${start}.`
      : isReceived
        ? `${timeOf(entry)} ${quote(mail.subject)} from ${mail.from || 'nobody'} arrived at ${inbox}.`
        : `${timeOf(entry)} ${quote(mail.subject)} was sent to ${recipientsOf(entry.data).join(', ')}${describeRoutes(entry)}.`,
  ];

  if (isAfterReset) lines.push('The journal no longer shows what came before.');

  // Whom it was told to.
  const changes = evidence.journal({ kinds: ['change'] });
  const changed = new Set(changes.map(({ data }) => data.id));
  // A webhook that was inactive from the start, such as those of the default fixture, was never to be called.
  const told = webhooks.filter(({ webhookId, skipped }) => {
    return skipped === null || changed.has(webhookId) || world?.webhooks.get(webhookId)?.isActive === true;
  });
  if (isReceived && !isAtStart && told.length + deliveries.length === 0) {
    const isRemoved = ({ data }: JournalEntry<'change'>) => data.object === 'webhook' && data.action === 'removed';
    if (!world) lines.push('Its tenant was removed, so the journal no longer shows which webhooks there were.');
    else if (created.length > 0) lines.push('It was sent to a webhook that no longer exists.');
    else if (changes.some((each) => isRemoved(each) && isAfter(each, entry))) {
      lines.push('No webhook that still exists could be told of it.');
    } else lines.push('No webhook of the tenant could be told of it.');
  }
  for (const { skipped, url } of isReceived && !isAtStart ? told : []) {
    if (skipped === NO_LONGER_IN_LOG) lines.push(`The delivery to the webhook ${url} is no longer in the log.`);
    else if (skipped === UNKNOWN) lines.push(`Whether the webhook ${url} was called is no longer known.`);
    else if (skipped !== null) lines.push(`The webhook ${url} was not called: ${skipped}.`);
  }
  for (const delivery of deliveries) lines.push(...tellDelivery(delivery, evidence.journal({ kinds: ['attempt'] })));
  const frames = evidence.journal({ kinds: ['frame'] }).filter(({ data }) => data.messageId === id);
  for (const { data } of frames) lines.push(`It was sent to ${plural(data.streams, 'event stream')}.`);

  // What came of it.
  const isDropped = (...kinds: JournalEntry['kind'][]) => countDropped(evidence, kinds, entry.realTime) > 0;
  const later = traffic.filter((each) => each.tenantId === entry.tenantId && isAfter(each, entry));
  const lacksRequests = isDropped('request', 'mail-command');
  const seen = isReceived ? describeSeen(evidence, id) : undefined;
  if (!isReceived) {
    const [by] = requestsOf(traffic, entry);
    if (by) lines.push(`It was sent by ${labelOf(by)}.`);
  } else if (seen) lines.push(seen.line);
  if (isReceived && !seen?.isRead) {
    const what = seen?.isFile ? 'its text' : 'it';
    const noneRead = isDropped('read') ? `the journal no longer shows whether one read ${what}` : `none read ${what}`;
    if (later.length > 0) {
      const count = `${lacksRequests ? 'At least ' : ''}${plural(later.length, 'request')}`;
      lines.push(`${count} came after it, and ${noneRead}:`);
      for (const { data } of later.slice(0, MAX_REQUESTS)) lines.push(`  ${labelOf(data)}`);
      if (later.length > MAX_REQUESTS) lines.push(`  and ${later.length - MAX_REQUESTS} more`);
    } else if (lacksRequests) lines.push('The journal no longer shows which requests came after it.');
    else lines.push(`No request of an agent came ${isAfterReset ? 'since then' : 'after it'}.`);
  }
  // A sandbox learns of requests with a key that it had before, or that name it, although they had none of its keys.
  const foreign = evidence
    .journal({ kinds: ['refusal'] })
    .filter((each) => each.tenantId === entry.tenantId && isAfter(each, entry));
  for (const { data } of isReceived ? foreign.slice(0, MAX_REQUESTS) : []) {
    lines.push(`A request without a key of the sandbox was refused: ${describeCall(data)} (${data.reason}).`);
  }
  if (isReceived && foreign.length > MAX_REQUESTS) {
    lines.push(`${foreign.length - MAX_REQUESTS} more were refused in the same way.`);
  }
  const traceId = traceIdOf(entry.data.eventId);
  const claims = later.filter(({ data }) => data.request.headers.traceparent?.includes(traceId));
  for (const { data } of claims.slice(0, MAX_REQUESTS)) {
    lines.push(`${labelOf(data)} claims by its traceparent that a delivery of this mail led to it.`);
  }
  const causes = createCauseFinder(evidence);
  const isCaused = (each: JournalEntry<'mail-sent'>) =>
    causes.judgeCausedBy(causes.describeSent(each), [entry]) === 'yes';
  const sent = isReceived ? sentAfter(evidence, entry).filter(isCaused) : [];
  for (const each of sent) {
    const [by] = requestsOf(traffic, each);
    const to = recipientsOf(each.data).join(', ');
    lines.push(`${timeOf(each)} ${quote(each.data.mail.subject)} was sent to ${to}${by ? ` by ${by.id}` : ''}.`);
  }
  const refused = isReceived ? later.filter(({ data }) => isRefused(data) && answersByPath(data, id)) : [];
  for (const { data } of refused.slice(0, MAX_REQUESTS)) lines.push(`An answer to it was refused: ${labelOf(data)}.`);
  if (isReceived && sent.length === 0) {
    if (isDropped('mail-sent')) lines.push('The journal no longer shows whether anything was sent because of it.');
    else if (later.length > 0 || lacksRequests) lines.push('Nothing was sent because of it.');
  }
  for (const { data } of changes) {
    if (data.object === 'message' && data.id === id && data.action === 'removed')
      lines.push(`It was deleted by ${data.by}.`);
  }
  for (const { data } of evidence.journal({ kinds: ['messages'] })) {
    if (data.messageIds.includes(id)) lines.push('A test removed it.');
  }

  // What is still due, and what cannot be told.
  const next = deliveries.flatMap(({ state, nextAttemptAt }) => (state === 'pending' && nextAttemptAt) || []).sort()[0];
  if (next !== undefined && world) {
    const waitMs = Date.parse(next) - world.clock.now().getTime();
    const clock = world.clock.isFrozen ? ', by a clock that is frozen' : '';
    lines.push(`The next attempt is due at ${next.slice(11, 19)}, in ${formatDuration(Math.max(waitMs, 0))}${clock}.`);
  }
  const { request, attempt } = losses;
  for (const [noun, loss] of [
    ['request', request],
    ['attempt', attempt],
  ] as const) {
    if (loss && loss.until >= entry.realTime) lines.push(`${plural(loss.count, noun)} since then may be missing here.`);
  }

  const steps: StoryStep[] = [];
  if (isReceived) {
    const arrived = isAtStart ? `There ${start}` : `Arrived ${timeOf(entry)}`;
    steps.push({ step: 'arrival', text: arrived, result: 'good', ids: [] });
    if (!isAtStart) steps.push(tellDeliveriesInShort(deliveries, told));
    const lacksReads = isDropped('read');
    if (seen?.isRead) steps.push({ step: 'reading', text: 'read', result: 'good', ids: seen.requestIds });
    else if (lacksReads)
      steps.push({ step: 'reading', text: 'cannot tell whether it was read', result: 'unknown', ids: [] });
    else {
      const { byWebhook = false, byStream = false } = findNotice(evidence, [entry]) ?? {};
      const unread = byWebhook || byStream ? 'only its event seen, never read' : 'never read';
      const text = seen?.isFile ? 'only a file of it read' : seen ? 'listed, never read' : unread;
      steps.push({ step: 'reading', text, result: 'bad', ids: seen?.requestIds ?? [] });
    }
    const answers = sent.map(({ data }) => data.mail.id);
    const [answer] = sent;
    if (answer) steps.push({ step: 'answer', text: `mail sent ${timeOf(answer)}`, result: 'good', ids: answers });
    else if (refused.length > 0) {
      const ids = refused.map(({ data }) => data.id);
      steps.push({ step: 'answer', text: 'answer refused', result: 'bad', ids });
    } else if (isDropped('mail-sent')) {
      steps.push({ step: 'answer', text: 'cannot tell whether it was answered', result: 'unknown', ids: [] });
    } else steps.push({ step: 'answer', text: 'no answer', result: 'bad', ids: [] });
  }
  const requests = later.slice(0, MAX_LINES).map(({ data: { request: _, reply: _reply, ...summary } }) => summary);
  const story = { messageId: id, lines: shortenStory(lines), steps, webhooks, requests };
  return worlds.mailbox.mask.deep({ ...story, sent: sent.map(({ data }) => data.mail.id) });
}

/** Tells in short what became of the deliveries of a mail, and of the webhooks that got none. */
function tellDeliveriesInShort(deliveries: readonly Delivery[], told: readonly WebhookStory[]): StoryStep {
  const ids = deliveries.map(({ id }) => id);
  const isUnknown = ({ skipped }: WebhookStory) => skipped === NO_LONGER_IN_LOG || skipped === UNKNOWN;
  if (told.some(isUnknown)) {
    return { step: 'webhooks', text: 'cannot tell which webhooks were called', result: 'unknown', ids };
  }
  if (deliveries.length === 0) {
    const text = told.length === 0 ? 'no webhook' : `${plural(told.length, 'webhook')} not called`;
    return { step: 'webhooks', text, result: told.length === 0 ? 'good' : 'bad', ids };
  }
  // A delivery that waits for its next attempt after a failure has a reason why the latest one failed.
  const states = deliveries.map(({ state, attempts }) =>
    state === 'pending' && attempts.length > 0 ? 'failing' : state,
  );
  const count = (wanted: string) => states.filter((state) => state === wanted).length;
  const others = [...new Set(states)]
    .filter((state) => state !== 'delivered')
    .map((state) => `${count(state)} ${state}`);
  const delivered = `${count('delivered')} of ${plural(deliveries.length, 'webhook')} delivered`;
  const result = others.length === 0 ? 'good' : 'bad';
  return { step: 'webhooks', text: [delivered, ...others].join(', '), result, ids };
}

/** The operations that answer or forward the mail in their path. */
const ANSWERING: ReadonlySet<OperationId> = new Set(['replyToMessage', 'replyAllToMessage', 'forwardMessage']);

function answersByPath({ operation, path }: RequestEntry, messageId: string): boolean {
  return operation !== null && ANSWERING.has(operation) && path.toLowerCase().includes(messageId);
}

/** What a client has seen of a mail, in a sentence: whether it has read a text of it, or only a file. */
interface Seen {
  readonly line: string;
  /** The request that showed it, if it was one. */
  readonly requestIds: string[];
  readonly isRead?: true;
  readonly isFile?: true;
}

/**
 * Says what the first request that showed most of a mail was: it read the mail only if it showed a whole text of it.
 * Returns nothing if no request named the mail.
 */
function describeSeen(evidence: Evidence, messageId: string): Seen | undefined {
  const entries = evidence.journal({ kinds: ['read'] }).filter(({ data }) => data.messageIds.includes(messageId));
  const find = (...parts: ShownPart[]) => entries.find(({ data }) => parts.some((part) => data.parts.includes(part)));
  const nameOf = ({ data }: JournalEntry<'read'>) => `${data.request}, ${describeCall(data)}`;
  const read = find('raw', 'plainBody', 'htmlBody');
  const idsOf = ({ data }: JournalEntry<'read'>) => [data.request];
  if (read) return { line: `It was read by ${nameOf(read)}.`, requestIds: idsOf(read), isRead: true };
  const file = find('attachment');
  if (file) return { line: `Only a file of it was read, by ${nameOf(file)}.`, requestIds: idsOf(file), isFile: true };
  const listed = find('headers', 'snippet', 'fileNames');
  if (listed) {
    const parts = listed.data.parts.map((part) => PART_NAMES[part]).join(' and ');
    return { line: `It was listed by ${nameOf(listed)}, which showed ${parts}.`, requestIds: idsOf(listed) };
  }
  const [named] = entries;
  return named && { line: `It was named by ${nameOf(named)}, which showed nothing of it.`, requestIds: idsOf(named) };
}

const PART_NAMES: { readonly [Part in ShownPart]?: string } = {
  headers: 'its subject',
  snippet: 'a piece of its text',
  fileNames: 'the names of its files',
};

/** Why a webhook without a delivery may have been called all the same. */
const NO_LONGER_IN_LOG = 'its delivery is no longer in the log';
const UNKNOWN = 'the journal no longer has what happened then';

/** Why a webhook that would get the mail now did not get it. */
const CHANGED = 'it was added or changed later';

/** Says why a webhook got no delivery of a mail, as far as the webhook as it is now shows it. */
function whySkipped(row: WebhookRow, entry: MailEntry, world: World, mayLackDeliveries: boolean): string {
  if (entry.kind === 'mail-at-start') return 'the mail was there from the start';
  if (row.createdAt > entry.at) return 'it was created later';
  if (mayLackDeliveries) return UNKNOWN;
  const { direction, inboxId } = entry.data.mail;
  const event = direction === 'inbound' ? 'message.received' : 'message.sent';
  return reasonToSkip(row, { event, workspaceId: world.inboxes.get(inboxId)?.workspaceId ?? '' }) ?? CHANGED;
}

/** Tells of a delivery and its attempts. */
function tellDelivery(delivery: Delivery, attempts: readonly JournalEntry<'attempt'>[]): string[] {
  const own = attempts.filter(({ data }) => data.deliveryId === delivery.id);
  if (own.length === 0) {
    const { state, reason } = delivery;
    return [`A delivery to webhook ${delivery.webhookId} is ${state}${reason === null ? '' : `: ${reason}`}`];
  }
  return own.flatMap((entry) => {
    const { url, status, error, responseBody, thrown } = entry.data;
    const start = `${timeOf(entry)} The webhook ${url ?? delivery.webhookId}`;
    if (thrown !== null) return tellThrown(start, thrown);
    const said = (responseBody.trim() && status !== null && ` (${quote(truncate(responseBody.trim(), 80))})`) || '';
    const result = status === null ? `failed: ${error}` : `answered ${status}${said}${describeSkew(entry)}.`;
    return `${start} ${result}`;
  });
}

/** How many lines of the stack of a receiver a story shows. */
const MAX_STACK_LINES = 4;

/** Matches a line of a stack with a place in the code, as V8 and as other engines write it. */
const FRAME = /^(?:\s{0,20}at |[^@\s]{0,200}@\S+:\d+$)/;

/** Matches the lines of a stack that are not in the code of a user. */
const FOREIGN_FRAME = /node_modules|node:internal|^\s*at (?:async )?(?:new Promise|Promise\.all) /;

/** Tells of an error that a receiver in the same process threw: its message, and where in the code of the user. */
function tellThrown(start: string, stack: string): string[] {
  const lines = stack.split('\n');
  const firstFrame = lines.findIndex((line) => FRAME.test(line));
  const messageEnd = firstFrame < 0 ? lines.length : firstFrame;
  const message = lines.slice(0, messageEnd).join(' ').trim();
  const frames = lines.slice(messageEnd);
  const own = frames.filter((line) => line.trim() !== '' && !FOREIGN_FRAME.test(line));
  const shown = (own.length > 0 ? own : frames).slice(0, MAX_STACK_LINES);
  return [`${start} threw ${truncate(message, 200)}`, ...shown.map((line) => `  ${line.trim()}`)];
}

/** How much the clock of a receiver may differ, in milliseconds, before the story mentions it. */
const MAX_SKEW_MS = 60_000;

/** Says how the clock of a receiver differs from the timestamp that was sent to it, if it refused the delivery. */
function describeSkew({ data: { status, sentTimestamp, responseHeaders } }: JournalEntry<'attempt'>): string {
  const receiverMs = Date.parse(responseHeaders.date ?? '');
  const skewMs = receiverMs - Number(sentTimestamp) * 1000;
  if (status === null || status < 400 || Number.isNaN(skewMs) || Math.abs(skewMs) < MAX_SKEW_MS) return '';
  const amount = formatDuration(Math.round(Math.abs(skewMs) / 1000) * 1000);
  return `; its clock is ${amount} ${skewMs < 0 ? 'behind' : 'ahead of'} the timestamp that was sent`;
}

function describeRoutes({ data: { routes = [] } }: MailEntry): string {
  const bounced = routes.filter(({ route }) => route === 'bounced').map(({ recipient }) => recipient);
  return bounced.length > 0 ? `, and bounced for ${bounced.join(', ')}` : '';
}

function labelOf(request: RequestSummary): string {
  const { id, reason } = request;
  return `${id}, ${describeCall(request)}${reason === null ? '' : ` (${reason})`}`;
}

const timeOf = ({ at }: JournalEntry) => at.slice(11, 19);

const quote = (text: string) => JSON.stringify(text);

function withoutQuery(url: string): string {
  return url.replace(/[?#].*$/s, '').replace(/\/\/[^/@]*@/, '//');
}

/** Tells what became of the latest mails that arrived, for the message of an error. */
export function tellLatest(scope: ControlScope): string {
  const arrived = scope.service.journals.of(scope.worlds.owners(), { kinds: ['mail-received'] });
  const ids = arrived.map(({ data }) => data.message.id);
  return tellTogether(ids, (id) => tellStory(scope, id).lines)
    .map((line) => `\n${line}`)
    .join('');
}
