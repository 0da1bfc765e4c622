import { createSilentReader, type ReadBehaviour } from '../../contract/behaviours.ts';
import { ApiError, createResetError } from '../../contract/errors.ts';
import { OPERATION_ROWS, type OperationId, type OperationRow } from '../../contract/operations.ts';
import { STREAM_PATHS } from '../../contract/stream-protocol.ts';
import { TIER_PREFIX } from '../../contract/tiers.ts';
import { checkStreamAccess } from '../access/check-stream-access.ts';
import { assumptionsOfKey, findPrincipal, type Principal, principalOf, readKey, sentKey } from '../access/principal.ts';
import type { Context, Input, Outcome } from '../operations/context.ts';
import { OPERATION_FUNCTIONS } from '../operations/index.ts';
import type { ApiRequest, FinishedExchange } from './exchange.ts';
import { Exchange, isOver, refuse } from './exchange.ts';
import { parseInput, readBody } from './parse-input.ts';
import { finishExchange } from './record-exchange.ts';
import type { ApiReply } from './reply.ts';
import { ASSUMED_HEADER, isCut, JsonBody, measureBody, optionsReply, outcomeReply, stripBodyForHead } from './reply.ts';
import type { ResolvedOperation } from './resolve-operation.ts';
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
  const endCall = service.openCalls.begin(request);
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
    exchange.usedBehaviours.clear();
    reply = refuse(exchange, createResetError(), worlds.environment.report);
  }
  // The reply lists the behaviours that it depends on, except those whose value the service document states.
  const used = [...exchange.usedBehaviours].filter((id) => service.assumed.has(id));
  if (used.length > 0) reply = { ...reply, headers: { ...reply.headers, [ASSUMED_HEADER]: used.join(', ') } };
  return finishExchange(service, exchange, stripBodyForHead(request.method, reply));
}

/** Takes the steps of a request in order. A step that throws ends the request. */
async function findReply(service: Service, exchange: Exchange): Promise<ApiReply> {
  const { worlds, faults } = service;
  const { request, readBehaviour, assume } = exchange;

  // 1. Find the row of the table for the method and the path.
  const found = findOperation(service, exchange);
  if ('allow' in found) return optionsReply(found.allow);
  const { row, params } = found;
  if ('isStream' in row) {
    // A client that may not open the stream gets the 401, 403 or 404 error instead.
    checkStreamAccess({ worlds, readBehaviour }, request);
    const message = 'This path is an event stream; connect to it with a WebSocket client.';
    throw new ApiError('UPGRADE_REQUIRED', message, { headers: { upgrade: 'websocket' } });
  }
  exchange.row = row;

  // 2. Read the body, while the key that was sent may still be rotated.
  exchange.received = 'empty';
  if (request.body) {
    exchange.sender = principalOf(worlds, sentKey(request.headers) ?? '')?.world;
    exchange.received = await readBody(request);
  }

  // 3. Find the caller by its key, and check that its tier may call the operation. Everything from here on is
  // synchronous, so no reset and no other request can come between this check and the operation.
  const operation = service.operationFor(row.id);
  authorise(service, exchange, row, operation);
  if (isOver(worlds, exchange)) throw createResetError();

  const run = () => {
    // 4. Parse the path, the query and the body by the schemas of the row.
    const input = parseInput(operation, params, exchange);
    // 5. Run the operation, and make a reply of its outcome.
    const outcome = runOperation(service, exchange, row.id, input);
    operation.replyAssumptions.forEach(assume);
    exchange.shown = outcome.body;
    return outcomeReply(row.status, outcome, request.inSlices && (() => isOver(worlds, exchange)));
  };
  return faults.isEmpty ? run() : runWithFaults(service, exchange, run);
}

function findOperation(service: Service, exchange: Exchange) {
  const { request } = exchange;
  try {
    return findRow(router, request, exchange);
  } catch (error) {
    // With `key-first`, an error of the key replaces an error of the path. With a valid key, the order does not matter,
    // and then no behaviour may be recorded.
    const { readBehaviour } = createSilentReader(service.behaviours);
    if (hasValidKey(service, exchange, readBehaviour)) throw error;
    if (exchange.readBehaviour('requests.check-order') === 'key-first') authenticate(service, exchange);
    throw error;
  }
}

/** Returns whether a request has a valid key. */
function hasValidKey({ worlds }: Service, { request }: Exchange, readBehaviour: ReadBehaviour): boolean {
  try {
    return principalOf(worlds, readKey(request, readBehaviour)) !== undefined;
  } catch (error) {
    if (error instanceof ApiError) return false;
    throw error;
  }
}

/**
 * Finds the principal and checks that its tier may call this operation. Does nothing for a public operation.
 *
 * @throws {ApiError} UNAUTHORIZED as `authenticate` does; for a wrong tier FORBIDDEN or NOT_FOUND, by
 *   `auth.wrong-tier`.
 */
function authorise(service: Service, exchange: Exchange, row: OperationRow, { tiers }: ResolvedOperation): void {
  if (!tiers) return;
  const { tier } = authenticate(service, exchange);
  const isAllowed = tiers.value.includes(tier);
  if (!isAllowed || tiers.alternatives.some(({ value }) => !value.includes(tier))) {
    // With another value of these behaviours, the tier might be allowed or refused, so the reply depends on them.
    for (const { id } of tiers.alternatives) exchange.readBehaviour(id);
    tiers.assumes.forEach(exchange.assume);
  }
  if (isAllowed) return;
  const allowed = tiers.value.map((each) => TIER_PREFIX[each]).join(' or ');
  const message = `This ${TIER_PREFIX[tier]} key may not call ${row.method} ${row.path}; use a ${allowed} key.`;
  throw exchange.readBehaviour('auth.wrong-tier') === 'not-found'
    ? routeNotFound(exchange.request.path, '', message)
    : new ApiError('FORBIDDEN', message);
}

/**
 * Finds the principal of a request, that is, the caller that its key identifies, and stores it in the exchange.
 *
 * @throws {ApiError} UNAUTHORIZED when the key is missing or invalid.
 */
function authenticate({ worlds }: Service, exchange: Exchange): Principal {
  const { request, readBehaviour, assume } = exchange;
  const key = readKey(request, readBehaviour);
  for (const id of assumptionsOfKey(request.headers)) assume(id);
  // The key was valid when the body began to arrive, and may have been rotated since.
  if (exchange.sender && !worlds.findKey(key)) assume('inboxes.rotate.running');
  const principal = findPrincipal(worlds, key);
  exchange.principal = principal;
  return principal;
}

/** Runs the function of an operation. What it causes has the request as its origin in the journal. */
function runOperation(
  { worlds, journals, loops, correspondents }: Service,
  { request, principal, readBehaviour, assume, epoch, origin, caused }: Exchange,
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
    assume,
    maxBodiesLength: request.maxBodiesLength,
  };
  // `OPERATION_FUNCTIONS` is typed so that each function takes the input of its own operation. TypeScript loses this
  // link when `id` is a union.
  const run = OPERATION_FUNCTIONS[id] as (context: Context, input: Input<never>) => Outcome;
  return journals.runFor(id, origin, caused, () => run(context as Context, input as never));
}
