import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { ControlClient, ReplyTo } from '../../../control/table/client.ts';
import { useInspector } from '../../inspector.ts';
import { listOptions, type Route } from '../../page-route.ts';
import { changesData, useFeedChange, useLoaded } from '../../use-loaded.ts';
import type { MailLine } from './mail-types.ts';

/** The folders of mail, with their names. */
export const FOLDERS = {
  ...{ all: 'All folders', inbox: 'Inbox', sent: 'Sent', starred: 'Starred', archived: 'Archived', trash: 'Trash' },
} as const;

/** How many messages are loaded at a time. */
const PAGE_SIZE = 100;

/** The mail that a route lists, of which only the parts that are shown are loaded. */
export interface MailPages {
  /** How many messages there are; `undefined` until that is known. */
  readonly total: number | undefined;
  /** Why the latest part could not be loaded, in a sentence. */
  readonly error: string | undefined;
  /** The texts that the search looked for. */
  readonly words: readonly string[];
  /** The index of the open mail; -1 if it is not in the list. */
  readonly selected: number;
  /** Returns a mail; `undefined` until it is loaded. */
  at(index: number): MailLine | undefined;
  /** Loads the messages from `first` to before `last`. */
  need(first: number, last: number): void;
}

/** What is known of a list. It is changed in place, because the parts arrive in any order. */
class Parts {
  readonly lines = new Map<number, MailLine>();
  readonly requested = new Set<number>();
  total: number | undefined;
  error: string | undefined;
  words: readonly string[] = [];
  shown: readonly [first: number, last: number] = [0, 1];

  add(offset: number, { total, words, messages }: ReplyTo<'searchMail'>): void {
    this.error = undefined;
    this.total = total;
    this.words = words;
    for (const index of [...this.lines.keys()]) if (index >= total) this.lines.delete(index);
    for (const [position, line] of messages.entries()) this.lines.set(offset + position, line);
  }
}

/** Loads the parts of the list that are needed. It starts again for another query, and loads again after a change. */
export function useMailPages(route: Route): MailPages {
  const { client, feed } = useInspector();
  const query = queryOf(route);
  const key = JSON.stringify(query);
  const [, render] = useState({});
  const state = useRef({ key, query, parts: new Parts() });
  if (state.current.key !== key) state.current = { key, query, parts: new Parts() };
  const need = useCallback(
    (first: number, last: number) => {
      const { parts, query } = state.current;
      parts.shown = [first, last];
      // Everything is loaded as soon as the feed is connected.
      if (feed.state !== 'live') return;
      for (let page = Math.floor(first / PAGE_SIZE); page * PAGE_SIZE <= Math.max(first, last - 1); page += 1) {
        if (parts.requested.has(page)) continue;
        parts.requested.add(page);
        void loadPage(client, parts, page, query).then(() => render({}));
      }
    },
    [key, feed],
  );
  useEffect(() => need(0, 1), [need]);
  const refresh = useCallback(() => {
    const { parts } = state.current;
    parts.requested.clear();
    need(...parts.shown);
  }, [need]);
  useFeedChange(refresh, changesData);
  const { parts } = state.current;
  const loaded = [...parts.lines].find(([, { id }]) => id === route.id)?.[0];
  const findOpen = async () =>
    route.id === undefined || loaded !== undefined
      ? loaded
      : (await client.searchMail({ ...query, limit: 1, indexOf: route.id })).index;
  const { value: found } = useLoaded(findOpen, `${key} ${route.id}`);
  const { total, error, words, lines } = parts;
  return { total, error, words, selected: loaded ?? found ?? -1, at: (index) => lines.get(index), need };
}

/** Returns the query for the mail that a route lists. */
function queryOf(route: Route) {
  const { threads, folder, ...options } = listOptions(route);
  const isFolder = (name: string): name is keyof typeof FOLDERS => Object.hasOwn(FOLDERS, name);
  return { ...options, ...(folder && isFolder(folder) && { folder }), ...(threads && { threads: true }) };
}

async function loadPage(client: ControlClient, parts: Parts, page: number, query: object): Promise<void> {
  const offset = page * PAGE_SIZE;
  try {
    parts.add(offset, await client.searchMail({ ...query, offset, limit: PAGE_SIZE }));
  } catch (error) {
    // The mail may be gone, such as that of a sandbox that was closed.
    parts.total = undefined;
    parts.error = (error as Error).message;
    parts.requested.delete(page);
  }
}
