import type { Choose } from '../contract/behaviours.ts';
import { ApiError } from '../contract/errors.ts';
import { type Routable, type Router, type RowsByMethod, readParams, splitPath } from './router.ts';

/** The result of a route look-up: a row with its parameters, or the allowed methods for an OPTIONS request. */
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
  choose: Choose,
): Found<Row> {
  const segments = splitPath(stripTrailingSlash(path, router, choose));
  const decoded = decodeSegments(segments, choose);
  const rows = router(segments);
  if (!rows) throw routeNotFound();
  if (method === 'OPTIONS' && choose('requests.options') === 'allow') return { allow: allowedMethods(rows, choose) };
  const row = rows.get(method === 'HEAD' ? methodForHead(rows, choose) : method);
  if (!row) throw wrongMethod(method, rows, choose);
  return { row, params: readParams(row, decoded) };
}

/** Creates the error for an unknown path. If the path is known but hidden, `reason` is the true reason for the log. */
export function routeNotFound(reason?: string): ApiError {
  return new ApiError(
    'NOT_FOUND',
    'There is no such route.',
    reason === undefined ? {} : { internalReason: () => reason },
  );
}

/** Reads the ledger only if the slash matters, so that `X-Mock-Assumed` names the choice only then. */
function stripTrailingSlash<Row extends Routable>(path: string, router: Router<Row>, choose: Choose): string {
  const trimmed = path.replace(/\/$/, '');
  if (trimmed === path || !router(splitPath(trimmed))) return path;
  return choose('requests.trailing-slash') === 'ignored' ? trimmed : path;
}

function decodeSegments(segments: readonly string[], choose: Choose): string[] {
  try {
    return segments.map(decodeURIComponent);
  } catch {
    if (choose('requests.undecodable-path') === 'not-found') throw routeNotFound();
    throw new ApiError('VALIDATION_ERROR', 'The path has invalid percent-encoding.');
  }
}

/** Returns the method of the row that serves HEAD: GET if there is one and `requests.head` is `as-get`. */
function methodForHead(rows: RowsByMethod<Routable>, choose: Choose): string {
  return rows.has('GET') && choose('requests.head') === 'as-get' ? 'GET' : 'HEAD';
}

function wrongMethod(method: string, rows: RowsByMethod<Routable>, choose: Choose): ApiError {
  if (choose('requests.wrong-method') === 'not-found') return routeNotFound();
  const allow = allowedMethods(rows, choose);
  return new ApiError('METHOD_NOT_ALLOWED', `${method} is not supported for this path; use ${allow}.`, {
    headers: { allow },
  });
}

const ALLOW_ORDER = ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'];

function allowedMethods(rows: RowsByMethod<Routable>, choose: Choose): string {
  const methods = ALLOW_ORDER.filter((method) => rows.has(method === 'HEAD' ? methodForHead(rows, choose) : method));
  return [...methods, ...(choose('requests.options') === 'allow' ? ['OPTIONS'] : [])].join(', ');
}
