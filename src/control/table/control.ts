import { finish } from '../../basics/work.ts';
import { createSilentReader, parseBehaviours } from '../../contract/behaviours.ts';
import { ApiError, createResetError, parseOrRefuse } from '../../contract/errors.ts';
import {
  calledUrl,
  filenameParameters,
  HOSTILE_CONTENT_HEADERS,
  HOSTILE_FILE_HEADERS,
} from '../../contract/header-fields.ts';
import type { ApiRequest, ApiResult } from '../../service/pipeline/exchange.ts';
import { toApiError } from '../../service/pipeline/exchange.ts';
import { MAX_BODY_BYTES, parseJsonObject, readBody } from '../../service/pipeline/parse-input.ts';
import type { AnyReply } from '../../service/pipeline/reply.ts';
import {
  bytesReply,
  JsonBody,
  optionsReply,
  streamReply,
  stripBodyForHead,
  textReply,
  toErrorReply,
} from '../../service/pipeline/reply.ts';
import { createRouter, findRow } from '../../service/pipeline/router.ts';
import type { Environment } from '../../world/environment.ts';
import type { Worlds } from '../../world/store/worlds.ts';
import type { BehaviourControls } from '../behaviour-controls.ts';
import type { ControllableMailbox, SandboxControls } from '../controllable-mailbox.ts';
import { CONTROL_PATH, PROOF_PARAMETER } from './control-path.ts';
import type { ContentType, ControlRow, OwnProcess } from './row.ts';
import { listControlRows } from './table.ts';

/**
 * The control plane is not part of the emulated service, so changed behaviours do not affect it: it uses the default
 * values.
 */
const DEFAULT_READER = createSilentReader(parseBehaviours());

/** Creates the handler for requests to the control plane of a mailbox. The handler never rejects. */
export function createControl(
  mailbox: ControllableMailbox & SandboxControls & BehaviourControls,
  report: Environment['report'],
  rows: readonly ControlRow[] = listControlRows(),
  ownProcess: OwnProcess = {},
  worlds?: Pick<Worlds, 'epoch' | 'isOver' | 'get'>,
): (request: ApiRequest) => Promise<ApiResult> {
  const route = createRouter(rows);
  const writers = createWriters();
  const constantReplies = new Map<ControlRow, AnyReply>();

  async function runRow(row: ControlRow, params: Record<string, string>, request: ApiRequest): Promise<AnyReply> {
    const { epoch = worlds?.epoch ?? 0 } = request;
    const { query, body } = await parseControlInput(row, request);
    const constant = constantReplies.get(row);
    if (constant) return constant;
    const { sandbox, ...parameters } = query;
    // A reset while the body arrived ends the call.
    const world = sandbox === undefined ? undefined : worlds?.get(String(sandbox).toLowerCase());
    if (worlds?.isOver(epoch, world)) throw createResetError();
    const selected = sandbox === undefined ? mailbox : mailbox.sandbox(String(sandbox));
    const process = { ...ownProcess, publicUrl: ownProcess.publicUrl ?? calledUrl(request.headers) };
    const { headers, signal } = request;
    const input = { params, headers, signal, query: parameters, body, process } as never;
    const reply = await writers[row.content ?? 'application/json'](await row.run(selected, input, mailbox), request);
    if (row.replyNeverChanges) constantReplies.set(row, reply);
    return reply;
  }

  async function handle(request: ApiRequest): Promise<ApiResult> {
    let row: ControlRow | undefined;
    try {
      const found = findRow(route, withoutSlash(request), DEFAULT_READER);
      if ('allow' in found) return { reply: optionsReply(found.allow) };
      row = found.row;
      return { row, reply: await runRow(row, found.params, request) };
    } catch (thrown) {
      const error = toApiError(thrown, report);
      return { row, reply: toErrorReply(error, DEFAULT_READER), error };
    }
  }

  return async (request) => {
    const result = await handle(request);
    return { ...result, reply: stripBodyForHead(request.method, result.reply) };
  };
}

/** Removes the trailing slash from the path of the list of calls, which is accepted with or without a slash. */
function withoutSlash({ method, path }: ApiRequest) {
  return { method, path: path === `${CONTROL_PATH}/` ? CONTROL_PATH : path };
}

/** Parses the query, and reads a body, which must be a JSON object. The call itself checks the fields of the body. */
async function parseControlInput(row: ControlRow, request: ApiRequest) {
  const query = parseControlQuery(row, request.query);
  if (!row.body) return { query, body: undefined };
  const limitBytes = row.maxBodyBytes ?? MAX_BODY_BYTES;
  const body = await readBody(request, limitBytes);
  if (body === 'too-large') {
    throw new ApiError('PAYLOAD_TOO_LARGE', `The body is larger than ${limitBytes / 1024 / 1024} MiB.`);
  }
  return { query, body: parseJsonObject(body, request.headers.get('content-type'), DEFAULT_READER.readBehaviour) };
}

/** Parses a query. Unknown parameters are refused, because a misspelt filter would select everything. */
function parseControlQuery({ query: schema, content }: ControlRow, query: URLSearchParams): Record<string, unknown> {
  if (!schema) return {};
  // The proof in the URL of a page is for the guard of a server.
  const sent = [...query.keys()].filter((name) => name !== PROOF_PARAMETER || content !== 'text/html');
  const unknown = sent.find((name) => !Object.hasOwn(schema.shape, name));
  if (unknown !== undefined) {
    const named = JSON.stringify(unknown.slice(0, 100));
    const problem = `The query has the unknown parameter ${named}; it takes ${Object.keys(schema.shape).join(', ')}.`;
    throw new ApiError('VALIDATION_ERROR', problem);
  }
  // Of a parameter that is sent twice, the first value counts, as in a query of the service.
  const fields = Object.fromEntries(sent.map((name) => [name, query.get(name)]));
  return parseOrRefuse('The query', schema, fields);
}

/**
 * Creates the functions that create a reply, by media type. They share the bytes of what several clients read.
 */
function createWriters(): Readonly<
  Record<ContentType, (value: unknown, request: ApiRequest) => AnyReply | Promise<AnyReply>>
> {
  const eventBytes = new WeakMap<object, Uint8Array<ArrayBuffer>>();
  return {
    'application/json': writeJson,
    'text/html': (html, request) =>
      withHeaders(textReply(200, String(html), 'text/html; charset=utf-8'), headersOfMailPage(request)),
    'text/x-python': (code) => textReply(200, String(code), 'text/x-python; charset=utf-8'),
    'application/octet-stream': (file) => writeFile(file as { filename: string; content: Uint8Array }),
    'text/event-stream': (items) =>
      streamReply(200, toEvents(items as AsyncIterable<object>, eventBytes), 'text/event-stream'),
  };
}

/**
 * Returns the headers of a page that shows a mail. The mail may be hostile, so the page never runs a script. If the
 * page has its own tab, its links may open new tabs, which cannot reach this one. If it is in a frame of the inspector, it has the origin of the
 * inspector, because the inspector reads its height.
 */
function headersOfMailPage({ headers }: ApiRequest) {
  const isFramed = headers.get('sec-fetch-dest') === 'iframe';
  const permissions = isFramed ? 'allow-same-origin' : 'allow-popups allow-popups-to-escape-sandbox';
  return {
    'content-security-policy':
      "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; " +
      `frame-ancestors 'self'; sandbox ${permissions}`,
    ...HOSTILE_CONTENT_HEADERS,
    // Without this header, a browser looks up the hosts of links in the DNS.
    'x-dns-prefetch-control': 'off',
    'cache-control': 'no-store',
  };
}

/** Writes JSON: a value that is not very large as one text, and any other piece by piece as the client takes it. */
async function writeJson(value: unknown, { inSlices }: ApiRequest): Promise<AnyReply> {
  const body = new JsonBody(value);
  const work = body.textIfShort();
  const text = inSlices ? await inSlices(work) : finish(work);
  if (text !== undefined) return textReply(200, text, 'application/json');
  return { status: 200, headers: { 'content-type': 'application/json', 'cache-control': 'no-store' }, body };
}

/** Sends a file so that a browser saves it, and never shows it as a page of this origin. */
function writeFile({ filename, content }: { readonly filename: string; readonly content: Uint8Array }): AnyReply {
  return bytesReply(200, content, {
    'content-type': 'application/octet-stream',
    'content-disposition': `attachment; ${filenameParameters(filename)}`,
    ...HOSTILE_FILE_HEADERS,
  });
}

function withHeaders(reply: AnyReply, headers: Readonly<Record<string, string>>): AnyReply {
  return { ...reply, headers: { ...reply.headers, ...headers } };
}

/**
 * Writes each item as the data of an event (HTML standard, "Server-sent events"). The `id` of an item becomes the id of
 * the event. The function is not a generator, because the `return()` of a generator would wait for the next item.
 */
function toEvents(
  items: AsyncIterable<object>,
  eventBytes: WeakMap<object, Uint8Array<ArrayBuffer>>,
): AsyncIterable<Uint8Array<ArrayBuffer>> {
  const iterator = items[Symbol.asyncIterator]();
  const toBytes = (item: object) => {
    const bytes = eventBytes.get(item) ?? new TextEncoder().encode(toEvent(item));
    eventBytes.set(item, bytes);
    return bytes;
  };
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        const { done, value } = await iterator.next();
        return done ? { done, value: undefined } : { value: toBytes(value) };
      },
      async return() {
        await iterator.return?.();
        return { done: true, value: undefined };
      },
    }),
  };
}

function toEvent(item: object): string {
  const id = 'id' in item ? `id: ${item.id}\n` : '';
  return `${id}data: ${JSON.stringify(item)}\n\n`;
}
