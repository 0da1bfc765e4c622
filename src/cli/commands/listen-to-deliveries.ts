import { toPrintable, toPrintableJson } from '../../basics/printable.ts';
import { isUrlWithScheme } from '../../basics/text.ts';
import { NAME } from '../../basics/version.ts';
import { formatAttempt } from '../../control/journal/entry-line.ts';
import { lineOfEvent } from '../../control/journal/shown-kinds.ts';
import { undefinedIfRefused } from '../../control/table/client.ts';
import type { Attempt, Delivery } from '../../mailbox/without-msw.ts';
import { createOutgoingFetch, createReceiverRules } from '../../server/outgoing-fetch.ts';
import { failedResult } from '../../service/delivery/call-receiver.ts';
import { splitLogin } from '../../service/delivery/request.ts';
import type { DeliveryActivity } from '../../service/journal/entry-data.ts';
import { type GivenFlag, type GivenFlags, quote, type RunCommand, type Terminal, UsageError } from '../command.ts';
import { createEmulatorClient, createNoEmulatorError, type Emulator, readFeed } from '../control-client.ts';
import { LISTEN_FLAGS } from '../flags.ts';
import { attemptText, deliveryText } from './first-attempt.ts';
import { parseList } from './start-settings.ts';

/**
 * Prints each attempt of a running emulator to deliver an event, until the command is interrupted. With `--forward-to`,
 * also forwards the request of each attempt.
 */
export const listenToDeliveries: RunCommand = async (terminal, flags) => {
  const allowed = parseList(LISTEN_FLAGS['deliver-to'], flags['deliver-to']);
  await using forwarder = flags['forward-to'] && createForwarder(parseTarget(flags['forward-to']), allowed);
  const controller = new AbortController();
  const { signal } = controller;
  await Promise.race([listen(terminal, flags, signal, forwarder), terminal.interrupted]);
  controller.abort();
};

async function listen(terminal: Terminal, flags: GivenFlags, signal: AbortSignal, forwarder?: Forwarder) {
  const emulator = createEmulatorClient(flags);
  const { url: listening } = emulator;
  const isJson = flags.json?.value === true;
  const onOpen = () =>
    terminal.out(isJson ? toPrintableJson({ listening }) : `Listening for deliveries of ${listening}.`);
  for await (const watched of watchAttempts(emulator, filterOf(flags), onOpen, terminal.err)) {
    const forwarded = forwarder && { ...(await forwarder.forward(watched.attempt, signal)), to: forwarder.target };
    if (signal.aborted) return;
    terminal.out(isJson ? jsonOf(watched, forwarded) : describeAttempt(watched, forwarded));
  }
  throw createNoEmulatorError(listening);
}

/** An attempt of the emulator, and the delivery to which it belongs. */
type WatchedAttempt = { readonly delivery: Delivery; readonly attempt: Attempt };

/** Yields each attempt that the emulator makes from now on, until the emulator ends. */
async function* watchAttempts(emulator: Emulator, filter: Filter, onOpen: () => void, warn: (line: string) => void) {
  // This call only checks the ids in the filter, because the emulator refuses an invalid id. It asks for held
  // deliveries, because there are few of them.
  await emulator.client.listDeliveries({ ...filter, state: 'held' });
  for await (const event of readFeed(emulator, {}, onOpen)) {
    if (event.kind === 'gap') warn(`${NAME}: ${lineOfEvent(event)?.text}.`);
    if (event.kind !== 'attempt' || !isSelected(event.data, filter)) continue;
    const { deliveryId: id, attempt: count } = event.data;
    const delivery = await emulator.client.getDelivery({ id }).catch(undefinedIfRefused);
    const attempt = delivery?.attempts[count - 1];
    if (delivery && attempt) yield { delivery, attempt };
    else warn(`${NAME}: The delivery ${id} is no longer in the log of the emulator.`);
  }
}

function parseTarget({ value, source }: GivenFlag): string {
  const url = String(value);
  if (isUrlWithScheme(url, /^https?$/)) return url;
  throw new UsageError(`${source} must be a URL such as http://127.0.0.1:3000/hooks, not ${quote(url)}.`);
}

/** Selects the deliveries to print. The fields have the names of the parameters of the control call. */
type Filter = Readonly<{ tenant: string | undefined; webhookId: string | undefined }>;

function filterOf({ tenant, webhook }: GivenFlags): Filter {
  const idOf = (flag: GivenFlag | undefined) => flag && String(flag.value).toLowerCase();
  return { tenant: idOf(tenant), webhookId: idOf(webhook) };
}

function isSelected(one: DeliveryActivity, { tenant = one.tenantId, webhookId = one.webhookId }: Filter): boolean {
  return one.tenantId === tenant && one.webhookId === webhookId;
}

/** The result of forwarding a request, and the URL to which the request was forwarded. */
type ForwardedTo = Forwarded & { readonly to: string };

function jsonOf({ delivery: { attempts: _, ...delivery }, attempt }: WatchedAttempt, forwarded?: ForwardedTo): string {
  return toPrintableJson({ delivery, attempt, forwarded });
}

function describeAttempt({ delivery, attempt }: WatchedAttempt, forwarded?: ForwardedTo): string {
  const line = toPrintable(`${deliveryText(delivery)}: ${attemptText(delivery, attempt)}`);
  return forwarded ? `${line}\n  ${toPrintable(forwardedText(forwarded))}` : line;
}

function forwardedText({ to, isRefused, error, ...result }: ForwardedTo): string {
  if (isRefused) return `Not sent on to ${to}: ${error}`;
  return `Sent on to ${to}: ${formatAttempt({ ...result, error, state: '', reason: null, retryInMs: null })}.`;
}

/** The result of forwarding a request. */
export interface Forwarded {
  /** The HTTP status of the response; null if there was no response. */
  readonly status: number | null;
  /** Why there was no response, in a sentence; null if there was a response. */
  readonly error: string | null;
  /** Whether the address may not be called. */
  readonly isRefused: boolean;
  readonly durationMs: number;
}

type Forwarder = ReturnType<typeof createForwarder>;

/** The time limit for a response. */
const TIMEOUT_MS = 30_000;

/**
 * Creates a forwarder, which forwards the requests of deliveries to another receiver. The forwarder calls only loopback
 * addresses, and the hosts and ranges in `allowed`.
 */
export function createForwarder(url: string, allowed: readonly string[]) {
  const outgoing = createOutgoingFetch(createReceiverRules(allowed));
  const { href, loginHeader } = splitLogin(url);
  return {
    /** The URL of the receiver, without a login. */
    target: href,
    /** Forwards the request of an attempt, with the same headers and body. The promise never rejects. */
    async forward({ requestHeaders, requestBody: body }: Attempt, signal: AbortSignal): Promise<Forwarded> {
      // A login in the original request is for the original receiver only.
      const { authorization: _, ...headers } = requestHeaders;
      const limited = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
      const init: RequestInit = { method: 'POST', headers: { ...headers, ...loginHeader }, body, signal: limited };
      const startedMs = performance.now();
      const { status, error, isRefused } = await outgoing.fetch(href, init).then(readStatus).catch(failedResult);
      return { status, error, isRefused, durationMs: Math.round(performance.now() - startedMs) };
    },
    [Symbol.asyncDispose]: () => outgoing.close(),
  };
}

/** Reads the status and discards the body. */
function readStatus({ status, body }: Response): Omit<Forwarded, 'durationMs'> {
  // If the body has already failed, `cancel` rejects. This can be ignored.
  void body?.cancel().catch(() => undefined);
  return { status, error: null, isRefused: false };
}
