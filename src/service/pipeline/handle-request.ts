import { type BehaviourReader, createSilentReader, type ReadBehaviour } from '../../contract/behaviours.ts';
import { ApiError, createResetError } from '../../contract/errors.ts';
import { OPERATION_ROWS, type OperationId, type OperationRow } from '../../contract/operations.ts';
import { VERSION_PATH } from '../../contract/service-path.ts';
import { STREAM_PATHS } from '../../contract/stream-protocol.ts';
import { TIER_PREFIX } from '../../contract/tiers.ts';
import type { Context, Input, Outcome } from '../operations/context.ts';
import { OPERATION_FUNCTIONS } from '../operations/index.ts';
import { checkStreamAccess } from '../stream/check-stream-access.ts';
import { assumptionsOfKey, findPrincipal, type Principal, principalOf, readKey, sentKey } from './access/principal.ts';
import type { ApiReply, ApiRequest, FinishedExchange, Service } from './exchange.ts';
import {
  ASSUMED_HEADER,
  Exchange,
  isCut,
  isOver,
  optionsReply,
  outcomeReply,
  refuse,
  stripBodyForHead,
} from './exchange.ts';
import { parseInput, readBody } from './parse-input.ts';
import { finishExchange } from './record-exchange.ts';
import type { ResolvedOperation } from './resolve-operation.ts';
import { runWithFaults } from './run-with-faults.ts';

/** Matches a segment with a parameter and the text after the parameter, such as `{id}.html`. */
const PARAMETER = /^\{(\w+)\}(.*)$/;

/**
 * The paths of the event streams, so that a plain HTTP request for a stream gets a clear error. WebSocket connections
 * do not come here: `server/http/stream-server.ts` and the msw stream handler handle them.
 */
const STREAM_ROWS = STREAM_PATHS.map((path) => ({ method: 'GET', path, isStream: true }) as const);

type Row = OperationRow | (typeof STREAM_ROWS)[number];

const router = createRouter<Row>([...OPERATION_ROWS, ...STREAM_ROWS]);

/**
 * Handles one request and adds it to the journal. It never rejects: every failure becomes an error reply.
 */
export async function handleRequest(service: Service, request: ApiRequest): Promise<FinishedExchange> {
  const exchange = new Exchange(service, request);
  let reply: ApiReply;
  try {
    reply = await runStages(service, exchange);
  } catch (thrown) {
    reply = refuse(exchange, thrown, service.worlds.environment.report);
  }
  // The reply to a request that waited must not describe a state that a reset has replaced.
  if (isOver(service.worlds, exchange) && !isCut(reply)) {
    exchange.usedBehaviours.clear();
    reply = refuse(exchange, createResetError(), service.worlds.environment.report);
  }
  const sentReply = stripBodyForHead(request.method, addAssumedHeader(service, exchange, reply));
  return finishExchange(service, exchange, sentReply);
}

/** Runs the stages of a request in order. A stage that throws ends the request. */
async function runStages(service: Service, exchange: Exchange): Promise<ApiReply> {
  const found = findOperation(service, exchange);
  if ('allow' in found) return optionsReply(found.allow);
  const { row, params } = found;
  if ('isStream' in row) {
    // A client that may not open the stream gets the 401, 403 or 404 error instead.
    checkStreamAccess({ worlds: service.worlds, readBehaviour: exchange.readBehaviour }, exchange.request);
    const message = 'This path is an event stream; connect to it with a WebSocket client.';
    throw new ApiError('UPGRADE_REQUIRED', message, { headers: { upgrade: 'websocket' } });
  }
  exchange.row = row;
  exchange.received = 'empty';
  if (exchange.request.body) {
    exchange.sender = principalOf(service.worlds, sentKey(exchange.request.headers) ?? '')?.world;
    exchange.received = await readBody(exchange.request);
  }
  // Everything below is synchronous, so no reset and no other request can come between the check of the key and the
  // operation.
  const operation = service.operationFor(row.id);
  authorise(service, exchange, row, operation);
  if (isOver(service.worlds, exchange)) throw createResetError();
  const run = () => {
    const outcome = runOperation(service, exchange, row.id, parseInput(operation, params, exchange));
    operation.replyAssumptions.forEach(exchange.assume);
    return outcomeReply(row.status, outcome);
  };
  return service.faults.isEmpty ? run() : runWithFaults(service, exchange, run);
}

function findOperation(service: Service, exchange: Exchange) {
  try {
    return findRow(router, exchange.request, exchange);
  } catch (error) {
    // With `key-first`, an error of the key replaces an error of the path. With a valid key, the order does not matter.
    const { readBehaviour } = createSilentReader(service.behaviours);
    if (hasValidKey(service, exchange, readBehaviour)) throw error;
    if (exchange.readBehaviour('requests.check-order') === 'key-first') authenticate(service, exchange);
    throw error;
  }
}

function runOperation(
  { worlds, journals, loops, correspondents }: Service,
  exchange: Exchange,
  id: OperationId,
  input: unknown,
): Outcome {
  const { principal, readBehaviour, assume } = exchange;
  const world = principal?.world;
  const reachable = world ? worlds.reachableFrom(world) : worlds;
  // `OPERATION_FUNCTIONS` is typed so that each function takes the input of its own operation. TypeScript loses this
  // link when `id` is a union.
  const run = OPERATION_FUNCTIONS[id] as (context: Context, input: Input<never>) => Outcome;
  const context = {
    principal,
    world,
    worlds: reachable,
    journals,
    loops,
    correspondents,
    source: 'request' as const,
    epoch: exchange.epoch,
    readBehaviour,
    assume,
  };
  return journals.runFor(id, exchange.origin, exchange.caused, () => run(context as Context, input as never));
}

/**
 * Adds a header that lists the behaviours used for this reply, except those whose value the service document states.
 */
function addAssumedHeader({ assumed }: Service, { usedBehaviours }: Exchange, reply: ApiReply): ApiReply {
  let ids = '';
  for (const id of usedBehaviours) if (assumed.has(id)) ids += ids === '' ? id : `, ${id}`;
  return ids === '' ? reply : { ...reply, headers: { ...reply.headers, [ASSUMED_HEADER]: ids } };
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

/** Returns whether a request has a valid key. Records no behaviour. */
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

/** A row that the router can find: a method and a path with parameters in braces, such as `{id}` or `{id}.html`. */
export interface Routable {
  readonly method: string;
  readonly path: string;
}

/** The rows of one path, by method. */
type RowsByMethod<Row extends Routable> = ReadonlyMap<string, Row>;

/** Finds the rows of a path by its encoded segments; returns `undefined` for an unknown path. */
type Router<Row extends Routable> = (segments: readonly string[]) => RowsByMethod<Row> | undefined;

interface Node<Row> {
  /** The children by segment. A parameter is `{}` with the text after it, such as `{}.html`. */
  readonly children: Map<string, Node<Row>>;
  readonly rows: Map<string, Row>;
  /** The texts after the parameters in the segments of the children, such as `.html`; the longest first. */
  endings: string[];
}

/** Compiles a table into a tree of path segments, so that the look-up time does not grow with the table. */
export function createRouter<Row extends Routable>(table: readonly Row[]): Router<Row> {
  const root = createNode<Row>();
  for (const row of table) splitPath(row.path).reduce(findOrCreateChild, root).rows.set(row.method, row);
  return (segments) => findRows(root, segments, 0);
}

/** Splits a path such as `/v1/webhooks` into its segments. */
export function splitPath(path: string): string[] {
  return path.split('/').slice(1);
}

/** Reads the parameters of a row's path from the decoded segments of a request. */
function readParams(row: Routable, segments: readonly string[]): Record<string, string> {
  const params: Record<string, string> = {};
  if (!row.path.includes('{')) return params;
  for (const [index, segment] of splitPath(row.path).entries()) {
    const [, name, ending = ''] = PARAMETER.exec(segment) ?? [];
    if (name !== undefined) params[name] = (segments[index] ?? '').slice(0, -ending.length || undefined);
  }
  return params;
}

function createNode<Row>(): Node<Row> {
  return { children: new Map(), rows: new Map(), endings: [] };
}

function findOrCreateChild<Row>(node: Node<Row>, segment: string): Node<Row> {
  const key = segment.replace(PARAMETER, '{}$2');
  const existing = node.children.get(key);
  if (existing) return existing;
  const child = createNode<Row>();
  node.children.set(key, child);
  if (key !== segment) node.endings = [...node.endings, key.slice(2)].sort((a, b) => b.length - a.length);
  return child;
}

/** Tries a literal segment first, and a parameter only if the literal does not lead to any row. */
function findRows<Row extends Routable>(
  node: Node<Row>,
  segments: readonly string[],
  index: number,
): RowsByMethod<Row> | undefined {
  const segment = segments[index];
  if (segment === undefined) return node.rows.size > 0 ? node.rows : undefined;
  const literal = node.children.get(segment);
  const found = literal && findRows(literal, segments, index + 1);
  if (found) return found;
  const ending = node.endings.find((each) => segment.length > each.length && segment.endsWith(each));
  const parameter = ending === undefined ? undefined : node.children.get(`{}${ending}`);
  return parameter && findRows(parameter, segments, index + 1);
}

/**
 * Finds the row for a method and a path, with the path parameters; for OPTIONS, the methods that the path supports.
 *
 * @throws {ApiError} VALIDATION_ERROR (invalid percent-encoding), NOT_FOUND or METHOD_NOT_ALLOWED.
 */
export function findRow<Row extends Routable>(
  router: Router<Row>,
  { method, path }: { readonly method: string; readonly path: string },
  { readBehaviour, assume }: BehaviourReader,
): { readonly row: Row; readonly params: Record<string, string> } | { readonly allow: string } {
  const segments = splitPath(stripTrailingSlash(path, router, readBehaviour));
  const decoded = path.includes('%') ? decodeSegments(path, segments, readBehaviour) : segments;
  const rows = router(segments);
  if (!rows) {
    assume('requests.other-products');
    throw routeNotFound(path, explainMissingVersion(path, router));
  }
  if (method === 'OPTIONS' && readBehaviour('requests.options') === 'allow')
    return { allow: allowedMethods(rows, readBehaviour) };
  const row = rows.get(method === 'HEAD' ? methodForHead(rows, readBehaviour) : method);
  if (row) return { row, params: readParams(row, decoded) };
  if (readBehaviour('requests.wrong-method') === 'not-found') throw routeNotFound(path);
  const allow = allowedMethods(rows, readBehaviour);
  const message = `${method} is not supported for this path; use ${allow}.`;
  throw new ApiError('METHOD_NOT_ALLOWED', message, { headers: { allow } });
}

/** Creates the error for an unknown path. If the reply hides an existing path, `reason` is the reason for the log. */
export function routeNotFound(path: string, hint = '', reason?: string): ApiError {
  const message = `There is no route ${path.slice(0, 200) || '/'}${hint}.`;
  return new ApiError('NOT_FOUND', message, reason === undefined ? {} : { internalReason: () => reason });
}

/** Returns a hint to put the version of the service before a path if this leads to a row; otherwise an empty text. */
function explainMissingVersion(path: string, router: Router<Routable>): string {
  const fullPath = VERSION_PATH + path;
  const hint = `; paths of the service begin with ${VERSION_PATH}, as in ${fullPath.slice(0, 200)}`;
  return router(splitPath(fullPath)) ? hint : '';
}

/** Removes a trailing slash if the shorter path has a row. Only then, `requests.trailing-slash` affects the reply. */
function stripTrailingSlash(path: string, router: Router<Routable>, readBehaviour: ReadBehaviour): string {
  const trimmed = path.endsWith('/') ? path.slice(0, -1) : path;
  if (trimmed === path || !router(splitPath(trimmed))) return path;
  return readBehaviour('requests.trailing-slash') === 'ignored' ? trimmed : path;
}

function decodeSegments(path: string, segments: readonly string[], readBehaviour: ReadBehaviour): string[] {
  try {
    return segments.map(decodeURIComponent);
  } catch {
    if (readBehaviour('requests.undecodable-path') === 'not-found') throw routeNotFound(path);
    throw new ApiError('VALIDATION_ERROR', 'The path has invalid percent-encoding.');
  }
}

/** Returns the method of the row that serves HEAD: GET if there is one and `requests.head` is `as-get`. */
function methodForHead(rows: RowsByMethod<Routable>, readBehaviour: ReadBehaviour): string {
  return rows.has('GET') && readBehaviour('requests.head') === 'as-get' ? 'GET' : 'HEAD';
}

const ALLOW_ORDER = ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'];

function allowedMethods(rows: RowsByMethod<Routable>, readBehaviour: ReadBehaviour): string {
  const methods = ALLOW_ORDER.filter((method) =>
    rows.has(method === 'HEAD' ? methodForHead(rows, readBehaviour) : method),
  );
  return [...methods, ...(readBehaviour('requests.options') === 'allow' ? ['OPTIONS'] : [])].join(', ');
}
