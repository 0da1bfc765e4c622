import { isAssumed } from '../contract/behaviours.ts';
import { ApiError } from '../contract/errors.ts';
import { STREAM_PATHS } from '../contract/stream.ts';
import type { Context, Input, Outcome } from '../operations/context.ts';
import { RUN } from '../operations/index.ts';
import { admit } from '../stream/admit.ts';
import { authenticate, authorise } from './authorise.ts';
import { toApiError, toErrorReply } from './error-reply.ts';
import { createExchange, type Exchange, type FinishedExchange } from './exchange.ts';
import { type Found, findRow } from './find-row.ts';
import {
  type ApiReply,
  type ApiRequest,
  ASSUMED_HEADER,
  optionsReply,
  outcomeReply,
  stripBodyForHead,
} from './http.ts';
import { OPERATION_ROWS, type OperationRow } from './operation-rows.ts';
import { parseInput } from './parse-input.ts';
import { readBody } from './read-body.ts';
import { createRouter } from './router.ts';
import type { Service } from './service.ts';

/** The event stream, as far as it is asked for without an upgrade; the server and msw serve the rest. */
const STREAM_ROWS = STREAM_PATHS.map((path) => ({ method: 'GET', path, isStream: true }) as const);

type Row = OperationRow | (typeof STREAM_ROWS)[number];

const router = createRouter<Row>([...OPERATION_ROWS, ...STREAM_ROWS]);

/**
 * Takes one request from its arrival to its reply, and has the observers look at what became of it. It never rejects:
 * whatever goes wrong is an error reply.
 */
export async function handleRequest(service: Service, request: ApiRequest): Promise<FinishedExchange> {
  const exchange = createExchange(request, service.choices);
  const reply = await runStages(service, exchange).catch((thrown: unknown) => {
    exchange.error = toApiError(thrown, service.worlds.environment.report);
    return toErrorReply(exchange.error, exchange.choose);
  });
  const finished = Object.assign(exchange, {
    reply: stripBodyForHead(request.method, addAssumedHeader(service, exchange, reply)),
    durationMs: performance.now() - exchange.startedMs,
  });
  for (const observe of service.observers) observe(finished);
  return finished;
}

/** The stages of a request that succeeds; each may throw instead, which ends it. */
async function runStages(service: Service, exchange: Exchange): Promise<ApiReply> {
  const { request } = exchange;
  const found = findOperation(service, exchange);
  if ('allow' in found) return optionsReply(found.allow);
  const { row } = found;
  if ('isStream' in row) throw upgradeRequired(service, exchange);
  exchange.row = row;
  const received = await readBody(request);
  // From here on everything is synchronous: a key that is valid here is valid until the reply is made.
  exchange.principal = authorise(service, exchange, row);
  const operation = service.resolve(row.id);
  const input = parseInput(operation, { request, params: found.params, received }, exchange);
  const outcome = runOperation(service, exchange, row, input);
  operation.replyAssumptions.forEach(exchange.assume);
  return outcomeReply(row.status, outcome);
}

function findOperation(service: Service, exchange: Exchange): Found<Row> {
  try {
    return findRow(router, exchange.request, exchange.choose);
  } catch (error) {
    if (exchange.choose('requests.check-order') === 'key-first') exchange.principal = authenticate(service, exchange);
    throw error;
  }
}

/** Who may open an event stream is told how; anybody else is refused as from the stream itself. */
function upgradeRequired({ worlds }: Service, { request, choose }: Exchange): ApiError {
  admit({ worlds, choose }, request);
  const message = 'This path is an event stream; connect to it with a WebSocket client.';
  return new ApiError('UPGRADE_REQUIRED', message, { headers: { upgrade: 'websocket' } });
}

function runOperation(
  { worlds, events }: Service,
  { principal, choose, assume }: Exchange,
  { id }: OperationRow,
  input: unknown,
): Outcome {
  const { environment } = principal && 'world' in principal ? principal.world : worlds;
  // The table's types tie a row to its code; the look-up by id is where TypeScript loses the tie.
  const run = RUN[id] as (context: Context, input: Input<never>) => Outcome;
  return run({ principal, worlds, environment, events, choose, assume } as Context, input as never);
}

/** Names the choices that shaped a reply and that the service document does not state. */
function addAssumedHeader({ choices }: Service, { read }: Exchange, reply: ApiReply): ApiReply {
  const assumed = [...read].filter((id) => isAssumed(id, choices)).join(', ');
  return assumed ? { ...reply, headers: { ...reply.headers, [ASSUMED_HEADER]: assumed } } : reply;
}
