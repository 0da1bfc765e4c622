import { createMailbox, type Mailbox, type MailboxOptions } from 'agent-mailbox-mock';
import { startServer } from 'agent-mailbox-mock/server';
import { setupServer } from 'msw/node';
import { afterAll, beforeAll, test } from 'vitest';
import { checkReply } from './check-reply.ts';

/** What a behaviour's one test body works with, in whichever runtime it runs. */
export interface World {
  readonly mailbox: Mailbox;
  /** Where the service is: an intercepted URL in process, a loopback URL over HTTP. */
  readonly url: string;
  /** Sends a request to a path of the service, with a key if one is given, and checks the reply against the contract. */
  send(method: string, path: string, options?: SendOptions): Promise<Reply>;
}

/** What a request carries besides its method and path. */
export interface SendOptions {
  readonly key?: string;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is. */
  readonly body?: BodyInit;
  readonly headers?: Record<string, string>;
}

/** A reply with its body read. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; `undefined` where there is none. */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into replies of every shape, and schemas check them.
  readonly json: any;
}

export type Options = Omit<MailboxOptions, 'fixtures' | 'baseUrl'>;

type Body = (world: World) => Promise<void>;

const interceptor = setupServer();
let mailboxes = 0;

/** Registers one behaviour twice: once against intercepted requests, once against a real server. */
export function everywhere(title: string, body: Body): void;
export function everywhere(title: string, options: Options, body: Body): void;
export function everywhere(title: string, ...rest: [Body] | [Options, Body]): void {
  const [options, body] = rest.length === 1 ? [{}, rest[0]] : rest;
  test(`${title} (in process)`, () => inProcess(options, body));
  test(`${title} (http)`, () => overHttp(options, body));
}

async function inProcess(options: Options, body: Body): Promise<void> {
  mailboxes += 1;
  const mailbox = createMailbox({ ...options, baseUrl: `https://n${mailboxes}.mailbox.test` });
  interceptor.use(...mailbox.handlers);
  await body(createWorld(mailbox, mailbox.baseUrl));
}

async function overHttp(options: Options, body: Body): Promise<void> {
  await using server = await startServer({ ...options, port: 0 });
  await body(createWorld(server.mailbox, server.url));
}

/** Call once at the top of a test file that uses `everywhere`. */
export function interceptRequests(): void {
  beforeAll(() => interceptor.listen({ onUnhandledRequest: 'bypass' }));
  afterAll(() => interceptor.close());
}

function createWorld(mailbox: Mailbox, url: string): World {
  return {
    mailbox,
    url,
    async send(method, path, options = {}) {
      const reply = await send(url + path, method, options);
      checkReply(mailbox, method, path, reply);
      return reply;
    },
  };
}

/** Sends one request with the platform's own client. */
export async function send(url: string, method: string, { key, json, body, headers }: SendOptions): Promise<Reply> {
  const response = await fetch(url, {
    method,
    headers: {
      ...(key !== undefined && { 'X-API-Key': key }),
      ...(json !== undefined && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(json !== undefined && { body: JSON.stringify(json) }),
    ...(body !== undefined && { body, duplex: 'half' }),
  } as RequestInit);
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: text === '' ? undefined : JSON.parse(text) };
}
