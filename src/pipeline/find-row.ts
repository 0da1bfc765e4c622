import type { Choose } from '../contract/behaviours.ts';
import { ApiError } from '../contract/errors.ts';
import { type Routable, type Router, type RowsByMethod, readParams, splitPath } from './router.ts';

/** What a method and a path lead to: a row with its parameters, or the methods that OPTIONS asks for. */
export type Found<Row extends Routable> =
  | { readonly row: Row; readonly params: Record<string, string> }
  | { readonly allow: string };

/**
 * Finds the row for a method and a path as they were sent.
 *
 * @throws {ApiError} VALIDATION_ERROR (percent-encoding), NOT_FOUND or METHOD_NOT_ALLOWED.
 */
export function findRow<Row extends Routable>(
  router: Router<Row>,
  { method, path }: { readonly method: string; readonly path: string },
  choose: Choose,
): Found<Row> {
  const segments = splitPath(withoutTrailingSlash(path, router, choose));
  const decoded = decodeSegments(segments, choose);
  const rows = router(segments);
  if (!rows) throw routeNotFound();
  if (method === 'OPTIONS' && choose('requests.options') === 'allow') return { allow: allowedMethods(rows, choose) };
  const row = rows.get(method === 'HEAD' ? headRow(rows, choose) : method);
  if (!row) throw wrongMethod(method, rows, choose);
  return { row, params: readParams(row, decoded) };
}

/** The error for a path that leads nowhere, or that is to look so; then `why` is for the log. */
export function routeNotFound(why?: string): ApiError {
  return new ApiError('NOT_FOUND', 'There is no such route.', why === undefined ? {} : { explain: () => why });
}

/** Asks the ledger only where the slash makes the difference. */
function withoutTrailingSlash<Row extends Routable>(path: string, router: Router<Row>, choose: Choose): string {
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

/** The method whose row answers HEAD; none where HEAD is refused or there is no GET. */
function headRow(rows: RowsByMethod<Routable>, choose: Choose): string {
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
  const methods = ALLOW_ORDER.filter((method) => rows.has(method === 'HEAD' ? headRow(rows, choose) : method));
  return [...methods, ...(choose('requests.options') === 'allow' ? ['OPTIONS'] : [])].join(', ');
}
