import { linkTo, type Route } from './page-route.ts';

type Options = Readonly<Record<string, string | undefined>>;

/** Returns a function that returns the link to an item of a list, or to the list alone, with the same filters. */
function createLinker(view: string, names: readonly string[]) {
  return ({ options }: Route, id: string | undefined, changes: Options = {}): string =>
    linkTo(view, id, { ...Object.fromEntries(names.map((name) => [name, options[name]])), ...changes });
}

/** Returns the link to a request, or to the list of requests alone. The filters stay, apart from `changes`. */
export const requestLink = createLinker('requests', ['search', 'status']);

/** Returns the link to a delivery, or to the list of deliveries alone. The filters stay, apart from `changes`. */
export const webhookLink = createLinker('webhooks', ['search', 'state', 'webhook']);

/** The options that choose which mail is listed. */
const MAIL_OPTIONS = ['tenant', 'workspace', 'inbox', 'folder', 'search', 'threads'] as const;

/** Returns the link to a mail, or to the list of mail alone. The filters stay, apart from `changes`. */
export const mailLink = createLinker('mail', MAIL_OPTIONS);

/** Returns the options of a route that choose which mail is listed. */
export function listOptions({ options }: Route): Partial<Record<(typeof MAIL_OPTIONS)[number], string>> {
  return Object.fromEntries(MAIL_OPTIONS.flatMap((name) => (options[name] ? [[name, options[name]]] : [])));
}
