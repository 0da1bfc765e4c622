import type { z } from 'zod';
import { fillPath } from '../../basics/fill-path.ts';
import type { ReadonlyDeep } from '../../basics/lazy-schema.ts';
import { LineSplitter } from '../../basics/line-splitter.ts';
import type { QueryValue } from '../../contract/query.ts';
import { CONTROL_TOKEN_HEADER } from './control-path.ts';
import { CONTROL_CALL_IDS, CONTROL_ROUTES, type ControlCallId, splitFields } from './routes.ts';
import type { ControlDefinition } from './row.ts';
import type { CONTROL_ROWS } from './table.ts';

type Rows = typeof CONTROL_ROWS;

/** Replaces the type of an object without fields, which is `Record<string, never>` in zod, by `unknown`. */
type Fields<Type> = string extends keyof Type ? unknown : Type;

type QueryFields<Input, Output> = {
  readonly [Name in keyof Input]: QueryValue<Input[Name], Output[Name & keyof Output]>;
};

/** What a control call takes: the parameters of its path, and the fields of its query or its body. */
export type InputTo<Id extends ControlCallId> =
  Rows[Id] extends ControlDefinition<infer Params, infer Query, infer Body, infer _, infer __>
    ? Fields<z.input<Params>> &
        Fields<QueryFields<z.input<Query>, z.output<Query>>> &
        ([z.input<Body>] extends [never] ? unknown : ReadonlyDeep<z.input<Body>>)
    : never;

/** What a control call replies. */
export type ReplyTo<Id extends ControlCallId> =
  Rows[Id] extends ControlDefinition<infer _, infer __, infer ___, infer Reply, infer Content>
    ? Content extends 'text/event-stream'
      ? AsyncIterable<z.output<Reply>>
      : Content extends 'application/json'
        ? z.output<Reply>
        : Blob
    : never;

/** What applies to a single call. */
interface CallOptions {
  /** The id of the sandbox to which it applies. */
  readonly sandbox?: string | undefined;
  /** Ends the call, or the stream that it replies. */
  readonly signal?: AbortSignal | undefined;
}

/** Each control call as a method. It rejects with a {@link RefusedCallError} if the emulator refuses the call. */
export type ControlClient = {
  readonly [Id in ControlCallId]: (
    ...input: Record<never, never> extends InputTo<Id>
      ? [input?: InputTo<Id>, options?: CallOptions]
      : [input: InputTo<Id>, options?: CallOptions]
  ) => Promise<ReplyTo<Id>>;
};

/** Where the control plane is, and how it is called. */
export interface ControlAccess {
  /** The id of the sandbox to which every call applies that names no other. */
  readonly sandbox?: string | undefined;
  /** The URL of the control plane, such as `http://127.0.0.1:4025/__mock`. */
  readonly control: string;
  /** The token of the control plane; undefined if it needs none. */
  readonly token?: string | undefined;
  /** Sends a request. Default: the global `fetch`. */
  readonly send?: (url: string, init: RequestInit) => Promise<Response>;
}

/** Thrown for each reply that is not a success, with the message of the reply, and for a call that cannot be sent. */
export class RefusedCallError extends Error {}

/**
 * For the `catch` of a promise. Returns `undefined` if the emulator refused the call, for example because the
 * resource no longer exists. Throws every other error again.
 */
export function undefinedIfRefused(error: unknown): undefined {
  if (!(error instanceof RefusedCallError)) throw error;
}

/** Creates a client of the control plane. */
export function createControlClient(access: ControlAccess): ControlClient {
  const { control, token, sandbox, send = (...request) => fetch(...request) } = access;
  const headers = { 'Content-Type': 'application/json', ...(token !== undefined && { [CONTROL_TOKEN_HEADER]: token }) };

  async function call(id: ControlCallId, input?: object, options?: CallOptions): Promise<unknown> {
    const [method = '', path = ''] = CONTROL_ROUTES[id].split(' ');
    const { params, query, body } = splitFields(id, input);
    const target = fillPath(
      path,
      (name) => params[name],
      (name, problem) => new RefusedCallError(`The argument ${name} of the call ${id} ${problem}.`),
    );
    const fields = Object.entries({ ...query, sandbox: options?.sandbox ?? sandbox });
    const parameters = fields.filter(([, value]) => value !== undefined).map(([name, value]) => [name, toText(value)]);
    const url = `${control}${target}${parameters.length > 0 ? `?${new URLSearchParams(parameters)}` : ''}`;
    const init: RequestInit = { method, headers };
    if (body && input !== undefined) init.body = JSON.stringify(body);
    if (options?.signal) init.signal = options.signal;
    return readReply(await send(url, init));
  }

  const methods = CONTROL_CALL_IDS.map((id) => [
    id,
    (input?: object, options?: CallOptions) => call(id, input, options),
  ]);
  return Object.fromEntries(methods);
}

function toText(value: unknown): string {
  return value instanceof Date ? value.toISOString() : String(value);
}

async function readReply(response: Response): Promise<unknown> {
  const { headers, body, ok } = response;
  const type = headers.get('content-type') ?? '';
  if (!ok) {
    const reply = await response.json().catch(() => undefined);
    throw new RefusedCallError(reply?.error ?? `The reply has status ${response.status} and no error message.`);
  }
  if (type.startsWith('text/event-stream') && body) return readEvents(body);
  return type.startsWith('application/json') ? response.json() : response.blob();
}

/** Reads the data of each event of a stream. Comments in the stream are skipped. */
async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<unknown> {
  const reader = body.getReader();
  const splitter = new LineSplitter();
  let data: string | undefined;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      for (const line of splitter.read(value)) {
        if (line.startsWith('data: ')) data = line.slice('data: '.length);
        if (line !== '' || data === undefined) continue;
        yield JSON.parse(data);
        data = undefined;
      }
    }
  } finally {
    await reader.cancel();
  }
}
