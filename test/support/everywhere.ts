import { createMailbox, type Mailbox, type MailboxOptions } from 'agent-mailbox-mock';
import { type MailboxServer, startServer } from 'agent-mailbox-mock/server';
import { http, type RequestHandler } from 'msw';
import { setupServer } from 'msw/node';
import { afterAll, beforeAll, type TestContext, test } from 'vitest';
import { checkReply } from './check-reply.ts';
import { isChecked, sendChecked, targetOf } from './contract-checker.ts';
import { noteSuccess } from './operation-coverage.ts';
import { PATIENCE_MS } from './patience.ts';
import { type Reply, type SendOptions, send } from './send.ts';

export { type Reply, type SendOptions, send } from './send.ts';

/** What `everywhere()` passes to a test body: the mailbox in one runtime. */
export interface Service {
  readonly mailbox: Mailbox;
  /** Where the service is: an intercepted URL in process, a loopback URL over HTTP. */
  readonly url: string;
  /** Sends a request to a path of the service, with a key if one is given, and checks the reply against the contract. */
  send(method: string, path: string, options?: SendOptions): Promise<Reply>;
}

export type Options = Omit<MailboxOptions, 'fixtures' | 'baseUrl'>;

type Body = (service: Service) => Promise<void>;

const interceptor = setupServer();

/** The mailboxes of the tests that run: msw asks the handlers of every one for every request. */
const mailboxes = new Set<Mailbox>();
let created = 0;

/** Whether the tests run in the environment of a page, such as jsdom, which cannot start a server. */
const isInPage = 'window' in globalThis;

/** Registers one behaviour twice: once against intercepted requests, once against a real server; in a page only once. */
export function everywhere(title: string, body: Body): void;
export function everywhere(title: string, options: Options, body: Body): void;
export function everywhere(title: string, ...rest: [Body] | [Options, Body]): void {
  const [options, body] = rest.length === 1 ? [{}, rest[0]] : rest;
  test(`${title} (in process)`, ({ task }) => inProcess(task, options, body));
  if (!isInPage) test(`${title} (http)`, ({ task }) => overHttp(task, options, body));
}

type Task = TestContext['task'];

async function inProcess(task: Task, options: Options, body: Body): Promise<void> {
  created += 1;
  const mailbox = createMailbox({ ...options, baseUrl: `https://n${created}.mailbox.test` });
  mailboxes.add(mailbox);
  updateInterceptedHandlers();
  try {
    await body(createService(task, mailbox, mailbox.baseUrl, sendDirectly(mailbox.baseUrl)));
  } finally {
    mailboxes.delete(mailbox);
    updateInterceptedHandlers();
  }
}

/** Lets msw ask the handlers of the mailboxes whose tests run now. */
function updateInterceptedHandlers(): void {
  const { stackTraceLimit } = Error;
  // msw reads the stack at which each handler was created, and Vitest takes a millisecond to write one.
  Error.stackTraceLimit = 0;
  try {
    interceptor.resetHandlers(...[...mailboxes].flatMap(({ handlers }) => handlers));
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

async function overHttp(task: Task, options: Options, body: Body): Promise<void> {
  await using server = await startServer({ ...options, port: 0, ...(isByMsw && { handlers: mailboxAsHandler }) });
  const { mailbox, url } = server;
  await body(createService(task, mailbox, url, isChecked() ? sendThroughPrism(task, server) : sendDirectly(url)));
}

/**
 * Whether the tests over HTTP take the way of the handlers that a user brings, through express and msw, instead of the
 * short one: the handler is then the mailbox itself.
 */
const isByMsw = process.env.MAILBOX_HTTP_PATH === 'msw';

/** A whole mailbox as one handler that a user brings to a server. */
export function mailboxAsHandler({ fetch }: Mailbox): RequestHandler[] {
  return [http.all(/^/, ({ request }) => fetch(request))];
}

type Send = Service['send'];

function sendDirectly(url: string): Send {
  return (method, path, options = {}) => send(url + path, method, options);
}

function sendThroughPrism({ meta }: Task, server: MailboxServer): Send {
  const target = targetOf(server);
  return (method, path, options = {}) => sendChecked(target, { method, path, options }, meta);
}

let listeners = 0;

/** Whether a worker never stops intercepting: if msw is started again, each WebSocket is intercepted twice. */
const isForAllFiles = process.env.MAILBOX_INTERCEPTION === 'for all files';

/**
 * Call once at the top of a test file that uses `everywhere`; one file may import another that has called it.
 */
export function interceptRequests(): void {
  if (isChecked()) return;
  beforeAll(() => {
    if (listeners === 0) interceptor.listen({ onUnhandledRequest: 'bypass' });
    listeners += 1;
  });
  afterAll(() => {
    if (!isForAllFiles) listeners -= 1;
    if (listeners === 0) interceptor.close();
  });
}

function createService(task: Task, mailbox: Mailbox, url: string, sendTo: Send): Service {
  return {
    mailbox: withPatience(mailbox),
    url,
    async send(method, path, options) {
      const reply = await sendTo(method, path, options);
      noteSuccess(task.meta, checkReply(mailbox, method, path, reply));
      return reply;
    },
  };
}

/** A mailbox whose `settled` waits longer by default, for when other tests keep this machine busy. */
function withPatience(mailbox: Mailbox): Mailbox {
  const settled: Mailbox['settled'] = (options) => mailbox.settled({ timeout: PATIENCE_MS, ...options });
  return Object.defineProperty(Object.create(mailbox), 'settled', { value: settled, enumerable: true });
}
