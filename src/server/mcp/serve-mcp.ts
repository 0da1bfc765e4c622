import { isLongJson } from '../../basics/json-pieces.ts';
import { createSilentReader } from '../../contract/behaviours.ts';
import { ApiError } from '../../contract/errors.ts';
import { OPERATION_ROWS } from '../../contract/operations.ts';
import { createControlClient } from '../../control/table/client.ts';
import { CONTROL_PATH } from '../../control/table/control-path.ts';
import { createFetch } from '../../mailbox/fetch.ts';
import type { MailboxInternals } from '../../mailbox/mailbox.ts';
import { findPrincipal, findSender, type Principal, requireKey } from '../../service/access/principal.ts';
import { type ApiRequest, type ApiResult, Exchange } from '../../service/pipeline/exchange.ts';
import { readBody } from '../../service/pipeline/parse-input.ts';
import { finishExchange } from '../../service/pipeline/record-exchange.ts';
import { JsonBody, jsonReply } from '../../service/pipeline/reply.ts';
import type { Service } from '../../service/pipeline/service.ts';
import { offerControl } from './control-tools.ts';
import { offerOperations } from './operation-tools.ts';
import { answerMessage, type Offer, type RefusedMessage } from './protocol.ts';

/**
 * Serves the operations that the key of a request may call, as tools of the Model Context Protocol.
 *
 * @throws {ApiError} as `findPrincipal` does, and for a request that is not a message.
 */
export async function serveOperations(internals: MailboxInternals, request: ApiRequest): Promise<ApiResult> {
  const { service } = internals;
  const sender = findSender(service, request);
  const endCall = service.openCalls.begin(sender);
  try {
    const key = requireKey(sender, request, createSilentReader(service.behaviours).readBehaviour);
    return await serve(request, offerToKey(internals, request, key));
  } catch (error) {
    // A client asks by GET whether there is a stream of messages, and by DELETE ends a session; both expect the refusal.
    if (error instanceof ApiError && error.code !== 'METHOD_NOT_ALLOWED') {
      const refusal = { status: error.status, reason: error.message, sent: '' };
      recordRefusedMessage(service, request, refusal, undefined, error);
    }
    throw error;
  } finally {
    endCall();
  }
}

/**
 * Adds a refused message to the journal, as a request for the operation of its tool, because the reply may have the
 * status 200 and no request of the API is made.
 */
function recordRefusedMessage(
  service: Service,
  { method, path, query, headers, epoch }: ApiRequest,
  { status, reason, tool, sent }: RefusedMessage,
  principal: Principal | undefined,
  error?: ApiError,
): void {
  const exchange = new Exchange(service, { method, path, query, headers, body: null, epoch, via: 'mcp' });
  exchange.row = OPERATION_ROWS.find(({ id }) => id === tool);
  exchange.principal = principal;
  exchange.received = sent === '' ? 'empty' : new TextEncoder().encode(sent);
  exchange.refusal = reason;
  exchange.error = error;
  finishExchange(service, exchange, { status, headers: {}, body: reason });
}

/**
 * Serves control calls as tools of the Model Context Protocol. With `?as=<address>`, serves the operations that the key
 * of this inbox may call instead.
 *
 * @throws {ApiError} for an address without an inbox, and for a request that is not a message.
 */
export async function serveControl(
  internals: MailboxInternals,
  control: (request: ApiRequest) => Promise<ApiResult>,
  request: ApiRequest,
): Promise<ApiResult> {
  const address = request.query.get('as');
  if (address !== null) return serve(request, offerToKey(internals, request, keyOfInbox(internals, address)));
  const url = `http://${request.headers.get('host') ?? 'localhost'}`;
  const fetch = createFetch(control);
  const send = (target: string, init: RequestInit) => fetch(new Request(target, init));
  return serve(
    request,
    offerControl(url, createControlClient({ control: url + CONTROL_PATH, send }), internals.service.worlds.mask),
  );
}

function offerToKey({ service, handle }: MailboxInternals, request: ApiRequest, key: string): Offer {
  const { query, inSlices } = request;
  const principal = findPrincipal(service.worlds, key);
  return offerOperations({
    service,
    handle,
    inSlices,
    key,
    principal,
    hasAllTools: query.get('tools') === 'all',
    onRefused: (refusal) => recordRefusedMessage(service, request, refusal, principal),
  });
}

/** Returns a key of the inbox with this address. */
function keyOfInbox({ service }: MailboxInternals, address: string): string {
  const found = service.worlds.findAddress(address);
  const key = found?.world.apiKeys.by('ownerId', found.inboxId)[0]?.key;
  if (key !== undefined) return key;
  const problem = found ? 'has no API key' : 'does not exist';
  throw new ApiError('NOT_FOUND', `The inbox ${JSON.stringify(address.slice(0, 100))} ${problem}.`);
}

async function serve(request: ApiRequest, offer: Offer): Promise<ApiResult> {
  if (request.method !== 'POST') {
    const problem = `${request.method} is not supported for this path; use POST.`;
    throw new ApiError('METHOD_NOT_ALLOWED', problem, { headers: { allow: 'POST' } });
  }
  const body = await readBody(request);
  if (body === 'too-large') throw new ApiError('PAYLOAD_TOO_LARGE', 'The message is too large.');
  const text = typeof body === 'string' ? '' : new TextDecoder().decode(body);
  const { status, reply } = await answerMessage(text, offer);
  if (!isLongJson(reply)) return { reply: jsonReply(status, reply) };
  return { reply: { status, headers: { 'content-type': 'application/json' }, body: new JsonBody(reply) } };
}
