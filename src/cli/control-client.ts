import { setTimeout } from 'node:timers/promises';
import { isUrlWithScheme, trimEndSlashes } from '../basics/text.ts';
import { type ControlClient, createControlClient } from '../control/table/client.ts';
import { CONTROL_PATH } from '../control/table/control-path.ts';
import { DEFAULT_HOST, DEFAULT_PORT } from '../server/loopback.ts';
import { CannotRunError, type GivenFlag, type GivenFlags, quote, textOfFlag, UsageError } from './command.ts';

/** An emulator that a command calls. */
export interface Emulator {
  readonly url: string;
  /** Calls the control plane. Each call rejects with a {@link CannotRunError} if no emulator is running. */
  readonly client: ControlClient;
}

/** Thrown when no emulator is running, or when the connection of an event stream is lost. */
export class NoConnectionError extends CannotRunError {}

/**
 * Creates a client of the emulator that `--url`, `--token` and `--sandbox` name. Sends no request yet.
 *
 * @throws {UsageError} on an invalid URL.
 */
export function createEmulatorClient(flags: GivenFlags): Emulator {
  const url = parseUrl(flags.url);
  const send = async (target: string, init: RequestInit) => {
    const response = await fetch(target, { ...init, redirect: 'manual' }).catch(() => undefined);
    if (!response) throw createNoEmulatorError(url);
    const isFromEmulator = /^(?:application\/json|text\/event-stream)/.test(response.headers.get('content-type') ?? '');
    if (!isFromEmulator) throw createWrongServerError(url);
    return response;
  };
  const [token, sandbox] = [textOfFlag(flags.token), textOfFlag(flags.sandbox)];
  return { url, client: createControlClient({ control: url + CONTROL_PATH, token, sandbox, send }) };
}

function parseUrl(flag: GivenFlag | undefined): string {
  const url = String(flag?.value ?? `http://${DEFAULT_HOST}:${DEFAULT_PORT}`);
  if (isUrlWithScheme(url, /^https?$/)) return trimEndSlashes(url);
  throw new UsageError(
    `${flag?.source} must be the URL of an emulator such as http://127.0.0.1:4025, not ${quote(url)}.`,
  );
}

/** Creates the error for a URL at which a server that is not an emulator replies. */
export function createWrongServerError(url: string): CannotRunError {
  return new CannotRunError(`${url} is not an agent-mailbox-mock server.`);
}

/** Creates the error for a URL at which no emulator is running. */
export function createNoEmulatorError(url: string): NoConnectionError {
  return new NoConnectionError(
    `No emulator is running at ${new URL(url).origin}; start one, or give its address with --url.`,
  );
}

/** The event after which the feed starts, and whether the feed ends after the events so far. */
type FeedQuery = { readonly lastEventId?: string; readonly follow?: false };

/**
 * Yields the events of the live feed until the feed ends. After a lost connection, connects again and continues after
 * the last event. `onOpen` is called when the feed is open, because from then on no event is missed.
 *
 * @throws {CannotRunError} if the emulator refuses the call or is not running, or if a connection is lost before an
 *   event has arrived.
 */
export async function* readFeed({ url, client }: Emulator, query: FeedQuery, onOpen?: () => void) {
  let { lastEventId } = query;
  for (;;) {
    const previousId = lastEventId;
    const events = await client.readFeed({ ...query, lastEventId: previousId });
    onOpen?.();
    onOpen = undefined;
    try {
      for await (const event of events) {
        lastEventId = event.id;
        yield event;
      }
      return;
    } catch {
      if (lastEventId === previousId) throw new NoConnectionError(`The connection to ${url} was lost.`);
    }
  }
}

/** The time between two attempts to connect again. */
const RETRY_MS = 500;

/**
 * Yields the events so far and all later events, until `signal` is aborted. When the emulator ends, or can no longer be
 * reached, calls `onLost` once, and continues when the emulator is running again.
 *
 * @throws {CannotRunError} if the emulator refuses the call, or is not running at the start.
 */
export async function* followFeed(emulator: Emulator, onLost: () => void, signal: AbortSignal) {
  let lastEventId = '0';
  let reportLoss: (() => void) | undefined;
  const onOpen = () => {
    reportLoss = onLost;
  };
  for (;;) {
    try {
      for await (const event of readFeed(emulator, { lastEventId }, onOpen)) {
        lastEventId = event.id;
        yield event;
      }
    } catch (error) {
      if (!reportLoss || !(error instanceof NoConnectionError)) throw error;
    }
    reportLoss?.();
    reportLoss = () => {};
    await setTimeout(RETRY_MS, undefined, { signal });
  }
}
