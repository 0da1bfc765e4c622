import { linkTo, type Route } from './page-route.ts';

/** Returns the link to a request, or to none, that lists the same requests with some options changed. */
export function requestLink(
  { options: { search, status } }: Route,
  id: string | undefined,
  changes: Readonly<Record<string, string | undefined>> = {},
): string {
  return linkTo('requests', id, { search, status, ...changes });
}

/** The options that choose which mail is listed. */
const MAIL_OPTIONS = ['tenant', 'workspace', 'inbox', 'folder', 'search', 'threads'] as const;

/** The options that choose which mail is listed. */
export type ListOptions = Partial<Record<(typeof MAIL_OPTIONS)[number], string>>;

/** Returns which mail a route lists. */
export function listOptions({ options }: Route): ListOptions {
  return Object.fromEntries(MAIL_OPTIONS.flatMap((name) => (options[name] ? [[name, options[name]]] : [])));
}

/** Returns the link to a mail, or to none, that lists the same mail with some options changed. */
export function mailLink(
  route: Route,
  id: string | undefined,
  changes: Record<string, string | undefined> = {},
): string {
  return linkTo('mail', id, { ...listOptions(route), ...changes });
}

/** The options that choose which deliveries are listed. */
const DELIVERY_OPTIONS = ['search', 'state', 'webhook'] as const;

/** Returns the link to a delivery, or to none, that lists the same deliveries with some options changed. */
export function webhookLink(
  { options }: Route,
  id: string | undefined,
  changes: Readonly<Record<string, string | undefined>> = {},
): string {
  const kept = Object.fromEntries(DELIVERY_OPTIONS.map((name) => [name, options[name]]));
  return linkTo('webhooks', id, { ...kept, ...changes });
}
