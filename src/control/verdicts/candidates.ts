import { fromBase64, toBase64 } from '../../basics/base64.ts';
import { truncate } from '../../basics/text.ts';
import type { BehaviourValues } from '../../contract/behaviours.ts';
import type { Delivery, DeliveryFilter, DeliveryLosses } from '../../service/delivery/delivery.ts';
import type { ProtocolPart } from '../../service/journal/entry-data.ts';
import type { Correspondent } from '../../service/mail/correspondents/correspondent.ts';
import { parseEml } from '../../service/mail/incoming/parse-eml.ts';
import { describeCall, isRefused, resultOf } from '../journal/from-entries/call-of.ts';
import type { JournalEntry } from '../journal/journal-entry.ts';
import type { RequestEntry, RequestFilter } from '../journal/request-entry.ts';
import { listRecipients, type PlusTags, type Recipients } from './addresses.ts';
import { createAttemptReader } from './attempts.ts';
import type { Candidate, CandidateField, Expected, SentMail } from './candidate.ts';
import { type CommandRequest, formsOfBody, readCommandRequests } from './command-operations.ts';
import { type Amount, type Comparison, hasAmount, type Miss } from './compare.ts';
import { countDropped, type Evidence, readTraffic, requestsOf, type TrafficEntry } from './evidence.ts';
import { type MailText, textsOfMail, type WrittenFile, type WrittenMail } from './mail-text.ts';
import { isBodyCut, type Lack, lackOfHeader, lackOfMasked, lacksParts, NOT_KEPT } from './not-kept.ts';
import type { MailStory } from './story.ts';

/** The part of a mailbox or a sandbox that the matchers read. */
export interface ObservedMailbox extends Evidence {
  readonly behaviours: Pick<BehaviourValues, 'sending.plus-tags'>;
  requests(filter?: RequestFilter): RequestEntry[];
  deliveries(filter?: DeliveryFilter): Delivery[];
  losses(): DeliveryLosses;
  correspondents(): Pick<Correspondent, 'address' | 'due'>[];
  explain(mail: string): MailStory;
  mask(text: string): string;
  settled(): Promise<{ readonly held?: readonly { readonly reason: string }[] }>;
}

/** Checks that `expect()` was called with a mailbox or a sandbox, and returns it. */
export function parseMailbox(received: unknown): ObservedMailbox {
  const methods = [
    'journal',
    'journalLosses',
    'requests',
    'deliveries',
    'losses',
    'correspondents',
    'explain',
    'mask',
    'settled',
  ] as const;
  if (methods.every((name) => typeof Object(received)[name] === 'function')) return received as ObservedMailbox;
  throw new TypeError('The value in expect() must be a mailbox or a sandbox, such as server.mailbox.');
}

/**
 * Returns the requests of the journal. Unless `filter` chooses a protocol, commands of SMTP and IMAP are among them.
 *
 * @throws {Error} if the journal keeps no requests.
 */
export function readRequests(
  mailbox: Pick<ObservedMailbox, 'journalSize' | 'requests'>,
  filter: RequestFilter = {},
): RequestEntry[] {
  if (mailbox.journalSize > 0) return mailbox.requests(filter);
  throw new Error('The journal records no requests, because journalSize is 0.');
}

/** The refused requests that a sandbox learns of although they did not have one of its keys. */
export interface Refusals<Shown> {
  /** Those that name the sandbox or something of it, or came with a key that it had before. No exception allows them. */
  readonly foreign: readonly Shown[];
  /** Those of which nothing shows whose they were. */
  readonly unowned: readonly Shown[];
}

/** Returns these refusals, oldest first. The whole mailbox has none, because its requests are those of everybody. */
export function readRefusalEntries(mailbox: Pick<ObservedMailbox, 'journal'>): Refusals<JournalEntry<'refusal'>> {
  if ('createSandbox' in mailbox) return { foreign: [], unowned: [] };
  const refusals = mailbox.journal({ kinds: ['refusal'] });
  return {
    foreign: refusals.filter(({ tenantId }) => tenantId !== null),
    unowned: refusals.filter(({ tenantId }) => tenantId === null),
  };
}

/** Returns these refusals as candidates. */
export function readRefusals(mailbox: Pick<ObservedMailbox, 'journal'>): Refusals<Candidate> {
  const { foreign, unowned } = readRefusalEntries(mailbox);
  const describe = ({ data }: JournalEntry<'refusal'>, key: string): Candidate => ({
    label: `without ${key}: ${describeCall(data)}: ${data.reason}`,
    refusedWith: resultOf(data),
    fields: {
      ...shownFields({ operation: data.operation, path: data.path, ...fieldsOfCall(data) }),
      ...shownFields({ code: NOT_KEPT, query: NOT_KEPT, headers: NOT_KEPT, body: NOT_KEPT, key: NOT_KEPT }),
    },
  });
  return {
    foreign: foreign.map((each) => describe(each, 'a key of this sandbox')),
    unowned: unowned.map((each) => describe(each, 'a valid key')),
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

/**
 * Lists the HTTP requests as candidates, whatever their reply was. If an operation is expected, the commands of SMTP and
 * IMAP that do the same are among them; if the name or the result of a command is expected, all commands are. In a
 * sandbox, so are refused requests that name it without one of its keys.
 */
export function listRequestCandidates(mailbox: ObservedMailbox, expected: Expected): Candidate[] {
  const requests = describeRequests(mailbox, expected, readRequests(mailbox, { protocol: 'http' }));
  return [...requests, ...listCommands(mailbox, expected), ...readRefusals(mailbox).foreign];
}

function listCommands(mailbox: ObservedMailbox, expected: Expected): Candidate[] {
  if (expected.operation !== undefined) return readCommandRequests(mailbox).map(describeCommand);
  if (expected.command === undefined && expected.result === undefined) return [];
  const commands = readRequests(mailbox).filter(({ protocol }) => protocol !== 'http');
  return describeRequests(mailbox, expected, commands);
}

function describeCommand({ entry, operation, body }: CommandRequest): Candidate {
  const { label, refusedWith, fields } = describeRequest(entry);
  const bodyField = { ...fields.body, shown: body };
  return {
    label,
    refusedWith,
    fields: { ...fields, operation: { shown: operation }, body: bodyField },
    alike: formsOfBody(body).map((shown) => ({
      ...fields,
      operation: { shown: operation },
      body: { ...bodyField, shown },
    })),
  };
}

/** Describes requests as candidates. @throws {ApiError} VALIDATION_ERROR for an unknown operation. */
export function describeRequests(
  mailbox: ObservedMailbox,
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
function listDeliveries(mailbox: ObservedMailbox, expected: Expected): Candidate[] {
  // This call throws if the kind of event or the state is unknown.
  mailbox.deliveries(pickTexts(expected, 'event', 'state'));
  return mailbox.deliveries().map(describeDelivery);
}

/** Lists the sent mail as candidates, also if it was deleted since. */
export function listSentMail(mailbox: ObservedMailbox): Candidate[] {
  const traffic = readTraffic(mailbox);
  const plusTags = mailbox.behaviours['sending.plus-tags'];
  return mailbox.journal({ kinds: ['mail-sent'] }).map((entry) => describeMail(entry, traffic, plusTags));
}

/** Lists the mails that were to be sent and were refused, as candidates. What a refused mail is not known to have is not kept. */
export function listRefusedMail(mailbox: ObservedMailbox): Candidate[] {
  const plusTags = mailbox.behaviours['sending.plus-tags'];
  const readAttempt = createAttemptReader(mailbox);
  return mailbox.journal({ kinds: ['refused-request'] }).flatMap((entry): Candidate[] => {
    const attempt = readAttempt(entry);
    if (attempt?.what !== 'send') return [];
    const { subject, plainBody, htmlBody, cc, bcc } = attempt.fields;
    const all = attempt.mail.recipients;
    const { label, refusedWith } = describeRequest(entry.data);
    return [
      {
        label,
        refusedWith,
        fields: {
          ...shownFields({ subject, plainBody, htmlBody }, lackOfMasked),
          ...shownFields({ inReplyTo: NOT_KEPT, headers: NOT_KEPT, attachments: NOT_KEPT, from: NOT_KEPT }),
          ...addressFields({ all, to: all, cc, bcc }, plusTags),
          text: textField({ ...attempt.fields, attachments: [] }, false),
        },
      },
    ];
  });
}

/**
 * Lists the drafts that clients wrote, as candidates, each with what it was before it was changed. With `exists`, only
 * those that still exist, as they are.
 */
export function listDrafts(mailbox: ObservedMailbox, { exists }: Expected): Candidate[] {
  const plusTags = mailbox.behaviours['sending.plus-tags'];
  return listChanged(mailbox, 'draft', exists === true).map((versions) => {
    const [draft, ...former] = versions.map(({ data }) => describeDraft(data.row as ShownDraft, plusTags));
    return { label: '', fields: {}, ...draft, former };
  });
}

function describeDraft(draft: ShownDraft, plusTags: PlusTags): Pick<Candidate, 'label' | 'fields'> {
  const all = [...draft.to, ...draft.cc, ...draft.bcc];
  return {
    label: `the draft ${JSON.stringify(draft.subject ?? '')} to ${all.join(', ') || 'nobody'}`,
    fields: fieldsOfDraft(draft, plusTags),
  };
}

/** A draft, as the journal shows its row. The bytes that an IMAP client stored are base64. */
type ShownDraft = WrittenMail &
  Readonly<Record<'to' | 'cc' | 'bcc', readonly string[]>> & { readonly raw: string | null };

/** Returns the files of a draft that an IMAP client stored: only its bytes have them. */
function filesOfDraft({ raw }: ShownDraft): WrittenFile[] {
  if (raw === null) return [];
  const { attachments } = parseEml(fromBase64(raw), '').mail;
  return attachments.map(({ content, ...file }) => ({ ...file, content: toBase64(content) }));
}

function fieldsOfDraft(draft: ShownDraft, plusTags: PlusTags): Candidate['fields'] {
  const { to, cc, bcc } = draft;
  return {
    ...shownFields({ ...draft }, lackOfMasked),
    ...addressFields({ all: [...to, ...cc, ...bcc], to, cc, bcc }, plusTags),
    text: textField(draft, true, () => filesOfDraft(draft)),
  };
}

/**
 * Lists the objects of one kind that clients created, as candidates, each with what it was before it was changed. With
 * `exists`, only those that still exist, as they are.
 */
export function listCreated(mailbox: ObservedMailbox, { object, exists }: Expected): Candidate[] {
  return listChanged(mailbox, String(object), exists === true, true).map((versions) => {
    const [fields = {}, ...former] = versions.map(({ data }) => ({
      object: { shown: data.object },
      ...shownFields({ ...data.row }, lackOfMasked),
    }));
    const { data } = versions[0];
    const label = `the ${data.object} ${data.id}, created by ${data.by}`;
    return { label, fields, former: former.map((each) => ({ label, fields: each })) };
  });
}

/** The entries of an object that have its row, the latest first. */
type Versions = readonly [JournalEntry<'change'>, ...JournalEntry<'change'>[]];

/** Returns the versions of each object of a kind, or of those that were created; only the present one if it must exist. */
function listChanged(mailbox: ObservedMailbox, object: string, mustExist: boolean, mustBeCreated = false): Versions[] {
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
    const [latest, ...former] = entries.filter(({ data }) => data.action !== 'removed').reverse();
    if (!latest) return [];
    return [mustExist ? [latest] : [latest, ...former]];
  });
}

/**
 * What each matcher counts, the function that lists the candidates, and the kinds of journal entries that these were made
 * from: without kinds, the log of the deliveries.
 */
export const SEARCHES = {
  toHaveReceivedRequest: { noun: 'request', list: listRequestCandidates, kinds: ['request'] },
  toHaveDelivered: { noun: 'delivery', list: listDeliveries, kinds: undefined },
  toHaveSentMail: { noun: 'sent mail', list: listSentMail, kinds: ['mail-sent'] },
  toHaveSentOnce: { noun: 'sent mail', list: listSentMail, kinds: ['mail-sent'] },
  toHaveDraft: { noun: 'draft', list: listDrafts, kinds: ['change'] },
  toHaveCreated: { noun: 'created object', list: listCreated, kinds: ['change'] },
} as const;

/**
 * Decides whether as many candidates match as must.
 *
 * @throws {Error} if that depends on what was not kept, with what this is and what can be done.
 */
export function decide(
  mailbox: ObservedMailbox,
  kinds: readonly JournalEntry['kind'][] | undefined,
  comparison: Comparison,
  amount: Amount,
): boolean {
  const { dropped, forgotten } = kinds ? { dropped: 0, forgotten: countDropped(mailbox, kinds) } : mailbox.losses();
  const decision = hasAmount(comparison, amount, dropped + forgotten);
  if (decision !== undefined) return decision;
  const [first] = comparison.unknown;
  if (first && hasAmount(comparison, amount) === undefined) throw new Error(describeLack(first));
  if (kinds) checkComplete(mailbox, kinds, 'nothing shows whether one of them is as expected');
  throw new Error(
    `The log no longer has ${dropped + forgotten} deliveries, so nothing shows whether one of them is as expected; ` +
      'reset the mailbox before the test.',
  );
}

/** Says why nothing shows whether a candidate is as expected. */
export function describeLack({ candidate, differences }: Miss): string {
  const places = [...new Set(differences.map(({ path }) => path))].join(' and ');
  return (
    `Too little was kept to tell: of ${candidate.label}, ${places} may be as expected in what the journal does not have. ` +
    'It has the first 16 KiB of the body of a request and the first 4,096 characters of a header, masks secrets, and ' +
    'drops the files of the oldest mail when it is larger than 64 MiB.'
  );
}

/** Returns the expected fields with these names, if their value is a string. */
function pickTexts(expected: Expected, ...names: readonly string[]): object {
  const fields = Object.entries(expected);
  return Object.fromEntries(fields.filter(([name, value]) => names.includes(name) && typeof value === 'string'));
}

/** Returns the fields of the protocol by which a request or a command can be expected. */
function fieldsOfCall(call: ProtocolPart): object {
  if (call.protocol === 'http') return { method: call.method, status: call.status };
  return { command: call.command, result: call.result };
}

/** Describes a request of the journal; `comparedKey` is its key as the test writes it, in full or masked. */
export function describeRequest(entry: RequestEntry, comparedKey: unknown = entry.key): Candidate {
  const { id, path, code, reason, key } = entry;
  const { operation, request, ignored } = entry;
  const notes = [...(reason ? [`: ${reason}`] : []), ...ignored.map((each) => ` (ignored: ${each})`)].join('');
  const isCut = isBodyCut(entry);
  const body = isCut && request.body === null ? NOT_KEPT : parseKeptBody(request.body);
  const bodyField = {
    shown: body,
    lackOf: (text: string): Lack[] => (isCut ? ['rest', ...lackOfMasked(text)] : lackOfMasked(text)),
  };
  const fields = {
    ...shownFields({ operation, code, ...fieldsOfCall(entry) }),
    ...shownFields({ path, query: Object.fromEntries(request.query) }, lackOfMasked),
    headers: { shown: request.headers, lackOf: lackOfHeader },
    body: bodyField,
    key: { shown: key, options: [comparedKey] },
  };
  return {
    label: `${id}, ${describeCall(entry)}${code === null ? '' : ` ${code}`}${notes}`,
    refusedWith: isRefused(entry) ? resultOf(entry) : undefined,
    fields,
    alike: formsOfBody(body).map((shown) => ({ ...fields, body: { ...bodyField, shown } })),
  };
}

/** Describes a webhook delivery. */
function describeDelivery(delivery: Delivery): Candidate {
  const { event, webhookId, state, reason, payload, attempts } = delivery;
  const url = attempts.at(-1)?.url;
  return {
    label: `${event} to ${url ?? `webhook ${webhookId}`} (${state}${reason === null ? '' : `: ${reason}`})`,
    hint: state === 'pending' ? explainPending(delivery) : undefined,
    fields: {
      ...shownFields({ event, state, payload }, lackOfMasked),
      to: { shown: url ?? webhookId, options: [url, webhookId] },
    },
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
 * Describes a mail that was sent. The hint shows the request that sent the mail, if the service has ignored fields of this
 * request.
 */
function describeMail(entry: SentMail, traffic: readonly TrafficEntry[], plusTags: PlusTags): Candidate {
  const { data } = entry;
  const { from, subject, plainBody, htmlBody, inReplyTo, headers, attachments } = data.mail;
  const request = requestsOf(traffic, entry).find(({ ignored }) => ignored.length > 0);
  const isPartial = lacksParts(data);
  return {
    mail: entry,
    hint: request && `The request is ${describeRequest(request).label}`,
    label: labelOfMail(entry),
    fields: {
      ...shownFields({
        subject,
        plainBody,
        htmlBody,
        inReplyTo,
        headers: isPartial && data.source !== 'request' ? NOT_KEPT : headers,
        attachments: data.lacksBytes ? attachments.map((file) => ({ ...file, content: NOT_KEPT })) : attachments,
      }),
      ...addressFields(listRecipients(data), plusTags),
      from: { shown: from, addresses: { list: [from], mustBe: 'some', plusTags } },
      text: textField(data.mail, !isPartial),
    },
  };
}

/** Returns the fields of addresses. `to` has all recipients, of which the expected ones are some. */
function addressFields({ all, cc, bcc }: Recipients, plusTags: PlusTags): Record<string, CandidateField> {
  const fieldFor = (list: readonly string[], mustBe: 'some' | 'all'): CandidateField => ({
    shown: mustBe === 'some' && list.length === 1 ? list[0] : list,
    addresses: { list, mustBe, plusTags },
  });
  return {
    to: fieldFor(all, 'some'),
    cc: fieldFor(cc, 'some'),
    bcc: fieldFor(bcc, 'some'),
    recipients: fieldFor(all, 'all'),
  };
}

/** How much of a mail a failure shows of its texts, in characters. */
const MAX_SHOWN_TEXT = 500;

/** Returns the field of everything that a mail or a draft says. */
function textField(mail: WrittenMail, isWhole: boolean, readFiles = () => mail.attachments ?? []): CandidateField {
  const { subject, plainBody, htmlBody } = mail;
  const shown = [subject, plainBody || htmlBody].filter(Boolean).join('\n');
  let list: readonly MailText[] | undefined;
  return {
    shown: truncate(shown, MAX_SHOWN_TEXT),
    texts() {
      list ??= textsOfMail({ ...mail, attachments: readFiles() });
      return { list, isWhole };
    },
  };
}

export function labelOfMail({ data }: SentMail): string {
  const { all, bcc } = listRecipients(data);
  const hidden = bcc.length > 0 ? ` (${bcc.join(', ')} in Bcc)` : '';
  return `${JSON.stringify(data.mail.subject)} to ${all.join(', ')}${hidden}`;
}

function shownFields(
  values: Readonly<Record<string, unknown>>,
  lackOf?: CandidateField['lackOf'],
): Record<string, CandidateField> {
  return Object.fromEntries(Object.entries(values).map(([name, shown]) => [name, { shown, lackOf }]));
}

/** Parses the body of a request. A body that is not JSON, or that was cut, stays a text. */
function parseKeptBody(body: string | null): unknown {
  try {
    return body === null ? null : JSON.parse(body);
  } catch {
    return body;
  }
}
