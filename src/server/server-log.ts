import type { IncomingMessage, ServerResponse } from 'node:http';
import { styleText } from 'node:util';
import { toPrintable } from '../basics/printable.ts';
import { performance } from '../basics/real-timers.ts';
import { type Line, nameWithoutOperation } from '../control/journal/entry-line.ts';
import { type EntryView, LOGGED_KINDS, lineOf, showInFeed } from '../control/journal/shown-kinds.ts';
import { CONTROL_PATH } from '../control/table/control-path.ts';
import type { Journals } from '../service/journal/journals.ts';
import type { ApiResult } from '../service/pipeline/exchange.ts';
import { isCut } from '../service/pipeline/reply.ts';
import { type Mask, maskText } from '../world/secrets/mask.ts';
import type { WebhookRow } from '../world/store/rows.ts';
import { FAVICON_PATH } from './http/guards.ts';

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

/** Shows an entry with its secrets, because the log masks each line as a whole. */
const UNMASKED: EntryView = {
  reader: 'mailbox',
  mask: { text: (text) => text, named: (_, value) => value, deep: (value) => value },
};

/**
 * Writes a log line for each future mail, attempt, stream and failure of a mailbox. If a delivery failed, its line ends
 * with a link to the delivery in the inspector.
 */
export function logActivity(journals: Journals, log: Log, inspectorUrl: () => string): void {
  journals.subscribe(LOGGED_KINDS, (entry) => {
    const data = showInFeed(entry, UNMASKED);
    const line = lineOf(entry.kind, data);
    if (!line) return;
    const hasLink = 'deliveryId' in data && (line.colourStatus ?? 200) >= 300;
    log(hasLink ? { ...line, text: `${line.text} ${inspectorUrl()}#/webhooks/${data.deliveryId}` } : line);
  });
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
