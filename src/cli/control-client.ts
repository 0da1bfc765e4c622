import { isUrlWithProtocol } from '../contract/schemas.ts';
import { type ControlClient, createControlClient } from '../control/table/client.ts';
import { CONTROL_PATH } from '../control/table/control-path.ts';
import { DEFAULT_HOST, DEFAULT_PORT } from '../server/loopback.ts';
import { CannotRunError, type GivenFlag, type GivenFlags, quote, textOf, UsageError } from './command.ts';

/** An emulator that a command calls. */
export interface Emulator {
  readonly url: string;
  /** Calls the control plane. Each call rejects with a {@link CannotRunError} if no emulator is running. */
  readonly client: ControlClient;
}

/** Thrown when no emulator is running, or when the connection of an event stream is lost. */
export class NoConnectionError extends CannotRunError {}

/**
 * Creates a client of the emulator that `--url`, `--token` and `--sandbox` name. It sends no request yet.
 *
 * @throws {UsageError} on an invalid URL.
 */
export function createEmulatorClient(flags: GivenFlags): Emulator {
  const url = parseUrl(flags.url);
  const send = async (target: string, init: RequestInit) => {
    const response = await fetch(target, { ...init, redirect: 'manual' }).catch(() => undefined);
    if (!response) throw createNoEmulatorError(url);
    const isOurs = /^(?:application\/json|text\/event-stream)/.test(response.headers.get('content-type') ?? '');
    if (!isOurs) throw createWrongServerError(url);
    return response;
  };
  const [token, sandbox] = [textOf(flags.token), textOf(flags.sandbox)];
  return { url, client: createControlClient({ control: url + CONTROL_PATH, token, sandbox, send }) };
}

function parseUrl(flag: GivenFlag | undefined): string {
  const url = String(flag?.value ?? `http://${DEFAULT_HOST}:${DEFAULT_PORT}`);
  if (isUrlWithProtocol(url, /^https?$/)) return url.replace(/(?<!\/)\/+$/, '');
  throw new UsageError(
    `${flag?.source} must be the URL of an emulator such as http://127.0.0.1:4025, not ${quote(url)}.`,
  );
}

/** Creates the error for a URL at which another server replies. */
export function createWrongServerError(url: string): CannotRunError {
  return new CannotRunError(`${url} is not an agent-mailbox-mock server.`);
}

/** Creates the error for a URL at which no emulator is running. */
export function createNoEmulatorError(url: string): NoConnectionError {
  return new NoConnectionError(
    `No emulator is running at ${new URL(url).origin}; start one, or give its address with --url.`,
  );
}
