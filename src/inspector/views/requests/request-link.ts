import { linkTo, type Route } from '../../page-route.ts';

/** Returns the link to a request, or to none, that lists the same requests with some options changed. */
export function requestLink(
  { options: { search, status } }: Route,
  id: string | undefined,
  changes: Readonly<Record<string, string | undefined>> = {},
): string {
  return linkTo('requests', id, { search, status, ...changes });
}
