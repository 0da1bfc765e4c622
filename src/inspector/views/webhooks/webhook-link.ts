import { linkTo, type Route } from '../../page-route.ts';

/** The options that choose which deliveries are listed. */
const LIST_OPTIONS = ['search', 'state', 'webhook'] as const;

/** Returns the link to a delivery, or to none, that lists the same deliveries with some options changed. */
export function webhookLink(
  { options }: Route,
  id: string | undefined,
  changes: Readonly<Record<string, string | undefined>> = {},
): string {
  const kept = Object.fromEntries(LIST_OPTIONS.map((name) => [name, options[name]]));
  return linkTo('webhooks', id, { ...kept, ...changes });
}
