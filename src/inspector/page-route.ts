import { useEffect, useState } from 'preact/hooks';

/** What the part of the URL after `#` names: a view, what is open in it, and how it is shown. */
export interface Route {
  /** The path of the view, such as `mail`. */
  readonly view: string;
  /** The id of what is open in the view, such as that of a message; `undefined` if nothing is. */
  readonly id: string | undefined;
  /** Everything else, such as the filter of a list. */
  readonly options: Readonly<Record<string, string>>;
}

/** Parses the hash of a URL, such as `#/mail/3f2a?tab=source`. */
export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#?\/?/, '').split('?');
  const [view = '', id = ''] = path.split('/').map(decode);
  return { view, id: id === '' ? undefined : id, options: Object.fromEntries(new URLSearchParams(query)) };
}

/**
 * Returns the hash of a route. Options that are `undefined` or empty are left out. The chosen tenant stays, unless the
 * options name one.
 */
export function linkTo(view: string, id?: string, options: Options = {}): string {
  const { tenant } = parseRoute(location.hash).options;
  const given = Object.entries({ tenant, ...options }).filter((option): option is [string, string] =>
    Boolean(option[1]),
  );
  const query = new URLSearchParams(given).toString();
  return `#/${view}${id === undefined ? '' : `/${encodeURIComponent(id)}`}${query && `?${query}`}`;
}

/** Opens a route. With `replace`, the back button does not return to the present route. */
export function open(link: string, { replace = false } = {}): void {
  if (replace) location.replace(link);
  else location.hash = link;
}

/** Returns the present route, and renders again when it changes. */
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
 * Creates a function that returns the link to an item of a list, or to the list alone. The options of the route that
 * `names` lists stay in the link.
 */
function createLinkFunction(view: string, names: readonly string[]) {
  return ({ options }: Route, id: string | undefined, changes: Options = {}): string =>
    linkTo(view, id, { ...Object.fromEntries(names.map((name) => [name, options[name]])), ...changes });
}

/** Returns the link to a request, or to the list of requests alone. The filters stay, apart from `changes`. */
export const requestLink = createLinkFunction('requests', ['search', 'status']);

/** Returns the link to a delivery, or to the list of deliveries alone. The filters stay, apart from `changes`. */
export const webhookLink = createLinkFunction('webhooks', ['search', 'state', 'webhook']);

/** The options that choose which mail is listed. */
const MAIL_OPTIONS = ['tenant', 'workspace', 'inbox', 'folder', 'search', 'threads'] as const;

/** Returns the link to a mail, or to the list of mail alone. The filters stay, apart from `changes`. */
export const mailLink = createLinkFunction('mail', MAIL_OPTIONS);

/** Returns the options of a route that choose which mail is listed. */
export function pickMailOptions({ options }: Route): Partial<Record<(typeof MAIL_OPTIONS)[number], string>> {
  return Object.fromEntries(MAIL_OPTIONS.flatMap((name) => (options[name] ? [[name, options[name]]] : [])));
}
