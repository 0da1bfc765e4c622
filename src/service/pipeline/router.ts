import type { BehaviourReader, ReadBehaviour } from '../../contract/behaviours.ts';
import { ApiError } from '../../contract/errors.ts';
import { suggestSending, VERSION_PATH } from '../../contract/service-path.ts';

/** Matches a segment with a parameter and the text after the parameter, such as `{id}.html`. */
const PARAMETER = /^\{(\w+)\}(.*)$/;

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
  { readBehaviour }: BehaviourReader,
): { readonly row: Row; readonly params: Record<string, string> } | { readonly allow: string } {
  const segments = splitPath(stripTrailingSlash(path, router, readBehaviour));
  const decoded = path.includes('%') ? decodeSegments(path, segments, readBehaviour) : segments;
  const rows = router(segments);
  const sending = suggestSending({ method, path });
  if (!rows) {
    const hint = sending === undefined ? explainMissingVersion(path, router) : `; ${sending}`;
    throw routeNotFound(path, hint);
  }
  if (method === 'OPTIONS' && readBehaviour('requests.options') === 'allow')
    return { allow: allowedMethods(rows, readBehaviour) };
  const row = rows.get(method === 'HEAD' ? methodForHead(rows, readBehaviour) : method);
  if (row) return { row, params: readParams(row, decoded) };
  if (readBehaviour('requests.wrong-method') === 'not-found') throw routeNotFound(path);
  const allow = allowedMethods(rows, readBehaviour);
  const hint = sending === undefined ? '' : `; ${sending}`;
  const message = `${method} is not supported for this path; use ${allow}${hint}.`;
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
