import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { parseForeignJson } from '../basics/foreign-json.ts';
import { isNestedDeeper, MAX_JSON_DEPTH } from '../basics/json-depth.ts';
import type { BehaviourOptions } from '../contract/behaviours.ts';
import { type ControlClient, createControlClient } from '../control/table/client.ts';
import { CONTROL_PATH } from '../control/table/control-path.ts';
import { type MailboxServer, startServer } from '../server/index.ts';
import {
  ConnectionError,
  type HookReceiver,
  NoReplyError,
  pause,
  type ReceivedCall,
  type Reply,
  type RunTime,
  stopErrorOf,
  type Target,
  VerifyError,
} from './verify-session.ts';

/** The limits for the requests of a run, for the time of one request, and for what the server sends. */
const LIMITS = {
  requests: 30_000,
  timeoutMs: 10_000,
  replyBytes: 4 * 1024 * 1024,
  deliveryBytes: 4 * 1024 * 1024,
  deliveriesOfWebhook: 1000,
};

/**
 * Starts a receiver of deliveries on loopback. Each webhook calls its own path. `publicUrl` is the URL at which the
 * server reaches the receiver, if it is not the URL on loopback.
 */
export async function startReceiver(port: number, publicUrl?: string) {
  const receivers = new Map<string, { calls: ReceivedCall[]; answers: HookReceiver['answers'] }>();
  const server = createServer(async (request, response) => {
    const startMs = performance.now();
    const receiver = receivers.get(request.url?.split('/').at(-1) ?? '');
    if (!receiver) return void response.writeHead(404).end();
    const body = await readDelivery(request).catch(() => undefined);
    if (body === undefined) return void response.destroy();
    if (receiver.calls.length >= LIMITS.deliveriesOfWebhook) return void response.writeHead(429).end();
    const release = () => void response.end();
    const call: ReceivedCall = { headers: request.headers, body, startMs, release };
    response.on('close', () => {
      call.endMs = performance.now();
    });
    receiver.calls.push(call);
    answerCall(response, receiver.answers.shift() ?? 200);
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const createFactory =
    (base: string, prefix: string) =>
    (name: string): HookReceiver => {
      const receiver = { calls: [], answers: [] };
      receivers.set(`${prefix}-${name}`, receiver);
      return { url: `${base}/${prefix}-${name}`, ...receiver };
    };
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  const forEmulator = (prefix: string) => createFactory(url, prefix);
  return { forEmulator, forServer: createFactory(publicUrl ?? url, 'server'), close };
}

/** Reads the body of a delivery. @throws {VerifyError} if it is too large. */
async function readDelivery(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > LIMITS.deliveryBytes) throw new VerifyError(`a delivery was larger than ${LIMITS.deliveryBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function answerCall(response: ServerResponse, answer: HookReceiver['answers'][number]): void {
  if (answer === 'hang') return;
  const { status, headers } = typeof answer === 'number' ? { status: answer, headers: {} } : answer;
  response.writeHead(status, headers).end();
}

/** Sends a request over HTTP, and limits the time and the size of the reply. */
async function send(
  url: string,
  init: RequestInit,
  { signal, timeoutMs = LIMITS.timeoutMs }: { signal?: AbortSignal | undefined; timeoutMs?: number | undefined } = {},
): Promise<Reply> {
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const limitSignal = signal ? AbortSignal.any([signal, timeout]) : timeout;
    const response = await fetch(url, { ...init, signal: limitSignal });
    const reply = createReply(response, await readText(response));
    if (!isNestedDeeper(reply.body)) return reply;
    const request = `${init.method} ${new URL(url).pathname}`;
    throw new VerifyError(`${request} was answered with JSON that is nested more than ${MAX_JSON_DEPTH} levels deep`);
  } catch (error) {
    if (signal?.aborted) throw stopErrorOf(signal);
    if (error instanceof VerifyError) throw error;
    const { pathname } = new URL(url);
    if (timeout.aborted)
      throw new NoReplyError(`${init.method} ${pathname} was not answered within ${timeoutMs / 1000} s`);
    const { cause } = error as { cause?: { code?: string; message?: string } };
    throw new ConnectionError(`${init.method} ${pathname} failed: ${cause?.code || cause?.message || 'no connection'}`);
  }
}

/** Returns a signal that ends a run after a time, and how much of this time has passed. `clear` stops the timer. */
export function createRunTimeout(ms: number) {
  const startMs = performance.now();
  const controller = new AbortController();
  const reason = `the time of the run, ${ms / 1000} s, has passed`;
  const ended = new VerifyError(reason, { endsRun: true, flag: 'a longer --timeout' });
  const timer = setTimeout(() => controller.abort(ended), ms);
  const time: RunTime = { limitMs: ms, elapsedMs: () => performance.now() - startMs };
  return { signal: controller.signal, time, clear: () => clearTimeout(timer) };
}

function createReply({ status, headers }: Response, text: string): Reply {
  return { status, headers, text, body: parseJson(text) };
}

async function readText({ body }: Response): Promise<string> {
  // A byte order mark is a part of what is compared.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let text = '';
  for await (const chunk of (body ?? []) as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > LIMITS.replyBytes) throw new VerifyError(`a reply was larger than ${LIMITS.replyBytes} bytes`);
  }
  return text + decoder.decode();
}

/** Parses a body. If it is `null` or not JSON, returns an empty object, so that its fields can be read. */
export function parseJson(text: string): unknown {
  try {
    return parseForeignJson(text.replace(/^\uFEFF/, '')) ?? {};
  } catch {
    // An experiment on a body that is not JSON reads `text`.
    return {};
  }
}

/** The settings of the server, which come from the flags of `verify`. */
export interface ServerOptions extends Omit<Target, 'send' | 'advance' | 'deliver'> {
  /** The highest number of requests in a second. */
  readonly rate?: number | undefined;
  readonly signal: AbortSignal;
}

/**
 * Returns a function that waits until the next request may be sent. After the last allowed request of a run, it allows
 * only those that clean up, because the run must still delete what it has created.
 */
function limitRequests(rate = Number.POSITIVE_INFINITY) {
  let [count, nextMs] = [0, 0];
  return async (isCleanup: boolean) => {
    count += 1;
    if (count > LIMITS.requests && !isCleanup)
      throw new VerifyError(`a run sends at most ${LIMITS.requests} requests`, { endsRun: true });
    const now = performance.now();
    const waitMs = nextMs - now;
    nextMs = Math.max(nextMs, now) + 1000 / rate;
    if (waitMs > 0) await sleep(waitMs);
  };
}

/** Creates the target for the server. If the server is an emulator, control calls move its clock and deliver mail. */
export async function createServerTarget(options: ServerOptions): Promise<Target> {
  const { baseUrl, rate, signal } = options;
  const waitForTurn = limitRequests(rate);
  const sendInTurn: Target['send'] = async (url, init, purpose) => {
    const isCleanup = purpose === 'clean up';
    await waitForTurn(isCleanup);
    if (!isCleanup && signal.aborted) throw stopErrorOf(signal);
    const isWhole = isCleanup || purpose === 'create';
    return await send(url, init, { timeoutMs: options.requestTimeoutMs, signal: isWhole ? undefined : signal });
  };
  const client = await findControlClient(baseUrl);
  const moveClock = client && (async (ms: number) => void (await client.changeClock({ advance: ms })));
  const wait = (ms: number) => pause(ms, signal);
  const advance = moveClock ?? (options.mayWait ? wait : undefined);
  const deliver: Target['deliver'] = client && (async (mail) => void (await client.receiveMessage(mail as never)));
  return { ...options, send: sendInTurn, advance, deliver };
}

/** Returns a control client if the server is an emulator; otherwise `undefined`. */
async function findControlClient(baseUrl: string): Promise<ControlClient | undefined> {
  const control = baseUrl + CONTROL_PATH;
  const health = await send(`${control}/health`, { method: 'GET', redirect: 'manual' }).catch(() => undefined);
  return health?.body?.status === 'ok' && health.body.version ? createControlClient({ control }) : undefined;
}

/** Returns a function that sends requests to an emulator in this process, without a connection. */
export function sendInProcess({ fetch }: Pick<MailboxServer['mailbox'], 'fetch'>): Target['send'] {
  return async (url, init) => {
    // This lets Node handle deliveries that have arrived. Otherwise, their measured times would be too late.
    await setImmediate();
    const response = await fetch(new Request(url, init));
    return createReply(response, await response.text());
  };
}

/**
 * Starts an emulator with some values of behaviours, and returns it as a target. `restore` restores the state of the
 * emulator at the time of `save`, and sets other values of behaviours.
 */
export async function startEmulator(behaviours: BehaviourOptions, createReceiver: Target['createReceiver']) {
  const { mailbox, url, close } = await startServer({ port: 0, behaviours, journalSize: 0, loopLimit: 1000 });
  const target: Target = {
    baseUrl: url,
    key: mailbox.keys.acme.tenant,
    secondKey: mailbox.keys.globex.tenant,
    operatorKey: mailbox.keys.operator,
    send: sendInProcess(mailbox),
    createReceiver,
    mayWait: true,
    advance: async (ms) => void (await mailbox.clock.advance(ms)),
    deliver: async (mail) => void (await mailbox.receiveMessage(mail as never)),
  };
  const save = () => mailbox.checkpoint('saved');
  const restore = (values: BehaviourOptions) => {
    mailbox.restore('saved');
    mailbox.changeBehaviours(values);
  };
  return { target, save, restore, close };
}
