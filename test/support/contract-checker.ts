import type { Mailbox, OpenApiDocument } from 'agent-mailbox-mock';
import type { TaskMeta } from 'vitest';
import { LENIENCIES, whyUncheckable } from './leniencies.ts';
import type { CheckingProxy, Exchange } from './prism.ts';
import type { CheckableDocument } from './prism-operations.ts';
import { type Reply, type SendOptions, send } from './send.ts';
import { withoutDescriptions } from './without-descriptions.ts';

declare module 'vitest' {
  interface TaskMeta {
    /** What the independent checker did in a test. */
    checked?: Checked;
  }
}

/** How many replies Prism checked, how many requests it refused, and why the emulator took some of these. */
export interface Checked {
  replies: number;
  refusals: number;
  leniencies: string[];
}

/** A server under test, with the document that it claims to keep. */
export interface Target {
  readonly url: string;
  readonly behaviours: Mailbox['behaviours'];
  readonly document: CheckableDocument;
}

/** A request to a target. */
export interface CheckedRequest {
  readonly method: string;
  readonly path: string;
  readonly options: SendOptions;
}

/** Returns whether the tests over HTTP go through the independent checker: `npm run test:all -- contract`. */
export function isChecked(): boolean {
  return process.env.MAILBOX_CONTRACT === 'prism';
}

const documents = new Map<string, OpenApiDocument>();

/** Describes a server by the document of the moment; those of the same behaviours share one. */
export function targetOf({ mailbox, url }: { readonly mailbox: Mailbox; readonly url: string }): Target {
  const { behaviours } = mailbox;
  return {
    url,
    behaviours,
    get document() {
      const key = JSON.stringify(behaviours);
      const document = documents.get(key) ?? mailbox.openApi();
      documents.set(key, document);
      return document;
    },
  };
}

const proxies = new Map<string, Promise<CheckingProxy>>();
const proxyByDocument = new WeakMap<object, Promise<CheckingProxy>>();

/** Starting one takes a while, so documents that differ only in their texts for people share it. */
function proxyFor(document: CheckableDocument): Promise<CheckingProxy> {
  const known = proxyByDocument.get(document);
  if (known) return known;
  const shape = withoutDescriptions(document);
  const proxy = proxies.get(shape) ?? loadAndStart(document);
  proxies.set(shape, proxy);
  proxyByDocument.set(document, proxy);
  return proxy;
}

/** Loading Prism takes a second, which only a run that needs it should pay. */
async function loadAndStart(document: CheckableDocument): Promise<CheckingProxy> {
  const { startProxy } = await import('./prism.ts');
  return startProxy(withListedCodes(document));
}

/** The document allows codes that it does not list, for the sake of clients; the emulator itself must not use any. */
function withListedCodes(document: CheckableDocument): CheckableDocument {
  const responses = Object.entries(document.components?.responses ?? {}).map(([codes, response]) => {
    const code = { enum: codes.split('.') };
    const schema = { allOf: [{ $ref: '#/components/schemas/Error' }, { properties: { code } }] };
    return [codes, { ...response, content: { 'application/json': { schema } } }];
  });
  return { ...document, components: { ...document.components, responses: Object.fromEntries(responses) } };
}

/**
 * Sends a request through Prism and returns the reply of the server.
 *
 * @throws when the reply breaks the document, or the server takes a request that the document does not allow.
 */
export async function sendChecked(target: Target, request: CheckedRequest, meta: TaskMeta): Promise<Reply> {
  meta.checked ??= { replies: 0, refusals: 0, leniencies: [] };
  const { method, path, options } = request;
  const uncheckable = whyUncheckable(path);
  if (uncheckable) return sendRefused(target, request, uncheckable, meta.checked);
  const proxy = await proxyFor(target.document);
  const exchange: Exchange = { sendOn: () => send(target.url + path, method, options) };
  const headers = { ...options.headers, ...proxy.announce(exchange) };
  const verdict = await send(proxy.url + path, method, { ...options, headers });
  if (!exchange.reply) return sendRefused(target, request, verdict.text, meta.checked);
  meta.checked.replies += 1;
  return replyOf(exchange.reply, verdict, `${method} ${path}`);
}

/** Prism reports an undeclared error status in a header only; here that is a violation like any other. */
function replyOf(reply: Reply, verdict: Reply, line: string): Reply {
  const violations = verdict.headers.get('sl-violations');
  if (violations === null && verdict.status === reply.status) return reply;
  const what = violations ?? `Prism answered ${verdict.status} ${verdict.text}`;
  throw new Error(`${line} answered ${reply.status} ${reply.text}, which breaks the OpenAPI document: ${what}`);
}

/** What the document does not allow must not be taken either, so that it is no stricter than the emulator. */
async function sendRefused(
  { url, behaviours }: Target,
  request: CheckedRequest,
  verdict: string,
  checked: Checked,
): Promise<Reply> {
  checked.refusals += 1;
  const { method, path, options } = request;
  const reply = await send(url + path, method, options);
  if (reply.status >= 400) return reply;
  const leniency = LENIENCIES.find(({ applies }) => applies({ ...request, behaviours, verdict }));
  if (!leniency) throw new Error(`${method} ${path} answered ${reply.status}, but the document refuses it: ${verdict}`);
  checked.leniencies.push(leniency.reason);
  return reply;
}
