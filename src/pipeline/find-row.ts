import type { BehaviourReader } from '../contract/behaviour-reader.ts';
import type { ReadBehaviour } from '../contract/behaviours.ts';
import { ApiError } from '../contract/errors.ts';
import { VERSION_PATH } from '../contract/service-path.ts';
import { type Routable, type Router, type RowsByMethod, readParams, splitPath } from './router.ts';

/** The result of `findRow`: a row with its path parameters, or for OPTIONS the methods that the path supports. */
export type Found<Row extends Routable> =
  | { readonly row: Row; readonly params: Record<string, string> }
  | { readonly allow: string };

/**
 * Finds the row for a method and a path.
 *
 * @throws {ApiError} VALIDATION_ERROR (invalid percent-encoding), NOT_FOUND or METHOD_NOT_ALLOWED.
 */
export function findRow<Row extends Routable>(
  router: Router<Row>,
  { method, path }: { readonly method: string; readonly path: string },
  { readBehaviour, assume }: BehaviourReader,
): Found<Row> {
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
  if (!row) throw wrongMethod({ method, path }, rows, readBehaviour);
  return { row, params: readParams(row, decoded) };
}

/** Creates the error for an unknown path. `reason` is for the log, if the path exists but the reply must hide it. */
export function routeNotFound(path: string, hint = '', reason?: string): ApiError {
  return new ApiError(
    'NOT_FOUND',
    `There is no route ${path.slice(0, 200) || '/'}${hint}.`,
    reason === undefined ? {} : { internalReason: () => reason },
  );
}

/** Says that a path needs the version of the service before it, if that leads to a row. */
function explainMissingVersion(path: string, router: Router<Routable>): string {
  const whole = VERSION_PATH + path;
  return router(splitPath(whole))
    ? `; paths of the service begin with ${VERSION_PATH}, as in ${whole.slice(0, 200)}`
    : '';
}

/** Removes a trailing slash, if that leads to a row. Only then does the reply depend on `requests.trailing-slash`. */
function stripTrailingSlash<Row extends Routable>(
  path: string,
  router: Router<Row>,
  readBehaviour: ReadBehaviour,
): string {
  const trimmed = path.replace(/\/$/, '');
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

function wrongMethod(
  { method, path }: { readonly method: string; readonly path: string },
  rows: RowsByMethod<Routable>,
  readBehaviour: ReadBehaviour,
): ApiError {
  if (readBehaviour('requests.wrong-method') === 'not-found') return routeNotFound(path);
  const allow = allowedMethods(rows, readBehaviour);
  return new ApiError('METHOD_NOT_ALLOWED', `${method} is not supported for this path; use ${allow}.`, {
    headers: { allow },
  });
}

const ALLOW_ORDER = ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'];

function allowedMethods(rows: RowsByMethod<Routable>, readBehaviour: ReadBehaviour): string {
  const methods = ALLOW_ORDER.filter((method) =>
    rows.has(method === 'HEAD' ? methodForHead(rows, readBehaviour) : method),
  );
  return [...methods, ...(readBehaviour('requests.options') === 'allow' ? ['OPTIONS'] : [])].join(', ');
}
