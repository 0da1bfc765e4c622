import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { ControlClient, ReplyTo } from '../../../control/table/client.ts';
import { useInspector } from '../../inspector.ts';
import { pickMailOptions, type Route } from '../../page-route.ts';
import { changesData, useFeedChange, useLoaded } from '../../use-loaded.ts';
import type { MailSummary } from './mail-types.ts';

/** The folders of mail, with their names. */
export const FOLDERS = {
  all: 'All folders',
  inbox: 'Inbox',
  sent: 'Sent',
  starred: 'Starred',
  archived: 'Archived',
  trash: 'Trash',
} as const;

/** How many messages are loaded at a time. */
const PAGE_SIZE = 100;

/** How often a page is loaded again because mail came while it was loaded. */
const MAX_LOADS = 3;

/** The mail that a route lists. Only the pages that are shown are loaded. */
export interface MailPages {
  /** What distinguishes this list from one with another query. */
  readonly key: string;
  /** How many messages the list has; `undefined` until the number is known. */
  readonly total: number | undefined;
  /** Why the latest page could not be loaded, in a sentence. */
  readonly error: string | undefined;
  /** The texts that the search looked for. */
  readonly words: readonly string[];
  /** The index of the open mail; -1 if it is not in the list. */
  readonly openIndex: number;
  /** Holds the place of the list, as `VirtualList` asks for it. */
  readonly hold: { readonly newCount: number; change(isHeld: boolean): void };
  /** Returns a mail; `undefined` until it is loaded. */
  at(index: number): MailSummary | undefined;
  /** Loads the messages from the index `first` to the index before `end`. */
  loadRange(first: number, end: number): void;
}

/**
 * The loaded part of a list. The object is changed in place, because the pages arrive in any order. While the list is
 * held, a mail keeps its index: `newCount` mails have come above the list, and the emulator counts them, too.
 */
class LoadedPages {
  /** The loaded mail, by its index in the list. */
  readonly mails = new Map<number, MailSummary>();
  /** The numbers of the pages that were requested. */
  readonly requested = new Set<number>();
  total: number | undefined;
  error: string | undefined;
  words: readonly string[] = [];
  isHeld = false;
  newCount = 0;
  /** The range that the list shows, in the form of the arguments of `loadRange`. */
  shownRange: readonly [first: number, end: number] = [0, 1];

  /** Returns the first mail that is shown and loaded, or else one that is only loaded, with its index. */
  findShown(): readonly [index: number, id: string] | undefined {
    for (let index = this.shownRange[0]; index < this.shownRange[1]; index += 1) {
      const mail = this.mails.get(index);
      if (mail) return [index, mail.id];
    }
    for (const [index, { id }] of this.mails) return [index, id];
    return undefined;
  }

  /** Adds a page that begins at `offset` in the emulator. `shown` is the mail whose index the emulator was asked for. */
  addPage(offset: number, { total, words, messages, index }: ReplyTo<'searchMail'>, shown = this.findShown()): void {
    this.error = undefined;
    this.words = words;
    let newCount = this.isHeld ? this.newCount : 0;
    if (this.isHeld && shown && index !== null) newCount = Math.max(0, index - shown[0]);
    // The mails of other pages have another index as soon as the list follows what is new.
    const isMoved = !this.isHeld && (newCount !== this.newCount || total !== this.total);
    this.newCount = newCount;
    this.total = Math.max(0, total - newCount);
    for (const each of [...this.mails.keys()]) {
      if (each >= this.total || (isMoved && !this.requested.has(Math.floor(each / PAGE_SIZE)))) this.mails.delete(each);
    }
    for (const [position, mail] of messages.entries()) {
      if (offset + position >= newCount) this.mails.set(offset + position - newCount, mail);
    }
  }
}

/**
 * Loads the pages that the list shows. A new query starts a new list, and the former one is shown until the new one is
 * loaded. A change of data loads the pages again.
 */
export function useMailPages(route: Route): MailPages {
  const { client, feed } = useInspector();
  const query = queryOf(route);
  const key = JSON.stringify(query);
  const [, render] = useState({});
  const state = useRef({ key, query, pages: new LoadedPages() });
  if (state.current.key !== key) state.current = { key, query, pages: new LoadedPages() };
  const loadRange = useCallback(
    (first: number, end: number) => {
      const { pages, query } = state.current;
      pages.shownRange = [first, end];
      // Until the feed is connected, nothing is loaded, because `useFeedChange` loads the pages when it connects.
      if (feed.state !== 'live') return;
      for (let page = Math.floor(first / PAGE_SIZE); page * PAGE_SIZE <= Math.max(first, end - 1); page += 1) {
        if (pages.requested.has(page)) continue;
        pages.requested.add(page);
        void loadPage(client, pages, page, query).then(() => render({}));
      }
    },
    [key, feed],
  );
  useEffect(() => loadRange(0, 1), [loadRange]);
  const refresh = useCallback(() => {
    const { pages } = state.current;
    pages.requested.clear();
    loadRange(...pages.shownRange);
  }, [loadRange]);
  useFeedChange(refresh, changesData);
  const changeHold = useCallback(
    (isHeld: boolean) => {
      const { pages } = state.current;
      pages.isHeld = isHeld;
      if (!isHeld && pages.newCount > 0) refresh();
    },
    [refresh],
  );
  const indexOfOpen = ({ mails }: LoadedPages) => [...mails].find(([, { id }]) => id === route.id)?.[0];
  const findOpenIndex = async () => {
    const loadedIndex = indexOfOpen(state.current.pages);
    if (route.id === undefined || loadedIndex !== undefined) return loadedIndex;
    const { index } = await client.searchMail({ ...query, limit: 1, indexOf: route.id });
    const { pages } = state.current;
    if (index !== null && index < pages.newCount) changeHold(false);
    return index === null ? undefined : Math.max(0, index - pages.newCount);
  };
  const { value: foundIndex } = useLoaded(findOpenIndex, `${key} ${route.id}`);
  const shown = useRef(state.current);
  const { total, error } = state.current.pages;
  if (total !== undefined || error !== undefined) shown.current = state.current;
  const { pages } = shown.current;
  const isFormer = shown.current !== state.current;
  return {
    key: shown.current.key,
    total: pages.total,
    error: pages.error,
    words: pages.words,
    openIndex: indexOfOpen(pages) ?? (isFormer ? undefined : foundIndex) ?? -1,
    hold: { newCount: pages.newCount, change: changeHold },
    at: (index) => pages.mails.get(index),
    loadRange,
  };
}

/** Returns the query for the mail that a route lists. */
function queryOf(route: Route) {
  const { threads, folder, ...options } = pickMailOptions(route);
  const isFolder = (name: string): name is keyof typeof FOLDERS => Object.hasOwn(FOLDERS, name);
  return { ...options, ...(folder && isFolder(folder) && { folder }), ...(threads && { threads: true }) };
}

async function loadPage(client: ControlClient, pages: LoadedPages, page: number, query: object): Promise<void> {
  try {
    const first = page * PAGE_SIZE;
    for (let load = 1; load <= MAX_LOADS; load += 1) {
      const shown = pages.isHeld ? pages.findShown() : undefined;
      const offset = first + (pages.isHeld ? pages.newCount : 0);
      const reply = await client.searchMail({ ...query, offset, limit: PAGE_SIZE, indexOf: shown?.[1] });
      pages.addPage(offset, reply, shown);
      const last = Math.min(pages.total ?? 0, first + PAGE_SIZE) - 1;
      // Mail that came meanwhile has pushed the end of the page to the next one.
      if (pages.mails.has(last) || last < first) return;
    }
  } catch (error) {
    // The mail may be gone, for example because its sandbox was closed.
    pages.total = undefined;
    pages.error = (error as Error).message;
    pages.requested.delete(page);
  }
}
