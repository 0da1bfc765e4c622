import { formatDuration } from '../../basics/duration.ts';
import { messageOf } from '../../basics/named-error.ts';
import { toPrintable } from '../../basics/printable.ts';
import { truncate } from '../../basics/text.ts';
import { isStreamPath } from '../../contract/stream-protocol.ts';
import type { AttemptActivity, DeliveryActivity, TestChange } from '../../service/journal/entry-data.ts';

/** One line of the log of the server, or of `logs`. */
export interface Line {
  /** What a reader looks for first, such as `createWebhook` or `message.received`. */
  readonly name: string;
  /**
   * What is shown after the name: the HTTP status, the result of a command, `←` for a mail that was received, or `!` for a
   * problem.
   */
  readonly sign?: number | 'OK' | 'NO' | 'BAD' | '←' | '→' | '!' | undefined;
  readonly text: string;
  /** The HTTP status that decides the colour of the line. Default: 200. */
  readonly colourStatus?: number | undefined;
}

/** The maximum length of the text of a line, in characters. */
const MAX_LENGTH = 280;

/** Shortens the text of a line and makes it printable, because parts of the text may come from strangers. */
export function limitText(line: Line): Line {
  return { ...line, text: toPrintable(line.text.slice(0, MAX_LENGTH)) };
}

/** Returns the name that the log shows for a request that is neither an operation nor a control call. */
export function nameWithoutOperation(path: string): string {
  return isStreamPath(path) ? 'stream' : '-';
}

/** The data of an attempt that its description needs. */
type AttemptData = Pick<AttemptActivity, 'state' | 'reason' | 'status' | 'error' | 'durationMs' | 'retryInMs'>;

/** Describes an attempt. */
export function attemptLine(attempt: DeliveryActivity & AttemptData): Line {
  const colourStatus = attempt.status ?? (attempt.state === 'refused' ? 403 : 504);
  return deliveryLine(attempt, { sign: attempt.status ?? '!', text: formatResult(attempt), colourStatus });
}

/** Says in which state a delivery is, and why. */
export function problemLine(delivery: DeliveryActivity, colourStatus: number): Line {
  return deliveryLine(delivery, { sign: '!', text: `${delivery.state}: ${delivery.reason}`, colourStatus });
}

/** The maximum length of the URL of a webhook in a line, so that the line also has room for the result. */
const MAX_URL_LENGTH = 120;

/** Returns a line with the event, the webhook and the address of a delivery, followed by the given text. */
function deliveryLine({ event, webhookId, url }: DeliveryActivity, { text, ...line }: Omit<Line, 'name'>): Line {
  const address = url === null ? '' : ` ${truncate(url, MAX_URL_LENGTH)}`;
  return { ...line, name: event, text: `webhook ${webhookId.slice(0, 4)}…${address} ${text}` };
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

/** Describes a change of something that has a name, such as `added "paid", all tenants`. */
export function describeChange({ action, name, tenantId }: TestChange): string {
  return `${action}${name === null ? '' : ` ${JSON.stringify(name)}`}, ${nameTenant(tenantId)}`;
}

/** Names the tenant of a change. */
export function nameTenant(tenantId: string | null): string {
  return tenantId ?? 'all tenants';
}
