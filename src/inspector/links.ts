import { linkTo, type Route } from './page-route.ts';

type Options = Readonly<Record<string, string | undefined>>;

/** Returns the function that links to an item of a list, or to none, and keeps which items are listed. */
function linkerOf(view: string, names: readonly string[]) {
  return ({ options }: Route, id: string | undefined, changes: Options = {}): string =>
    linkTo(view, id, { ...Object.fromEntries(names.map((name) => [name, options[name]])), ...changes });
}

/** Returns the link to a request, or to none, that lists the same requests with some options changed. */
export const requestLink = linkerOf('requests', ['search', 'status']);

/** Returns the link to a delivery, or to none, that lists the same deliveries with some options changed. */
export const webhookLink = linkerOf('webhooks', ['search', 'state', 'webhook']);

/** The options that choose which mail is listed. */
const MAIL_OPTIONS = ['tenant', 'workspace', 'inbox', 'folder', 'search', 'threads'] as const;

/** Returns the link to a mail, or to none, that lists the same mail with some options changed. */
export const mailLink = linkerOf('mail', MAIL_OPTIONS);

/** Returns which mail a route lists. */
export function listOptions({ options }: Route): Partial<Record<(typeof MAIL_OPTIONS)[number], string>> {
  return Object.fromEntries(MAIL_OPTIONS.flatMap((name) => (options[name] ? [[name, options[name]]] : [])));
}
