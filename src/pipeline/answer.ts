import { readKey } from '../access/credentials.ts';
import { mayCall } from '../access/policy.ts';
import { findPrincipal, type Principal } from '../access/principal.ts';
import { isBytes } from '../contract/base64.ts';
import { type BehaviourId, type Choices, type Choose, isAssumption } from '../contract/behaviours.ts';
import { createChoiceReader } from '../contract/choice-reader.ts';
import { ApiError } from '../contract/errors.ts';
import { STREAM_PATHS } from '../contract/stream.ts';
import { TIER_PREFIX } from '../contract/tiers.ts';
import type { Context, Input, Outcome } from '../operations/context.ts';
import { RUN } from '../operations/index.ts';
import { admit } from '../stream/admit.ts';
import { toErrorReply } from './error-reply.ts';
import { type Found, findRow, routeNotFound } from './find-row.ts';
import {
  type ApiReply,
  type ApiRequest,
  ASSUMED_HEADER,
  bodyAsAsked,
  bytesReply,
  jsonReply,
  optionsReply,
} from './http.ts';
import { parseBody, parseParams, parseQuery } from './parse-input.ts';
import { type ReceivedBody, readBody } from './read-body.ts';
import { createRouter } from './router.ts';
import { OPERATION_ROWS, type OperationRow, type Service } from './service.ts';

/** The event stream, as far as it is asked for without an upgrade; the adapters serve the rest. */
const STREAM_ROWS = STREAM_PATHS.map((path) => ({ method: 'GET', path, isStream: true }) as const);

type Row = OperationRow | (typeof STREAM_ROWS)[number];

const route = createRouter<Row>([...OPERATION_ROWS, ...STREAM_ROWS]);

/** Answers one request, from the route to the reply. It never throws: whatever goes wrong is an error reply. */
export async function answer(service: Service, request: ApiRequest): Promise<ApiReply> {
  const { choose, read } = createChoiceReader(service.choices);
  const reply = await answerOrFail(service, request, choose);
  return bodyAsAsked(request.method, withAssumptions(reply, read, service.choices));
}

async function answerOrFail(service: Service, request: ApiRequest, choose: Choose): Promise<ApiReply> {
  try {
    const found = findOperation(service, request, choose);
    if ('allow' in found) return optionsReply(found.allow);
    const { row, params } = found;
    if ('isStream' in row) return refuseWithoutUpgrade(service, request, choose);
    return call(service, request, { row, params }, await readBody(request), choose);
  } catch (error) {
    return toErrorReply(error, choose, service.worlds.environment.report);
  }
}

/** Who may open an event stream is told how. */
function refuseWithoutUpgrade({ worlds }: Service, request: ApiRequest, choose: Choose): never {
  admit({ worlds, choose }, request);
  const message = 'This path is an event stream; connect to it with a WebSocket client.';
  throw new ApiError('UPGRADE_REQUIRED', message, { upgrade: 'websocket' });
}

function findOperation(service: Service, request: ApiRequest, choose: Choose): Found<Row> {
  try {
    return findRow(route, request, choose);
  } catch (error) {
    if (choose('requests.check-order') === 'key-first') authenticate(service, request, choose);
    throw error;
  }
}

/** From here on everything is synchronous: a key that is valid here is valid until the reply is made. */
function call(
  service: Service,
  request: ApiRequest,
  { row, params }: { readonly row: OperationRow; readonly params: Record<string, string> },
  received: ReceivedBody,
  choose: Choose,
): ApiReply {
  const operation = service.resolve(row.id);
  const principal = operation.tiers && authorise(service, request, row, choose);
  const input = {
    params: parseParams('params' in row ? row.params : undefined, params, choose),
    query: parseQuery(operation.query, request.query, choose),
    body: parseBody(operation.body, received, request.headers.get('content-type'), choose),
  };
  const { worlds, events } = service;
  const { environment } = principal && 'world' in principal ? principal.world : worlds;
  // The table's types tie a row to its code; the look-up by id is where TypeScript loses the tie.
  const run = RUN[row.id] as (context: Context, input: Input<never>) => Outcome;
  const {
    status = row.status,
    body,
    headers,
  } = run({ principal, worlds, environment, events, choose } as Context, input as never);
  return isBytes(body) ? bytesReply(status, body, headers) : jsonReply(status, body, headers);
}

function authorise(
  service: Service,
  request: ApiRequest,
  { id, method, path }: OperationRow,
  choose: Choose,
): Principal {
  const principal = authenticate(service, request, choose);
  const { tiers = [], tierChoices, tiersByChoice } = service.resolve(id);
  const allowed = mayCall(principal, tiers);
  if (!allowed || tiersByChoice.has(principal.tier)) for (const choice of tierChoices) choose(choice);
  if (allowed) return principal;
  if (choose('auth.wrong-tier') === 'not-found') throw routeNotFound();
  const prefixes = tiers.map((tier) => TIER_PREFIX[tier]).join(' or ');
  throw new ApiError(
    'FORBIDDEN',
    `This ${TIER_PREFIX[principal.tier]} key may not call ${method} ${path}; it takes a ${prefixes} key.`,
  );
}

function authenticate(service: Service, request: ApiRequest, choose: Choose): Principal {
  return findPrincipal(service.worlds, readKey(request, choose));
}

/** Names the choices that shaped a reply and that the service document does not state. */
function withAssumptions(reply: ApiReply, read: ReadonlySet<BehaviourId>, choices: Choices): ApiReply {
  const assumed = [...read].filter((id) => isAssumption(id, choices[id])).join(', ');
  return assumed ? { ...reply, headers: { ...reply.headers, [ASSUMED_HEADER]: assumed } } : reply;
}
