import { foldAddress } from '../../basics/domain-name.ts';
import { performance } from '../../basics/real-timers.ts';
import type { ApiError } from '../../contract/errors.ts';
import { isStreamPath } from '../../contract/stream-protocol.ts';
import { type Origin, originOf } from '../../world/journal/entry.ts';
import { findOwner } from '../../world/store/parts.ts';
import type { World } from '../../world/store/world.ts';
import { describePrincipal, findKeyId, type Principal, principalOf, sentKey } from '../access/principal.ts';
import type { KeptBody, KeptRequest, ShownMails } from '../journal/entry-data.ts';
import { deliveryIdsIn, type Entry, isEntryOf, MAIL_ENTRY_KINDS } from '../journal/entry-kinds.ts';
import { type ApiRequest, Exchange, type FinishedExchange, isOver, NO_QUERY, type ReceivedBody } from './exchange.ts';
import { type ApiReply, isCut, JsonBody, MAX_KEPT_BYTES } from './reply.ts';
import type { Service } from './service.ts';
import { findIdsIn, findShownMails } from './shown-mail.ts';

/** The parts of a service that recording a request needs. */
export type RecordingService = Pick<Service, 'worlds' | 'journals' | 'behaviours' | 'behavioursNow'>;

/**
 * Sets the reply and the duration of an exchange, and adds it to the journal, unless the epoch of the exchange is over.
 */
export function finishExchange(service: RecordingService, exchange: Exchange, reply: ApiReply): FinishedExchange {
  const finished = Object.assign(exchange, { reply, durationMs: performance.now() - exchange.startedMs });
  if (!isOver(service.worlds, exchange)) recordExchange(service, finished);
  return finished;
}

function recordExchange({ worlds, journals, behavioursNow }: RecordingService, exchange: FinishedExchange): void {
  const { protocol, request, received, row, error, ignored, usedBehaviours, faults, durationMs, reply } = exchange;
  const { method, path, query, headers, via } = request;
  const key = findKey(request);
  const principal = exchange.principal ?? (error && principalOf(worlds, key ?? ''));
  // A tenant may have been removed while its request waited. Then the request belongs to the mailbox.
  const owner = findOwner(worlds, principal?.world?.id);
  const [number, numberInSandbox] = journals.countRequest(owner);
  const kept = keepReply(reply);
  const realTimeMs = journals.realNowMs();
  const { caused } = exchange;
  // Each field is copied by name, because spreads would take longer than the rest of this function.
  const data: KeptRequest = {
    number,
    numberInSandbox,
    realTimeMs,
    behaviours: behavioursNow,
    protocol,
    via,
    method,
    path,
    query,
    headers,
    row,
    key,
    error,
    ignored,
    usedBehaviours,
    faults,
    durationMs,
    atMs: owner.clock.now().getTime(),
    keyId: principal ? findKeyId(worlds, key) : null,
    principal: principal ? describePrincipal(principal) : null,
    reason: reasonOf(exchange),
    requestBody: keepBody(received),
    reply: kept.reply,
    replyBytes: kept.replyBytes,
    messages: caused.length === 0 ? NO_IDS : messagesOf(caused),
    deliveries: caused.length === 0 ? NO_IDS : deliveryIdsIn(caused),
    read: exchange.read,
  };
  const kind = protocol === 'http' ? 'request' : 'mail-command';
  exchange.origin.entry = originOf(journals.publish(owner, kind, data, { realTimeMs })).entry;
  if (isRefusedChange(exchange, data)) {
    journals.publish(owner, 'refused-request', data, { origin: exchange.origin, realTimeMs });
  }
  const refusal = error?.message ?? exchange.refusal;
  if (refusal !== undefined) tellSandboxes({ worlds, journals }, exchange, principal, refusal);
  const world = principal?.world;
  if (!world) return;
  for (const mails of findShownMails(world, exchange)) {
    const messageIds = journals.noteShown(world, mails);
    if (messageIds.length === 0) continue;
    const { parts, attachmentIds = NO_IDS } = mails;
    const read = { number, numberInSandbox, method, path, status: reply.status, parts, messageIds, attachmentIds };
    journals.publish(owner, 'read', read, { origin: exchange.origin });
  }
}

/**
 * Returns whether an exchange was to change something and was refused, by the service or by a fault. After a fault that
 * only loses the reply, something was changed. A login changes nothing, and neither does mail from outside.
 */
function isRefusedChange(
  { protocol, request, error, refusal, caused, principal }: FinishedExchange,
  { reason }: KeptRequest,
) {
  if (protocol === 'http') {
    const isChange = request.method !== 'GET' && request.method !== 'HEAD';
    return isChange && reason !== null && (error !== undefined || caused.length === 0);
  }
  return refusal !== undefined && principal !== undefined && !/^(?:AUTH|LOGIN)/.test(request.method);
}

/** Returns the key of a request, whether it is valid or not. Only a request for an event stream may have it in its query. */
function findKey({ headers, path, query }: ApiRequest): string | undefined {
  const keyInQuery = isStreamPath(path) ? query.get('api_key') : null;
  return sentKey(headers) ?? (keyInQuery || undefined);
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
  { request, protocol, row, received, reply, loginWorld }: FinishedExchange,
  principal: Principal | undefined,
  reason: string,
): void {
  const { method, path, query } = request;
  const key = findKey(request);
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
  const refusal = { protocol, operation: row?.id ?? null, method, path, status: reply.status, reason };
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
function reasonOf({ faults, reply, error, refusal }: FinishedExchange): string | null {
  const fault = faults.find(({ kind, status = 0 }) => kind === 'cut' || (kind === 'reply' && status >= 400));
  if (fault) return `The fault ${fault.id} ${isCut(reply) ? 'cut the connection' : `replied with ${reply.status}`}.`;
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
function keepReply(reply: ApiReply): Pick<KeptRequest, 'reply' | 'replyBytes'> {
  const { status, headers, body } = reply;
  if (body instanceof JsonBody) return { reply: { status, headers, body: body.start }, replyBytes: body.byteLength };
  if (isSmall(body)) return { reply: { status, headers, body }, replyBytes: undefined };
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const start = bytes && new Uint8Array(bytes.subarray(0, MAX_KEPT_BYTES));
  return { reply: { status, headers, body: start }, replyBytes: bytes?.byteLength };
}

/** A command of SMTP or IMAP that the journal shows. */
export interface MailCommand {
  readonly protocol: 'smtp' | 'imap';
  /** Who is logged in; `undefined` for nobody. */
  readonly principal: Principal | undefined;
  /** The name of the command, such as `UID FETCH`. */
  readonly name: string;
  /** The folder, or the recipients. */
  readonly path: string;
  /** The user of a login. The journal shows it only if an inbox has this address, because it may be a password. */
  readonly user?: string | undefined;
  /** The command without passwords and, unless it submits a mail and was refused, without the bytes of a mail. */
  readonly text: string;
  /** An HTTP status that has the same meaning as the reply. */
  readonly status: number;
  readonly reply: string;
  /** The ids of the messages that the command read or changed. */
  readonly messageIds: readonly string[];
  /** What the command has shown of these messages. Default: nothing. */
  readonly shown?: readonly ShownMails[] | undefined;
  /** The epoch in which the command began. Default: the present epoch. */
  readonly epoch?: number | undefined;
  /** The entries that the command has caused, and their origin. Default: none. */
  readonly caused?: readonly Entry[] | undefined;
  readonly origin?: Origin | undefined;
}

/** Adds a command to the journal. */
export function recordCommand(service: RecordingService, command: MailCommand): void {
  const { protocol, principal, name: method, text, status, reply, messageIds, epoch } = command;
  const user = command.user === undefined ? undefined : foldAddress(command.user);
  const named = user === undefined ? undefined : service.worlds.findAddress(user);
  const path = named && user ? user : command.path;
  const request = { method, path, query: NO_QUERY, headers: new Headers(), body: null, epoch };
  const exchange = new Exchange(service, request, protocol);
  exchange.principal = principal;
  exchange.loginWorld = named?.world ?? (user === undefined ? undefined : service.worlds.sandboxOfAddress(user));
  exchange.received = new TextEncoder().encode(text);
  exchange.caused.push(...(command.caused ?? []));
  exchange.read = protocol === 'imap' ? messageIds : [];
  exchange.shownMails = command.shown ?? [];
  exchange.refusal = status < 400 ? undefined : reply;
  finishExchange(service, exchange, { status, headers: {}, body: [reply, ...messageIds].join('\n') });
  if (command.origin) command.origin.entry = exchange.origin.entry;
}
