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
  /**
   * Opens an event stream of the control plane, and returns its items until it ends.
   *
   * @throws {CannotRunError} as `post`. The items throw {@link NoConnectionError} if the connection is lost.
   */
  stream<Item>(path: string): Promise<AsyncIterable<Item>>;
}

/** Thrown when no emulator is running, or when the connection of an event stream is lost. */
export class NoConnectionError extends CannotRunError {}

/**
 * Creates a client from `--url`, `--token` and `--sandbox`.
 *
 * @throws {UsageError} on an invalid URL.
 */
export function createControlClient(flags: GivenFlags): ControlClient {
  const url = parseUrl(flags.url);
  const token = textOf(flags.token);
  const headers = { 'Content-Type': 'application/json', ...(token !== undefined && { [CONTROL_TOKEN_HEADER]: token }) };

  const openPath = (path: string, init?: RequestInit) => {
    const target = new URL(`${url}${CONTROL_PATH}/${path}`);
    if (flags.sandbox) target.searchParams.set('sandbox', String(flags.sandbox.value));
    return open(target, { headers, redirect: 'manual', ...init });
  };
  const call = async (path: string, init?: RequestInit) => readJson(await openPath(path, init));
  const readList = <Item>(reply: Json | undefined, name: string) => {
    const list = reply?.[name];
    if (Array.isArray(list)) return list as Item[];
    throw refusal(url, reply);
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
    async stream<Item>(path: string) {
      const response = await openPath(path);
      const isStream = response.headers.get('content-type') === 'text/event-stream';
      if (!isStream || !response.body) throw refusal(url, await readJson(response));
      return readEvents<Item>(response.body as unknown as AsyncIterable<Uint8Array>, url);
    },
  };
}

function parseUrl(flag: GivenFlag | undefined): string {
  const url = String(flag?.value ?? `http://${DEFAULT_HOST}:${DEFAULT_PORT}`);
  if (isUrlWithProtocol(url, /^https?$/)) return url.replace(/(?<!\/)\/+$/, '');
  throw new UsageError(
    `${flag?.source} must be the URL of an emulator such as http://127.0.0.1:4025, not ${quote(url)}.`,
  );
}

type Json = Readonly<Record<string, unknown>>;

/** Creates the error for a reply that has no result. */
function refusal(url: string, reply: Json | undefined): CannotRunError {
  if (typeof reply?.error === 'string') return new CannotRunError(reply.error);
  return new CannotRunError(`${url} is not an agent-mailbox-mock server.`);
}

/** Returns the JSON of a reply; `undefined` if the reply is not JSON. */
function readJson(response: Response): Promise<Json | undefined> {
  return response.json().catch(() => undefined);
}

async function open(url: URL, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init).catch(() => undefined);
  if (response) return response;
  throw noEmulator(url);
}

/** Creates the error for a URL at which no emulator is running. */
export function noEmulator(url: string | URL): NoConnectionError {
  return new NoConnectionError(
    `No emulator is running at ${new URL(url).origin}; start one, or give its address with --url.`,
  );
}

/** Reads the data of each event of a stream; comments are skipped. */
async function* readEvents<Item>(body: AsyncIterable<Uint8Array>, url: string): AsyncGenerator<Item> {
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for await (const bytes of body) {
      const blocks = (rest + decoder.decode(bytes, { stream: true })).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const data = /^data: (.*)$/m.exec(block)?.[1];
        if (data !== undefined) yield JSON.parse(data);
      }
    }
  } catch {
    throw new NoConnectionError(`The connection to ${url} was lost.`);
  }
}
