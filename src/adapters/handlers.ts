import { type HttpHandler, http } from 'msw';
import type { Fetch } from './fetch.ts';

/** The paths that are ours; anything else at the same origin, such as a page's own files, is left alone. */
const API_PATH = /^\/(?:v1|health)(?:[/?#]|$)/;

/**
 * Makes the msw handler of a mailbox. One handler serves the whole operation table, so the number of operations does
 * not show in the time of a request, and it matches by a string comparison before anything is parsed.
 * It is made with `http.all` and a predicate: public exports that msw 2 and 3 share.
 */
export function createHandlers(baseUrl: string, fetch: Fetch): HttpHandler[] {
  const isOurs = ({ url }: Request) => url.startsWith(baseUrl) && API_PATH.test(url.slice(baseUrl.length));
  return [
    http.all(
      ({ request }) => isOurs(request),
      ({ request }) => fetch(request, baseUrl),
    ),
  ];
}
