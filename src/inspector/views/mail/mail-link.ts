import { linkTo, type Route } from '../../page-route.ts';

/** The options that choose which mail is listed. */
const LIST_OPTIONS = ['tenant', 'workspace', 'inbox', 'folder', 'search', 'threads'] as const;

/** The options that choose which mail is listed. */
export type ListOptions = Partial<Record<(typeof LIST_OPTIONS)[number], string>>;

/** Returns which mail a route lists. */
export function listOptions({ options }: Route): ListOptions {
  return Object.fromEntries(LIST_OPTIONS.flatMap((name) => (options[name] ? [[name, options[name]]] : [])));
}

/** Returns the link to a mail, or to none, that lists the same mail with some options changed. */
export function mailLink(
  route: Route,
  id: string | undefined,
  changes: Record<string, string | undefined> = {},
): string {
  return linkTo('mail', id, { ...listOptions(route), ...changes });
}
