import { foldAddress } from '../../basics/domain-name.ts';
import { performance } from '../../basics/real-timers.ts';
import type { ChangeableId } from '../../contract/behaviours.ts';
import type { ApiError } from '../../contract/errors.ts';
import type { Cause } from '../../world/journal/entry.ts';
import { findOwner } from '../../world/store/parts.ts';
import type { World } from '../../world/store/world.ts';
import { describePrincipal, findKeyId, type Principal } from '../access/principal.ts';
import type { ImapPart, KeptBody, KeptRequest, ProtocolPart, ShownMails, SmtpPart } from '../journal/entry-data.ts';
import { deliveryIdsIn, type Entry, isEntryOf, MAIL_ENTRY_KINDS } from '../journal/entry-kinds.ts';
import {
  type ApiRequest,
  type Exchange,
  type FinishedExchange,
  isOver,
  NO_QUERY,
  type ReceivedBody,
} from './exchange.ts';
import { type ApiReply, isCut, JsonBody, MAX_KEPT_BYTES } from './reply.ts';
import type { Service } from './service.ts';
import { findIdsIn, findShownMails } from './shown-mail.ts';

/** The parts of a service that recording a request needs. */
export type RecordingService = Pick<Service, 'worlds' | 'journals' | 'behaviours' | 'behavioursNow'>;

/** What of a finished request, or of a command of SMTP or IMAP, becomes its entry. */
interface Finished
  extends Pick<FinishedExchange, 'row' | 'error' | 'refusal' | 'ignored' | 'behavioursRead' | 'faults' | 'durationMs'> {
  readonly call: ProtocolPart;
  readonly request: Pick<ApiRequest, 'path' | 'query' | 'headers' | 'via'>;
  readonly received: ReceivedBody | undefined;
  readonly reply: Pick<ApiReply, 'headers' | 'body'>;
  /** The key that was sent, valid or not; `undefined` for a command, and without a key. */
  readonly key: string | undefined;
  readonly principal: Principal | undefined;
  /** The tenant whose inbox a login of SMTP or IMAP names. */
  readonly loginWorld?: World | undefined;
  readonly caused: readonly Entry[];
  readonly cause: Cause;
  /** The ids of the messages that a command of IMAP has read or changed. */
  readonly read: readonly string[];
  /** Returns what the reply shows of the mails of a world. */
  findShown(world: World): readonly ShownMails[];
}

/**
 * Sets the reply and the duration of an exchange, and adds it to the journal, unless the epoch of the exchange is over.
 */
export function finishExchange(service: RecordingService, exchange: Exchange, reply: ApiReply): FinishedExchange {
  const finished = Object.assign(exchange, { reply, durationMs: performance.now() - exchange.startedMs });
  if (isOver(service.worlds, exchange)) return finished;
  const { request, received, row, error, refusal, ignored, behavioursRead, faults, durationMs, cause } = finished;
  recordFinished(service, {
    call: { protocol: 'http', method: request.method, status: reply.status },
    request,
    received,
    row,
    error,
    refusal,
    ignored,
    behavioursRead,
    faults,
    durationMs,
    reply,
    key: exchange.sender.key,
    principal: exchange.principal ?? (error && exchange.sender.principal),
    caused: exchange.caused,
    cause,
    read: NO_IDS,
    findShown: (world) => findShownMails(world, finished),
  });
  return finished;
}

/** Adds the entry of a finished request or command, and sets its cause to this entry. */
function recordFinished({ worlds, journals, behavioursNow }: RecordingService, finished: Finished): void {
  const { call, request, received, row, error, ignored, behavioursRead, faults, durationMs, reply } = finished;
  const { key, principal, caused, cause } = finished;
  const { path, query, headers, via } = request;
  // 1. Number it.
  // A tenant may have been removed while its request waited. Then the request belongs to the mailbox.
  const owner = findOwner(worlds, principal?.world?.id);
  const [number, numberInSandbox] = journals.countRequest(owner);
  const kept = keepReply(reply);
  const realTimeMs = journals.processNowMs();
  // Each field is copied by name, because spreads would take longer than the rest of this function.
  const data: KeptRequest = {
    number,
    numberInSandbox,
    realTimeMs,
    behaviours: behavioursNow,
    call,
    via,
    path,
    query,
    headers,
    row,
    key,
    error,
    ignored,
    behavioursRead,
    faults,
    durationMs,
    atMs: owner.clock.now().getTime(),
    keyId: principal ? findKeyId(worlds, key) : null,
    principal: principal ? describePrincipal(principal) : null,
    reason: reasonOf(finished),
    requestBody: keepBody(received),
    reply: kept.reply,
    replyBytes: kept.replyBytes,
    messages: caused.length === 0 ? NO_IDS : messagesOf(caused),
    deliveries: caused.length === 0 ? NO_IDS : deliveryIdsIn(caused),
    read: finished.read,
  };
  // 2. Publish its entry. What the request has caused was published before, with the same cause, which from now on names
  // the request.
  const kind = call.protocol === 'http' ? 'request' : 'mail-command';
  const entry = journals.publish(owner, kind, data, { realTimeMs });
  cause.entry = { tenantId: entry.tenantId, number: entry.ownerNumber };
  // 3. Keep a refused change for as long as mail.
  if (isRefusedChange(finished, data)) journals.publish(owner, 'refused-request', data, { cause, realTimeMs });
  // 4. Tell the sandboxes that a refusal concerns.
  const refusal = error?.message ?? finished.refusal;
  if (refusal !== undefined) tellSandboxes({ worlds, journals }, finished, refusal);
  // 5. Note which mails were shown.
  const world = principal?.world;
  if (!world) return;
  for (const mails of finished.findShown(world)) {
    const messageIds = journals.noteShown(world, mails);
    if (messageIds.length === 0) continue;
    const { parts, attachmentIds = NO_IDS } = mails;
    const read = { number, numberInSandbox, call, path, parts, messageIds, attachmentIds };
    journals.publish(owner, 'read', read, { cause });
  }
}

/**
 * Returns whether an exchange was to change something and was refused, by the service or by a fault. After a fault that
 * only loses the reply, something was changed. A login changes nothing, and neither does mail from outside.
 */
function isRefusedChange({ call, error, refusal, caused, principal }: Finished, { reason }: KeptRequest): boolean {
  if (call.protocol === 'http') {
    const isChange = call.method !== 'GET' && call.method !== 'HEAD';
    return isChange && reason !== null && (error !== undefined || caused.length === 0);
  }
  return refusal !== undefined && principal !== undefined && !/^(?:AUTH|LOGIN)/.test(call.command);
}

/** The kinds of rows that a path can name. */
const NAMED_KINDS = ['inboxes', 'webhooks', 'workspaces', 'messages', 'drafts', 'lists', 'apiKeys'] as const;

/** How many ids, and how many addresses, of a refused request are looked up. */
const MAX_NAMED = 8;

/** Matches the domain of an address in a text. */
const ADDRESS = /@[a-z0-9.-]{1,253}/gi;

/**
 * Tells those of a refused request that it concerns although it did not have one of their keys: the sandbox whose object
 * or address it names, whose address a login names, or whose key it once was, and the sandboxes that are told of all
 * refusals. Otherwise, a test in a sandbox would not learn that its agent used a wrong key. If nothing shows whose a
 * request without a valid key was, it may be any sandbox's, and the mailbox keeps it.
 */
function tellSandboxes(
  { worlds, journals }: Pick<RecordingService, 'worlds' | 'journals'>,
  { call, request, key, row, received, principal, loginWorld }: Finished,
  reason: string,
): void {
  const { path, query } = request;
  const formerOwner = key === undefined ? undefined : worlds.ownerOfEndedKey(key);
  const body = received instanceof Uint8Array ? decodeStart(received) : '';
  const text = principal ? path : [path, query, body].join('\n');
  const ids = findIdsIn(text).slice(0, MAX_NAMED);
  const addresses = (text.match(ADDRESS) ?? []).slice(0, MAX_NAMED);
  const sandboxes = addresses.map((address) => worlds.sandboxOfAddress(address));
  const isNamed = (world: World) =>
    world === loginWorld ||
    world.id === formerOwner ||
    sandboxes.includes(world) ||
    ids.some((id) => world.id === id || NAMED_KINDS.some((kind) => world[kind].get(id)));
  const refusal = { ...call, operation: row?.id ?? null, path, reason };
  const told = worlds.sandboxesToldOf(isNamed).filter((world) => world !== principal?.world);
  for (const world of told) journals.publish(world, 'refusal', refusal);
  const isOwned = principal !== undefined || formerOwner !== undefined || worlds.all().some(isNamed);
  if (!isOwned) journals.publish(worlds, 'refusal', refusal);
}

/** How much of a body is searched for the names of sandboxes, in bytes. */
const SEARCHED_BYTES = 16 * 1024;

function decodeStart(body: Uint8Array): string {
  return new TextDecoder().decode(body.subarray(0, SEARCHED_BYTES));
}

const NO_IDS: readonly string[] = Object.freeze([]);

function messagesOf(entries: readonly Entry[]): string[] {
  const ids = entries.flatMap((entry) => (isEntryOf(entry, ...MAIL_ENTRY_KINDS) ? entry.data.message.id : []));
  return [...new Set(ids)];
}

/** The maximum number of bytes in UTF-8 for one UTF-16 code unit. */
const MAX_BYTES_PER_CHARACTER = 3;

/**
 * Returns why a request was refused; null if it was not. If a fault decided the reply, the fault is the reason.
 * Otherwise, the service gives the reason.
 */
function reasonOf({ call, faults, error, refusal }: Finished): string | null {
  const fault = faults.find(({ kind, status = 0 }) => kind === 'cut' || (kind === 'reply' && status >= 400));
  if (fault && call.protocol === 'http') {
    return `The fault ${fault.id} ${isCut(call) ? 'cut the connection' : `replied with ${call.status}`}.`;
  }
  return error ? reasonOfError(error) : (refusal ?? null);
}

function reasonOfError(error: ApiError): string {
  return error.internalReason?.() ?? error.message;
}

/**
 * Returns the start of a body. If the body is part of a larger buffer, the start is copied, because the whole buffer
 * would otherwise stay in memory.
 */
function keepBody(body: ReceivedBody = 'empty'): KeptBody {
  if (typeof body === 'string') return { start: undefined, bytes: body === 'empty' ? 0 : null };
  return { start: isSmall(body) ? body : new Uint8Array(body.subarray(0, MAX_KEPT_BYTES)), bytes: body.byteLength };
}

function isSmall(body: string | Uint8Array | null): boolean {
  if (typeof body === 'string') return body.length <= MAX_KEPT_BYTES / MAX_BYTES_PER_CHARACTER;
  return body === null || body.buffer.byteLength <= MAX_KEPT_BYTES;
}

/** Returns a reply; of a large body, only the start, and the size of the whole body. */
function keepReply({ headers, body }: Finished['reply']): Pick<KeptRequest, 'reply' | 'replyBytes'> {
  if (body instanceof JsonBody) return { reply: { headers, body: body.start }, replyBytes: body.byteLength };
  if (isSmall(body)) return { reply: { headers, body }, replyBytes: undefined };
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const start = bytes && new Uint8Array(bytes.subarray(0, MAX_KEPT_BYTES));
  return { reply: { headers, body: start }, replyBytes: bytes?.byteLength };
}

/** A command of SMTP or IMAP that the journal shows. */
export interface MailCommand {
  /** The command, and how it ended. */
  readonly call: ImapPart | SmtpPart;
  /** Who is logged in; `undefined` for nobody. */
  readonly principal: Principal | undefined;
  /** The folder, or the recipients. */
  readonly path: string;
  /** The user of a login. The journal shows it only if an inbox has this address, because it may be a password. */
  readonly user?: string | undefined;
  /** The command without passwords and, unless it submits a mail and was refused, without the bytes of a mail. */
  readonly text: string;
  /** What the client was told, without the result. */
  readonly reply: string;
  /** The ids of the messages that the command read or changed. */
  readonly messageIds: readonly string[];
  /** What the command has shown of these messages. Default: nothing. */
  readonly shown?: readonly ShownMails[] | undefined;
  /** When the command began, in milliseconds of `performance.now()`. */
  readonly startedMs: number;
  /** The epoch in which the command began. Default: the present epoch. */
  readonly epoch?: number | undefined;
  /** The entries that the command has caused, and their cause. Default: none. */
  readonly caused?: readonly Entry[] | undefined;
  readonly cause?: Cause | undefined;
}

/** Adds a command to the journal, unless the epoch in which it began is over. */
export function recordCommand(service: RecordingService, command: MailCommand): void {
  const { worlds } = service;
  const { call, principal, text, reply, messageIds, shown = [], startedMs, epoch = worlds.epoch } = command;
  if (worlds.isOver(epoch, principal?.world)) return;
  const user = command.user === undefined ? undefined : foldAddress(command.user);
  const named = user === undefined ? undefined : worlds.findAddress(user);
  const read = call.protocol === 'imap' ? messageIds : NO_IDS;
  recordFinished(service, {
    call,
    request: { path: named && user ? user : command.path, query: NO_QUERY, headers: NO_HEADERS },
    received: new TextEncoder().encode(text),
    row: undefined,
    error: undefined,
    refusal: hasFailed(call) ? reply : undefined,
    ignored: [],
    behavioursRead: NO_BEHAVIOURS,
    faults: [],
    durationMs: performance.now() - startedMs,
    reply: { headers: {}, body: [`${call.result} ${reply}`, ...messageIds].join('\n') },
    key: undefined,
    principal,
    loginWorld: named?.world ?? (user === undefined ? undefined : worlds.sandboxOfAddress(user)),
    caused: command.caused ?? [],
    cause: command.cause ?? {},
    read,
    // Messages that the command only named come last, as mails of which nothing is shown.
    findShown: () => (read.length === 0 ? shown : [...shown, { parts: [], messageIds: read }]),
  });
}

/** Returns whether a command was refused, or failed. */
function hasFailed(call: ImapPart | SmtpPart): boolean {
  return call.protocol === 'imap' ? call.result !== 'OK' : call.result >= 400;
}

const NO_HEADERS = new Headers();
const NO_BEHAVIOURS = new Set<ChangeableId>();
