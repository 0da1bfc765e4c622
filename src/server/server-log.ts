import type { IncomingMessage, ServerResponse } from 'node:http';
import { styleText } from 'node:util';
import { formatDuration } from '../basics/duration.ts';
import { messageOf } from '../basics/named-error.ts';
import { toPrintable } from '../basics/printable.ts';
import { performance } from '../basics/real-timers.ts';
import { truncate } from '../basics/text.ts';
import { isStreamPath } from '../contract/stream-protocol.ts';
import { activityOf } from '../control/journal/feed.ts';
import { CONTROL_PATH } from '../control/table/control-path.ts';
import { CorrespondentError } from '../service/mail/correspondents/correspondent.ts';
import type { ApiResult } from '../service/pipeline/exchange.ts';
import { isCut } from '../service/pipeline/reply.ts';
import type {
  AttemptActivity,
  DeliveryActivity,
  EntryOf,
  HeldMailActivity,
  MailActivity,
  StreamActivity,
} from '../world/journal/entry.ts';
import type { Journals } from '../world/journal/journal.ts';
import { type Mask, maskText } from '../world/secrets/mask.ts';
import type { WebhookRow } from '../world/store/rows.ts';
import { FAVICON_PATH } from './http/guards.ts';

/** One line of the log. */
export interface Line {
  /** What a reader looks for first, such as `createWebhook` or `message.received`. */
  readonly name: string;
  /** What is shown after the name: the HTTP status, `←` for a mail that was received, or `!` for a problem. */
  readonly sign?: number | '←' | '→' | '!' | undefined;
  readonly text: string;
  /** The HTTP status that decides the colour of the line. Default: 200. */
  readonly colourStatus?: number | undefined;
}

/**
 * Writes one log line with the time `at`, by default the current time. `line` may be a function. If the function throws
 * an error, the error is reported and not thrown.
 */
export type Log = (line: Line | (() => Line), at?: Date) => void;

/** The width of the column of names: the longest operation has 18 characters. */
const NAME_WIDTH = 18;

/** Without this option, newer versions of Node check the stream, and may disable the colours. */
const STYLE_OPTIONS = { validateStream: false };

/** The colour of a line, by the first digit of its status. */
const COLOURS = ['red', 'cyan', 'green', 'cyan', 'yellow', 'red'] as const;

/**
 * Creates a log. Its lines begin with the time of day, have columns, and contain no secrets: `mask` hides them. The log
 * never throws: `report` receives each error of `write`, or of a function that returns a line.
 */
export function createLog(
  write: (line: string) => void,
  isColoured: boolean,
  report: (error: unknown) => void,
  mask: Mask['text'] = maskText,
): Log {
  const colourise = (format: Parameters<typeof styleText>[0], text: string) =>
    isColoured ? styleText(format, text, STYLE_OPTIONS) : text;

  return (line, at = new Date()) => {
    const time = at.toTimeString().slice(0, 'hh:mm:ss'.length);
    try {
      const { name, sign = '', text, colourStatus = 200 } = typeof line === 'function' ? line() : line;
      const columns = toPrintable(`${name.padEnd(NAME_WIDTH)} ${String(sign).padEnd(3)} ${text}`);
      const colour = COLOURS[Number(String(colourStatus).charAt(0))] ?? 'red';
      write(`${colourise('dim', time)} ${colourise(colour, maskSecrets(columns, mask))}`);
    } catch (error) {
      report(error);
    }
  };
}

/** Masks secrets as `mask` does. Also masks texts that begin like a key, but are too short to be a key. */
export function maskSecrets(text: string, mask: Mask['text'] = maskText): string {
  return mask(text).replace(/(sa|tk|wk|ak)_[\w-]+(?![\w…-])/g, (key) => `${key.slice(0, 3)}…`);
}

/** The data of an attempt that its description needs. */
type AttemptData = Pick<AttemptActivity, 'state' | 'reason' | 'status' | 'error' | 'durationMs' | 'retryInMs'>;

/** What the log has a line for. The data of each kind are what the feed has, too. */
interface Logged {
  mail: MailActivity;
  'mail-held': HeldMailActivity;
  'delivery-created': DeliveryActivity;
  'delivery-released': DeliveryActivity;
  attempt: AttemptActivity;
  'delivery-ended': DeliveryActivity;
  'stream-opened': StreamActivity;
  'stream-closed': StreamActivity;
  failure: { readonly error: unknown };
}

/** Something that has a line in the log. */
export type LoggedEntry = { [Kind in keyof Logged]: { readonly kind: Kind } & Logged[Kind] }[keyof Logged];

const LOGGED_KINDS = [
  'mail-received',
  'mail-held',
  'delivery-created',
  'attempt',
  'delivery-ended',
  'stream-opened',
  'stream-closed',
  'failure',
] as const;

/**
 * Writes a log line for each future mail, attempt, stream and failure of a mailbox. If a delivery failed, its line ends
 * with a link to the delivery in the inspector.
 */
export function logActivity(journals: Journals, log: Log, inspectorUrl: () => string): void {
  journals.subscribe(LOGGED_KINDS, (added) => {
    const kind = added.kind === 'mail-received' ? 'mail' : added.kind;
    const entry = { ...activityOf(added as EntryOf), kind } as LoggedEntry;
    const line = describeActivity(entry);
    if (!line) return;
    const hasLink = 'deliveryId' in entry && (line.colourStatus ?? 200) >= 300;
    log(hasLink ? { ...line, text: `${line.text} ${inspectorUrl()}#/webhooks/${entry.deliveryId}` } : line);
  });
}

/**
 * Describes an entry in one line. Returns `undefined` for a new delivery that is sent at once, because the first
 * attempt has its own line.
 */
export function describeActivity(entry: LoggedEntry): Line | undefined {
  const line = DESCRIBERS[entry.kind](entry as never);
  return line && limitText(line);
}

const DESCRIBERS: {
  readonly [Kind in keyof Logged]: (entry: Logged[Kind]) => Line | undefined;
} = {
  // The attempt that follows has its own line.
  'delivery-released': () => undefined,
  'delivery-created': (entry) => (entry.state === 'held' ? problemLine(entry, 403) : undefined),
  attempt: (entry) => {
    const colourStatus = entry.status ?? (entry.state === 'refused' ? 403 : 504);
    return deliveryLine(entry, { sign: entry.status ?? '!', text: formatResult(entry), colourStatus });
  },
  'delivery-ended': (entry) => problemLine(entry, entry.state === 'failed' ? 500 : 403),
  mail: ({ inbox, from, subject }) => ({ name: 'mail', sign: '←', text: `to ${inbox} from ${from}: ${subject}` }),
  'mail-held': ({ reason }) => ({ name: 'mail', sign: '!', text: `held: ${reason}`, colourStatus: 429 }),
  'stream-opened': ({ tier, key }) => ({ name: 'stream', text: `opened with the ${tier} key ${key}` }),
  'stream-closed': ({ tier, key }) => ({ name: 'stream', text: `closed; it was opened with the ${tier} key ${key}` }),
  failure: ({ error }) => {
    const [name, text] =
      error instanceof CorrespondentError
        ? ['correspondent', error.message]
        : ['emulator', `The emulator failed because of a bug in it: ${messageOf(error)}.`];
    return { name, sign: '!', text, colourStatus: 500 };
  },
};

/** Returns a line with the event, the webhook and the address of a delivery, followed by the given text. */
function deliveryLine({ event, webhookId, url }: DeliveryActivity, { text, ...line }: Omit<Line, 'name'>): Line {
  const address = url === null ? '' : ` ${truncate(url, MAX_URL_LENGTH)}`;
  return { ...line, name: event, text: `webhook ${webhookId.slice(0, 4)}…${address} ${text}` };
}

/** Returns a line that says in which state a delivery is, and why. */
function problemLine(entry: DeliveryActivity & Pick<AttemptData, 'state' | 'reason'>, colourStatus: number): Line {
  return deliveryLine(entry, { sign: '!', text: `${entry.state}: ${entry.reason}`, colourStatus });
}

/** Describes the result of an attempt, such as `503 in 12 ms, again in 5s`. */
export function formatAttempt(attempt: AttemptData): string {
  return [attempt.status, formatResult(attempt)].filter((part) => part !== null).join(' ');
}

/** Describes the result of an attempt, without its status. */
function formatResult({ state, reason, status, error, durationMs, retryInMs }: AttemptData): string {
  if (state === 'refused') return `refused: ${reason}`;
  const problem = status === null ? `no answer (${messageOf(error)}) ` : '';
  return `${problem}in ${durationMs} ms${formatNextStep({ state, reason, retryInMs })}`;
}

function formatNextStep({ state, reason, retryInMs }: Pick<AttemptData, 'state' | 'reason' | 'retryInMs'>): string {
  if (retryInMs !== null) return `, again in ${formatDuration(retryInMs)}`;
  return reason === null ? '' : `, ${state}: ${reason}`;
}

/** The maximum length of the URL of a webhook in a line, so that the line also has room for the result. */
const MAX_URL_LENGTH = 120;

/** The maximum length of the text of a line, in characters. */
const MAX_LENGTH = 280;

/** Shortens the text of a line and makes it printable, because parts of the text may come from strangers. */
export function limitText(line: Line): Line {
  return { ...line, text: toPrintable(line.text.slice(0, MAX_LENGTH)) };
}

/** Logs why the URL of a webhook that a client creates or changes may not be called. */
export function logBlockedWebhooks(journals: Journals, log: Log, findReason: (url: string) => string | undefined) {
  journals.subscribe(['change'], ({ data: { object, action, by, row } }) => {
    if (object !== 'webhook' || action === 'removed') return;
    const reason = findReason((row as WebhookRow).url);
    if (reason !== undefined)
      log({ name: by, sign: '!', text: `the webhook will get no deliveries: ${reason}`, colourStatus: 403 });
  });
}

/** Returns whether a request only reads from the control plane or the inspector. `verbose` logs these requests too. */
export function isControlRead({ method = '', url = '' }: IncomingMessage): boolean {
  return ['GET', 'HEAD', 'OPTIONS'].includes(method) && CONTROL_URL.test(url);
}

const CONTROL_URL = new RegExp(`^(?:${CONTROL_PATH}(?=[/?]|$)|${FAVICON_PATH}$)`);

/**
 * Writes one line when a request is finished: operation, status, method, path, error code, duration and masked key. If
 * the request was refused, the line also has the reason, including what the reply must not say. The line ends with the
 * parts of the request that were ignored.
 */
export function logRequest(
  log: Log,
  request: IncomingMessage,
  response: ServerResponse,
  readResult: () => Result,
): void {
  const startedAt = performance.now();
  response.once('close', () => {
    const duration = `${(performance.now() - startedAt).toFixed(1)} ms`;
    log(() => describeRequest(request, response, duration, readResult()));
  });
}

type Result = Partial<ApiResult>;

function describeRequest(request: IncomingMessage, response: ServerResponse, duration: string, result: Result): Line {
  const { method, url = '' } = request;
  const { statusCode: status } = response;
  const isComplete = response.writableFinished || status === 101;
  const name = result.row?.id ?? nameWithoutOperation(url.replace(/\?.*/s, ''));
  const outcome = isComplete ? result.error?.code : isCut({ status }) ? 'cut by a fault' : 'aborted';
  const text = [method, toLogText(url), outcome, duration, formatKey(request)].filter(Boolean).join(' ');
  if (isComplete) return { name, sign: status, text: text + formatNotes(result), colourStatus: status };
  return { name, sign: '!', text, colourStatus: 499 };
}

/** Returns the name that the log shows for a request that is neither an operation nor a control call. */
export function nameWithoutOperation(path: string): string {
  return isStreamPath(path) ? 'stream' : '-';
}

/** The statuses of refusals whose message is logged, because it says which key, origin or host is wrong. */
const REFUSAL_STATUSES: readonly unknown[] = [401, 403];

/** Formats the reason of a refusal, and the parts of the request that the operation did not read. */
function formatNotes({ error, ignored = [] }: Result): string {
  const reason = error?.internalReason?.() ?? (REFUSAL_STATUSES.includes(error?.status) ? error?.message : undefined);
  const notes = [reason ?? [], ignored.map((part) => `ignored: ${part}`)].flat();
  return notes.map((note) => ` (${note.slice(0, 300)})`).join('');
}

/** Returns the API key of a request. Other credentials, such as a password, are not shown at all. */
function formatKey({ headers }: IncomingMessage): string {
  const credential = headers['x-api-key'] || headers.authorization?.replace(/^bearer\s+/i, '') || '';
  if (credential === '') return '';
  return KEY.test(String(credential)) ? toLogText(String(credential)) : '(not a key)';
}

const KEY = /^(sa|tk|wk|ak)_[\w-]+$/;

/**
 * Prepares a text of a client for the log: decodes it, so that an encoded key is masked too, replaces characters that
 * could imitate or break a line, and shortens it.
 */
function toLogText(text: string): string {
  return decode(text.slice(0, 600))
    .replace(/[^\x21-\x7e]/g, '?')
    .slice(0, 200);
}

/** Decodes percent-encoded ASCII repeatedly, until nothing changes. */
function decode(text: string): string {
  const decoded = text.replace(/%([2-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return decoded === text ? text : decode(decoded);
}
