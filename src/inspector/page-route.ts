import { useEffect, useState } from 'preact/hooks';

/** What the part of the URL after `#` names: a view, the item that is open in it, and options. */
export interface Route {
  /** The path of the view, such as `mail`. */
  readonly view: string;
  /** The id of the open item, such as a message; `undefined` if no item is open. */
  readonly id: string | undefined;
  /** The parameters after `?`, such as the filters of a list. */
  readonly options: Readonly<Record<string, string>>;
}

/** Parses the hash of a URL, such as `#/mail/3f2a?tab=source`. */
export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#?\/?/, '').split('?');
  const [view = '', id = ''] = path.split('/').map(decode);
  return { view, id: id === '' ? undefined : id, options: Object.fromEntries(new URLSearchParams(query)) };
}

/**
 * Returns the hash of a route. Options that are `undefined` or empty are left out. The chosen tenant stays, unless
 * `options` has a field `tenant`.
 */
export function linkTo(view: string, id?: string, options: Options = {}): string {
  const { tenant } = parseRoute(location.hash).options;
  const entries = Object.entries({ tenant, ...options }).filter((option): option is [string, string] =>
    Boolean(option[1]),
  );
  const query = new URLSearchParams(entries).toString();
  return `#/${view}${id === undefined ? '' : `/${encodeURIComponent(id)}`}${query && `?${query}`}`;
}

/** Opens a route. With `replace`, the back button does not return to the present route. */
export function open(link: string, { replace = false } = {}): void {
  if (replace) location.replace(link);
  else location.hash = link;
}

/** Returns the present route, and renders the component again when the route changes. */
export function useRoute(): Route {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  useEffect(() => {
    const update = () => setRoute(parseRoute(location.hash));
    addEventListener('hashchange', update);
    return () => removeEventListener('hashchange', update);
  }, []);
  return route;
}

/** Puts the name of the open item before the title of the tab. The name is `undefined` until the item is loaded. */
export function useTitle(name: string | undefined): void {
  useEffect(() => {
    // The title may still begin with the name of the item that was open before.
    const view = document.title.split(' · ').slice(-2).join(' · ');
    if (name !== undefined) document.title = `${name} · ${view}`;
    const shown = document.title;
    return () => {
      // Another view may have set its own title before this runs.
      if (document.title === shown) document.title = view;
    };
  }, [name]);
}

/** Decodes a part of a path. If somebody typed a part that cannot be decoded, the part is used as it is. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

type Options = Readonly<Record<string, string | undefined>>;

/**
 * Creates a function that returns the link to an item of a list, or to the list alone. The link keeps those options of
 * the route that `keptOptions` lists. `changes` replaces some of them.
 */
function createLinkFunction(view: string, keptOptions: readonly string[]) {
  return ({ options }: Route, id: string | undefined, changes: Options = {}): string =>
    linkTo(view, id, { ...Object.fromEntries(keptOptions.map((name) => [name, options[name]])), ...changes });
}

/** Returns the link to a request, or to the list of requests alone. `changes` replaces some of the filters. */
export const requestLink = createLinkFunction('requests', ['search', 'status']);

/** Returns the link to a delivery, or to the list of deliveries alone. `changes` replaces some of the filters. */
export const deliveryLink = createLinkFunction('webhooks', ['search', 'state', 'webhook']);

/** The options that choose which mail is listed. */
const MAIL_OPTIONS = ['tenant', 'workspace', 'inbox', 'folder', 'search', 'threads'] as const;

/** Returns the link to a mail, or to the list of mail alone. `changes` replaces some of the filters. */
export const mailLink = createLinkFunction('mail', MAIL_OPTIONS);

/** Returns the options of a route that choose which mail is listed. */
export function pickMailOptions({ options }: Route): Partial<Record<(typeof MAIL_OPTIONS)[number], string>> {
  return Object.fromEntries(MAIL_OPTIONS.flatMap((name) => (options[name] ? [[name, options[name]]] : [])));
}
