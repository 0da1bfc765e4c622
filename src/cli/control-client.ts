import { isUrlWithProtocol } from '../contract/schemas.ts';
import { CONTROL_PATH, CONTROL_TOKEN_HEADER } from '../control/control-path.ts';
import { DEFAULT_HOST, DEFAULT_PORT } from '../server/default-address.ts';
import { CannotRunError, type GivenFlag, type GivenFlags, quote, UsageError } from './command.ts';
import { textOf } from './read-flag.ts';

/** Calls the control plane of a running emulator. */
export interface ControlClient {
  /** The URL of the emulator. */
  readonly url: string;
  /**
   * Posts to a path of the control plane and returns the list that the reply has in the field `name`.
   *
   * @throws {CannotRunError} with the error of the emulator if it refuses, or if no emulator is running.
   */
  post<Item>(path: string, body: object, name: string): Promise<readonly Item[]>;
  /** Gets a path of the control plane and returns the list in the field `name`. @throws {CannotRunError} as `post`. */
  list<Item>(path: string, name: string): Promise<readonly Item[]>;
  /**
   * Gets a path of the control plane. Returns `undefined` if the emulator refuses.
   *
   * @throws {CannotRunError} if no emulator is running.
   */
  get<Item>(path: string): Promise<Item | undefined>;
}

/**
 * Creates a client from `--url` and `--token`.
 *
 * @throws {UsageError} on an invalid URL.
 */
export function createControlClient(flags: GivenFlags): ControlClient {
  const url = parseUrl(flags.url);
  const token = textOf(flags.token);
  const headers = { 'Content-Type': 'application/json', ...(token !== undefined && { [CONTROL_TOKEN_HEADER]: token }) };

  const call = (path: string, init?: RequestInit) =>
    send(`${url}${CONTROL_PATH}/${path}`, { headers, redirect: 'manual', ...init });
  const readList = <Item>(reply: ControlReply, name: string) => {
    const list = reply?.[name];
    if (Array.isArray(list)) return list as Item[];
    if (typeof reply?.error === 'string') throw new CannotRunError(reply.error);
    throw new CannotRunError(`${url} is not an agent-mailbox-mock server.`);
  };

  return {
    url,
    async post<Item>(path: string, body: object, name: string) {
      return readList<Item>(await call(path, { method: 'POST', body: JSON.stringify(body) }), name);
    },
    async list<Item>(path: string, name: string) {
      return readList<Item>(await call(path), name);
    },
    async get<Item>(path: string) {
      const reply = await call(path);
      return typeof reply?.error === 'string' ? undefined : (reply as Item | undefined);
    },
  };
}

function parseUrl(flag: GivenFlag | undefined): string {
  const url = String(flag?.value ?? `http://${DEFAULT_HOST}:${DEFAULT_PORT}`);
  if (isUrlWithProtocol(url, /^https?$/)) return url.replace(/\/+$/, '');
  throw new UsageError(
    `${flag?.source} must be the URL of an emulator such as http://127.0.0.1:4025, not ${quote(url)}.`,
  );
}

/** The JSON of a reply; `undefined` if the reply is not JSON. */
type ControlReply = Readonly<Record<string, unknown>> | undefined;

async function send(url: string, init: RequestInit): Promise<ControlReply> {
  const response = await fetch(url, init).catch(() => undefined);
  if (response) return response.json().catch(() => undefined);
  throw new CannotRunError(
    `No emulator is running at ${new URL(url).origin}; start one, or give its address with --url.`,
  );
}
