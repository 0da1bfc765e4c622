import { isUrlWithProtocol } from '../contract/schemas.ts';
import type { Delivery } from '../delivery/delivery.ts';
import { formatAttempt } from '../server/log/activity-log.ts';
import { type GivenFlag, type GivenFlags, quote, type RunCommand, type Terminal, UsageError } from './command.ts';
import { createControlClient } from './control-client.ts';
import { attemptText } from './first-attempt.ts';
import { LISTEN_FLAGS } from './flags.ts';
import { createForwarder, type Forwarded, type Forwarder } from './forwarder.ts';
import { parseList } from './start-settings.ts';
import { type WatchedAttempt, watchAttempts } from './watch-attempts.ts';

/** Prints each attempt to deliver that a running emulator makes, and sends it on, until it is interrupted. */
export const listenToDeliveries: RunCommand = async (terminal, flags) => {
  const allowed = parseList(LISTEN_FLAGS['deliver-to'], flags['deliver-to']);
  await using forwarder = flags['forward-to'] && createForwarder(parseTarget(flags['forward-to']), allowed);
  const controller = new AbortController();
  const { signal } = controller;
  await Promise.race([listen(terminal, flags, { forwarder, signal }), terminal.interrupted]);
  controller.abort();
};

async function listen(
  terminal: Terminal,
  flags: GivenFlags,
  { forwarder, signal }: { readonly forwarder: Forwarder | undefined; readonly signal: AbortSignal },
): Promise<void> {
  const client = createControlClient(flags);
  const list = () => client.list<Delivery>(`deliveries?${queryOf(flags)}`, 'deliveries');
  const write = WRITERS[flags.json?.value === true ? 'json' : 'text'];
  const known = await list();
  terminal.out(write.start(client.url));
  for await (const watched of watchAttempts(list, known, signal)) {
    const forwarded = await forwarder?.forward(watched.attempt, signal);
    if (!signal.aborted)
      terminal.out(write.attempt(watched, forwarder && forwarded && { ...forwarded, to: forwarder.target }));
  }
}

function parseTarget({ value, source }: GivenFlag): string {
  const url = String(value);
  if (isUrlWithProtocol(url, /^https?$/)) return url;
  throw new UsageError(`${source} must be a URL such as http://127.0.0.1:3000/hooks, not ${quote(url)}.`);
}

/** The flags that select deliveries, and the field of the control call for each. */
const FILTER_FIELDS = { tenant: 'tenant', webhook: 'webhookId' };

function queryOf(flags: GivenFlags): URLSearchParams {
  return new URLSearchParams(
    Object.entries(FILTER_FIELDS).flatMap(([flag, field]) => (flags[flag] ? [[field, String(flags[flag].value)]] : [])),
  );
}

/** An attempt that was sent on, and the address to which it was sent. */
interface ForwardedTo extends Forwarded {
  readonly to: string;
}

interface Writer {
  start(url: string): string;
  attempt(watched: WatchedAttempt, forwarded: ForwardedTo | undefined): string;
}

const WRITERS: Readonly<Record<'json' | 'text', Writer>> = {
  json: {
    start: (listening) => JSON.stringify({ listening }),
    attempt({ delivery: { attempts: _, ...delivery }, attempt }, forwarded) {
      return JSON.stringify({ delivery, attempt, forwarded });
    },
  },
  text: {
    start: (url) => `Listening for deliveries of ${url}.`,
    attempt({ delivery, attempt }, forwarded) {
      const { id, event, webhookId } = delivery;
      const line = `Delivery ${id} of ${event} to webhook ${webhookId}: ${attemptText(delivery, attempt)}`;
      return forwarded ? `${line}\n  ${forwardedText(forwarded)}` : line;
    },
  },
};

function forwardedText({ to, isRefused, error, ...result }: ForwardedTo): string {
  if (isRefused) return `Not sent on to ${to}: ${error}`;
  return `Sent on to ${to}: ${formatAttempt({ ...result, error, state: '', reason: null, retryInMs: null })}.`;
}
