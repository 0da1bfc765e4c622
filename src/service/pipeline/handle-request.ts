import { isAssumed } from '../../contract/behaviours.ts';
import { ApiError, createResetError } from '../../contract/errors.ts';
import { mayCall, tiersOf } from '../../contract/operation.ts';
import { OPERATION_ROWS, type OperationId, type OperationRow } from '../../contract/operations.ts';
import { STREAM_PATHS } from '../../contract/stream-protocol.ts';
import { TIER_PREFIX } from '../../contract/tiers.ts';
import { checkStreamAccess } from '../access/check-stream-access.ts';
import { findPrincipal, type Principal, requireKey } from '../access/principal.ts';
import type { Context, Input, Outcome } from '../operations/context.ts';
import { OPERATION_FUNCTIONS } from '../operations/index.ts';
import type { ApiRequest, FinishedExchange } from './exchange.ts';
import { Exchange, isOver, refuse } from './exchange.ts';
import { parseInput, readBody } from './parse-input.ts';
import { finishExchange } from './record-exchange.ts';
import type { ApiReply } from './reply.ts';
import { ASSUMED_HEADER, isCut, JsonBody, measureBody, optionsReply, outcomeReply, stripBodyForHead } from './reply.ts';
import { createRouter, findRow, routeNotFound } from './router.ts';
import { runWithFaults } from './run-with-faults.ts';
import type { Service } from './service.ts';

/**
 * The paths of the event streams, so that a plain HTTP request for a stream gets a clear error. WebSocket connections
 * do not come here: `server/http/stream-server.ts` and the msw stream handler handle them.
 */
const STREAM_ROWS = STREAM_PATHS.map((path) => ({ method: 'GET', path, isStream: true }) as const);

const router = createRouter<OperationRow | (typeof STREAM_ROWS)[number]>([...OPERATION_ROWS, ...STREAM_ROWS]);

/**
 * Handles one request and adds it to the journal. It never rejects: every failure becomes an error reply.
 */
export async function handleRequest(service: Service, request: ApiRequest): Promise<FinishedExchange> {
  const { worlds } = service;
  const exchange = new Exchange(service, request);
  const endCall = service.openCalls.begin(exchange.sender);
  let reply: ApiReply;
  try {
    reply = await findReply(service, exchange);
    if (reply.body instanceof JsonBody && request.inSlices) {
      reply = await measureBody(reply, reply.body, request.inSlices);
    }
  } catch (thrown) {
    reply = refuse(exchange, thrown, worlds.environment.report);
  }
  endCall();
  // The reply to a request that waited must not describe a state that a reset has replaced.
  if (isOver(worlds, exchange) && !isCut(reply)) {
    exchange.behavioursRead.clear();
    reply = refuse(exchange, createResetError(), worlds.environment.report);
  }
  // The reply lists the behaviours that were read, except those whose value the service document states.
  const assumed = [...exchange.behavioursRead].filter((id) => isAssumed(id, exchange.behaviours));
  if (assumed.length > 0) reply = { ...reply, headers: { ...reply.headers, [ASSUMED_HEADER]: assumed.join(', ') } };
  return finishExchange(service, exchange, stripBodyForHead(request.method, reply));
}

/** Takes the steps of a request in order. A step that throws ends the request. */
async function findReply(service: Service, exchange: Exchange): Promise<ApiReply> {
  const { worlds, faults } = service;
  const { request, readBehaviour } = exchange;

  // 1. Find the row of the table for the method and the path.
  const found = findOperation(service, exchange);
  if ('allow' in found) return optionsReply(found.allow);
  const { row, params } = found;
  if ('isStream' in row) {
    // A client that may not open the stream gets the 401, 403 or 404 error instead.
    checkStreamAccess({ worlds, readBehaviour }, request, exchange.sender);
    const message = 'This path is an event stream; connect to it with a WebSocket client.';
    throw new ApiError('UPGRADE_REQUIRED', message, { headers: { upgrade: 'websocket' } });
  }
  exchange.row = row;

  // 2. Read the body, before the check of the key, because the key may be rotated meanwhile. A request without a body waits
  // for nothing.
  exchange.received = request.body ? await readBody(request) : 'empty';

  // 3. Find the caller by its key, and check that its tier may call the operation. Everything from here on is
  // synchronous, so no reset and no other request can come between this check and the operation.
  authorise(service, exchange, row);
  if (isOver(worlds, exchange)) throw createResetError();

  const run = () => {
    // 4. Parse the path, the query and the body by the schemas of the row.
    const input = parseInput(row, params, exchange);
    // 5. Run the operation, and make a reply of its outcome.
    const outcome = runOperation(service, exchange, row.id, input);
    exchange.shown = outcome.body;
    // In slices, the body is written later; after a reset, its texts are in memory only for this reply.
    return outcomeReply(row.status, outcome, request.inSlices && (() => isOver(worlds, exchange)));
  };
  return faults.isEmpty ? run() : runWithFaults(service, exchange, run);
}

function findOperation(service: Service, exchange: Exchange) {
  try {
    return findRow(router, exchange.request, exchange);
  } catch (error) {
    // With a valid key, the order of the checks does not show in the reply, so this behaviour is not read, and
    // `X-Mock-Assumed` does not name it. Without one, an error of the key may come first.
    const { principal, hasTwoKeys } = exchange.sender;
    const isRefused = !principal || (hasTwoKeys && exchange.readBehaviour('auth.both-headers') === 'refuse');
    if (isRefused && exchange.readBehaviour('requests.check-order') === 'key-first') authenticate(service, exchange);
    throw error;
  }
}

/**
 * Finds the principal and checks that its tier may call this operation. Does nothing for a public operation.
 *
 * @throws {ApiError} UNAUTHORIZED as `authenticate` does; for a wrong tier FORBIDDEN or NOT_FOUND, by
 *   `auth.wrong-tier`.
 */
function authorise(service: Service, exchange: Exchange, row: OperationRow): void {
  if (row.tiers === 'public') return;
  const { tier } = authenticate(service, exchange);
  if (mayCall(row, tier, exchange.readBehaviour)) return;
  const allowed = tiersOf(row, exchange.readBehaviour).map((each) => TIER_PREFIX[each]);
  const message = `This ${TIER_PREFIX[tier]} key may not call ${row.method} ${row.path}; use a ${allowed.join(' or ')} key.`;
  throw exchange.readBehaviour('auth.wrong-tier') === 'not-found'
    ? routeNotFound(exchange.request.path, '', message)
    : new ApiError('FORBIDDEN', message);
}

/**
 * Finds the principal of a request, that is, the caller that its key identifies, and stores it in the exchange. The key
 * may have been rotated while the body arrived.
 *
 * @throws {ApiError} UNAUTHORIZED when the key is missing or invalid.
 */
function authenticate({ worlds }: Service, exchange: Exchange): Principal {
  const key = requireKey(exchange.sender, exchange.request, exchange.readBehaviour);
  const principal = findPrincipal(worlds, key);
  exchange.principal = principal;
  return principal;
}

/** Runs the function of an operation. What it causes has the request as its cause in the journal. */
function runOperation(
  { worlds, journals, loops, correspondents }: Service,
  { request, principal, readBehaviour, epoch, cause, caused, shortenedIds }: Exchange,
  id: OperationId,
  input: unknown,
): Outcome {
  const world = principal?.world;
  const context = {
    principal,
    world,
    worlds: world ? worlds.reachableFrom(world) : worlds,
    journals,
    loops,
    correspondents,
    source: 'request' as const,
    epoch,
    readBehaviour,
    maxBodiesLength: request.maxBodiesLength,
    shortenedIds,
  };
  // `OPERATION_FUNCTIONS` is typed so that each function takes the input of its own operation. TypeScript loses this
  // link when `id` is a union.
  const run = OPERATION_FUNCTIONS[id] as (context: Context, input: Input<never>) => Outcome;
  return journals.runFor(id, cause, caused, () => run(context as Context, input as never));
}
