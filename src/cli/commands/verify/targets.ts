import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import type { BehaviourOptions } from '../../../contract/behaviours.ts';
import { type ControlClient, createControlClient } from '../../../control/table/client.ts';
import { CONTROL_PATH } from '../../../control/table/control-path.ts';
import { type MailboxServer, startServer } from '../../../server/index.ts';
import { type Answer, CannotTellError, type HookReceiver, type ReceivedCall, type Target } from './verify-session.ts';

/** The limits of a run: requests in all, the time of one, and the size of a reply. */
const LIMITS = { requests: 5000, ms: 15_000, bytes: 4 * 1024 * 1024 };

/** Receives deliveries on loopback, each webhook at a path of its own. */
export async function startReceiver(port: number, publicUrl?: string) {
  const receivers = new Map<string, { calls: ReceivedCall[]; answers: HookReceiver['answers'] }>();
  const server = createServer(async (request, response) => {
    const startMs = performance.now();
    const body = await buffer(request.on('error', () => {})).catch(() => undefined);
    const receiver = receivers.get(request.url?.split('/').at(-1) ?? '');
    if (body === undefined || !receiver) return void response.writeHead(404).end();
    const release = () => void response.end();
    const call: ReceivedCall = { headers: request.headers, body: body.toString(), startMs, release };
    response.on('close', () => {
      call.endMs = performance.now();
    });
    receiver.calls.push(call);
    answerCall(response, receiver.answers.shift() ?? 200);
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const receiveAt =
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
  return { local: (prefix: string) => receiveAt(url, prefix), remote: receiveAt(publicUrl ?? url, 'server'), close };
}

function answerCall(response: ServerResponse, answer: HookReceiver['answers'][number]): void {
  if (answer === 'hang') return;
  const { status, headers } = typeof answer === 'number' ? { status: answer, headers: {} } : answer;
  response.writeHead(status, headers).end();
}

/** Sends a request over HTTP, with a limit of time and size. */
async function send(url: string, init: RequestInit, signal?: AbortSignal): Promise<Answer> {
  const timeout = AbortSignal.timeout(LIMITS.ms);
  try {
    return await readAnswer(
      await fetch(url, { ...init, signal: signal ? AbortSignal.any([signal, timeout]) : timeout }),
    );
  } catch (error) {
    if (error instanceof CannotTellError) throw error;
    if (signal?.aborted) throw new CannotTellError('the run was stopped');
    const { pathname } = new URL(url);
    if (timeout.aborted)
      throw new CannotTellError(`${init.method} ${pathname} was not answered within ${LIMITS.ms / 1000} s`);
    const { cause } = error as { cause?: { code?: string; message?: string } };
    throw new CannotTellError(`${init.method} ${pathname} failed: ${cause?.code || cause?.message || 'no connection'}`);
  }
}

/** Reads a whole reply. */
async function readAnswer(response: Response): Promise<Answer> {
  const text = await readText(response);
  return { status: response.status, headers: response.headers, text, body: parseJson(text) };
}

async function readText({ body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of (body ?? []) as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > LIMITS.bytes) throw new CannotTellError(`a reply was larger than ${LIMITS.bytes} bytes`);
  }
  return text + decoder.decode();
}

/** An object in every case, so that an experiment can read a field of it. */
function parseJson(text: string): unknown {
  try {
    return (JSON.parse(text) as unknown) ?? {};
  } catch {
    // What is no JSON is seen by its text.
    return {};
  }
}

/** What the flags of `verify` say of the server. */
interface RemoteOptions extends Omit<Target, 'send' | 'advance' | 'deliver'> {
  /** Requests in a second. */
  readonly rate?: number | undefined;
  readonly signal: AbortSignal;
}

/** Returns a function that waits until a request may begin; deleting is always allowed. */
function limitRequests(rate = Number.POSITIVE_INFINITY) {
  let [count, next] = [0, 0];
  return async (method: string | undefined) => {
    count += 1;
    if (count > LIMITS.requests && method !== 'DELETE') {
      throw new CannotTellError(`a run sends at most ${LIMITS.requests} requests`);
    }
    const now = performance.now();
    const wait = next - now;
    next = Math.max(next, now) + 1000 / rate;
    if (wait > 0) await sleep(wait);
  };
}

/** Returns the server as a target. If it is an emulator, its control calls move its clock and bring mail. */
export async function createRemote(options: RemoteOptions): Promise<Target> {
  const { baseUrl, rate, signal } = options;
  const mayBegin = limitRequests(rate);
  const limited: Target['send'] = async (url, init) => {
    const isCleanup = signal.aborted && init.method === 'DELETE';
    await mayBegin(init.method);
    return await send(url, init, isCleanup ? undefined : signal);
  };
  const client = await findControl(baseUrl);
  const moveClock = client && (async (ms: number) => void (await client.changeClock({ advance: ms })));
  const advance = moveClock ?? (options.isSlow ? sleep : undefined);
  const deliver: Target['deliver'] = client && (async (mail) => void (await client.receiveMessage(mail as never)));
  return { ...options, send: limited, advance, deliver };
}

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Returns the control client of an emulator; `undefined` if the server is none. */
async function findControl(baseUrl: string): Promise<ControlClient | undefined> {
  const control = baseUrl + CONTROL_PATH;
  const health = await send(`${control}/health`, { method: 'GET', redirect: 'manual' }).catch(() => undefined);
  return health?.body?.status === 'ok' && health.body.version ? createControlClient({ control }) : undefined;
}

/** Sends requests to an emulator of this process, which needs no connection for them. */
export function sendInProcess({ fetch }: Pick<MailboxServer['mailbox'], 'fetch'>): Target['send'] {
  return async (url, init) => {
    // Otherwise a run would keep the process from noticing the deliveries, whose times it measures.
    await setImmediate();
    return await readAnswer(await fetch(new Request(url, init)));
  };
}

/** Starts an emulator with some values of behaviours, as a target. */
export async function startReference(behaviours: BehaviourOptions, receive: NonNullable<Target['receive']>) {
  const { mailbox, url, close } = await startServer({ port: 0, behaviours, journalSize: 0, loopLimit: 1000 });
  const target: Target = {
    baseUrl: url,
    key: mailbox.keys.acme.tenant,
    secondKey: mailbox.keys.globex.tenant,
    operatorKey: mailbox.keys.operator,
    send: sendInProcess(mailbox),
    receive,
    isSlow: true,
    advance: async (ms) => void (await mailbox.clock.advance(ms)),
    deliver: async (mail) => void (await mailbox.receiveMessage(mail as never)),
  };
  return { target, close };
}
