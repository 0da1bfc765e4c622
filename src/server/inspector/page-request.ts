import { CONTROL_PATH } from '../../control/control-path.ts';
import type { ApiRequest } from '../../pipeline/http.ts';

/** The folder of the files of the inspector. */
const FILES_PATH = `${CONTROL_PATH}/inspector/`;

/** The paths of the page itself; without `Accept: text/html`, they list the control calls. */
const PAGE_PATHS = ['/', CONTROL_PATH, `${CONTROL_PATH}/`];

/** The icon that browsers ask for on each page that names none, such as a reply that somebody opens in a tab. */
export const FAVICON_PATH = '/favicon.ico';

/** Returns whether a request is for the inspector or one of its files. They contain no data, so they need no token. */
export function isForInspector({ method, path, headers }: ApiRequest): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  if (path === FAVICON_PATH || path.startsWith(FILES_PATH)) return true;
  return PAGE_PATHS.includes(path) && wantsHtml(headers.get('accept') ?? '');
}

/** Returns whether an `Accept` header names HTML, and not with the weight 0, which refuses it. */
function wantsHtml(accept: string): boolean {
  return accept
    .toLowerCase()
    .split(',')
    .map((range) => range.replaceAll(/\s/g, '').split(';'))
    .some(([type, ...parameters]) => type === 'text/html' && !parameters.some((text) => /^q=0(\.0*)?$/.test(text)));
}
