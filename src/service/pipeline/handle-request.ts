import { ApiError } from '../../contract/errors.ts';
import { STREAM_PATHS } from '../../contract/stream-protocol.ts';
import { TIER_PREFIX } from '../../contract/tiers.ts';
import type { Context, Input, Outcome } from '../operations/context.ts';
import { OPERATION_FUNCTIONS } from '../operations/index.ts';
import { checkStreamAccess } from '../stream/check-stream-access.ts';
import { findPrincipal, mayCall, type Principal, readKey } from './access/principal.ts';
import {
  type ApiReply,
  type ApiRequest,
  ASSUMED_HEADER,
  createExchange,
  type Exchange,
  type FinishedExchange,
  finishExchange,
  optionsReply,
  outcomeReply,
  refuse,
  type Service,
  stripBodyForHead,
} from './exchange.ts';
import { createRouter, type Found, findRow, OPERATION_ROWS, type OperationRow, routeNotFound } from './find-row.ts';
import { parseInput, readBody } from './parse-input.ts';
import { runWithFaults } from './run-with-faults.ts';

/**
 * The paths of the event streams, so that a plain HTTP request for one gets a clear error. WebSocket connections do not
 * come here: `server/http/stream-server.ts` and the msw stream handler handle them.
 */
const STREAM_ROWS = STREAM_PATHS.map((path) => ({ method: 'GET', path, isStream: true }) as const);

type Row = OperationRow | (typeof STREAM_ROWS)[number];

const router = createRouter<Row>([...OPERATION_ROWS, ...STREAM_ROWS]);

/**
 * Handles one request and notifies the observers of the finished exchange. It never rejects: every failure becomes an
 * error reply.
 */
export async function handleRequest(service: Service, request: ApiRequest): Promise<FinishedExchange> {
  const exchange = createExchange(request, service.behaviours);
  const reply = await runStages(service, exchange).catch((thrown: unknown) =>
    refuse(exchange, thrown, service.worlds.environment.report),
  );
  const sent = stripBodyForHead(request.method, addAssumedHeader(service, exchange, reply));
  return finishExchange(exchange, sent, service.observers);
}

/** Runs the stages of a request in order. A stage that throws ends the request. */
async function runStages(service: Service, exchange: Exchange): Promise<ApiReply> {
  const { request } = exchange;
  const found = findOperation(service, exchange);
  if ('allow' in found) return optionsReply(found.allow);
  const { row } = found;
  if ('isStream' in row) throw upgradeRequired(service, exchange);
  exchange.row = row;
  const received = await readBody(request);
  exchange.received = received;
  // Everything below is synchronous, so no other request can revoke the key in between.
  authorise(service, exchange, row);
  const run = () => {
    const operation = service.operationFor(row.id);
    const input = parseInput(operation, { request, params: found.params, received }, exchange);
    const outcome = runOperation(service, exchange, row, input);
    operation.replyAssumptions.forEach(exchange.assume);
    return outcomeReply(row.status, outcome);
  };
  return service.faults.isEmpty ? run() : runWithFaults(service, exchange, row, run);
}

function findOperation(service: Service, exchange: Exchange): Found<Row> {
  try {
    return findRow(router, exchange.request, exchange);
  } catch (error) {
    if (exchange.readBehaviour('requests.check-order') === 'key-first') authenticate(service, exchange);
    throw error;
  }
}

/** Returns the 426 error. If the client may not open the stream, throws the 401, 403 or 404 error instead. */
function upgradeRequired({ worlds }: Service, { request, readBehaviour }: Exchange): ApiError {
  checkStreamAccess({ worlds, readBehaviour }, request);
  const message = 'This path is an event stream; connect to it with a WebSocket client.';
  return new ApiError('UPGRADE_REQUIRED', message, { headers: { upgrade: 'websocket' } });
}

function runOperation(
  { worlds, events, loops, correspondents }: Service,
  { principal, readBehaviour, assume }: Exchange,
  { id }: OperationRow,
  input: unknown,
): Outcome {
  const world = principal && 'world' in principal ? principal.world : undefined;
  const { environment } = world ?? worlds;
  const reachable = world ? worlds.reachableFrom(world) : worlds;
  // `OPERATION_FUNCTIONS` is typed so that each function takes the input of its own operation. TypeScript loses this
  // link when `id` is a union.
  const run = OPERATION_FUNCTIONS[id] as (context: Context, input: Input<never>) => Outcome;
  const mail = { events, loops, correspondents };
  return run({ principal, worlds: reachable, environment, ...mail, readBehaviour, assume } as Context, input as never);
}

/**
 * Adds a header that lists the behaviours used for this reply, except those whose value the service document states.
 */
function addAssumedHeader({ assumed }: Service, { usedBehaviours }: Exchange, reply: ApiReply): ApiReply {
  let listed = '';
  for (const id of usedBehaviours) if (assumed.has(id)) listed += listed === '' ? id : `, ${id}`;
  return listed === '' ? reply : { ...reply, headers: { ...reply.headers, [ASSUMED_HEADER]: listed } };
}

/**
 * Finds the principal of a request, that is, the caller that its key identifies, and stores it in the exchange.
 *
 * @throws {ApiError} UNAUTHORIZED when the key is missing or invalid.
 */
function authenticate({ worlds }: Service, exchange: Exchange): Principal {
  const principal = findPrincipal(worlds, readKey(exchange.request, exchange.readBehaviour));
  exchange.principal = principal;
  return principal;
}

/**
 * Finds the principal and checks that its tier may call this operation. Does nothing for a public operation.
 *
 * @throws {ApiError} UNAUTHORIZED as `authenticate` does; for a wrong tier FORBIDDEN or NOT_FOUND, by
 *   `auth.wrong-tier`.
 */
function authorise(service: Service, exchange: Exchange, row: OperationRow): void {
  const { tiers, tierBehaviours, tierAssumptions, tiersThatDiffer } = service.operationFor(row.id);
  if (!tiers) return;
  const principal = authenticate(service, exchange);
  const isAllowed = mayCall(principal, tiers);
  if (!isAllowed || tiersThatDiffer.has(principal.tier)) {
    tierBehaviours.forEach(exchange.readBehaviour);
    tierAssumptions.forEach(exchange.assume);
  }
  if (isAllowed) return;
  const [own, others] = [TIER_PREFIX[principal.tier], tiers.map((tier) => TIER_PREFIX[tier]).join(' or ')];
  const message = `This ${own} key may not call ${row.method} ${row.path}; use a ${others} key.`;
  throw exchange.readBehaviour('auth.wrong-tier') === 'not-found'
    ? routeNotFound(exchange.request.path, '', message)
    : new ApiError('FORBIDDEN', message);
}
