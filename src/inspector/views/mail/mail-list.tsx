import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { useInspector } from '../../inspector.ts';
import { listOptions, mailLink } from '../../links.ts';
import { open, type Route } from '../../page-route.ts';
import { Failure, SearchField } from '../../parts.tsx';
import { Time } from '../../time.tsx';
import { changesData, useFeedChange, useLoaded } from '../../use-loaded.ts';
import { VirtualList } from '../../virtual-list.tsx';
import type { MailLine } from './mail-types.ts';
import { nameOf } from './mail-types.ts';

const ROW_HEIGHT = 64;

const FOLDERS = ['all', 'inbox', 'sent', 'starred', 'archived', 'trash'] as const;

/** The list of mail: what the tree, the folder and the search choose, newest first. */
export function MailList({ route }: { readonly route: Route }) {
  const { client } = useInspector();
  const { threads, folder, ...options } = listOptions(route);
  const query = { ...options, folder: FOLDERS.find((name) => name === folder), ...(threads && { threads: true }) };
  const search = (page: { offset?: number; limit: number; indexOf?: string }) =>
    client.searchMail({ ...query, ...page });
  const key = JSON.stringify(query);
  const { total, error, at, indexOf, need } = usePages<MailLine>(async (offset, limit) => {
    const { total, messages } = await search({ offset, limit });
    return { total, items: messages };
  }, key);
  const loaded = indexOf(({ id }) => id === route.id);
  const findOpen = async () =>
    route.id === undefined || loaded >= 0 ? loaded : (await search({ limit: 1, indexOf: route.id })).index;
  const { value: found } = useLoaded(findOpen, `${key} ${route.id}`);
  const selected = loaded >= 0 ? loaded : (found ?? -1);
  return (
    <div class="column">
      <Tools route={route} />
      <Failure error={error} />
      {total === 0 && <p class="hint empty">No mail here{options.search && ' contains this text'}.</p>}
      <VirtualList
        label={`Mail, ${total ?? 0} messages`}
        total={total ?? 0}
        rowHeight={ROW_HEIGHT}
        selected={total === undefined ? -1 : selected}
        openId={route.id}
        rowAt={(index) => <MailRow line={at(index)} route={route} />}
        idAt={(index) => at(index)?.id}
        open={(index) => {
          const line = at(index);
          if (line) open(mailLink(route, line.id, { tab: route.options.tab }), { replace: true });
        }}
        shown={need}
      />
    </div>
  );
}

/** Chooses what the list shows. */
function Tools({ route }: { readonly route: Route }) {
  const change = (changes: Record<string, string | undefined>) => open(mailLink(route, route.id, changes));
  return (
    <div class="tools">
      <SearchField
        label="Search mail"
        value={route.options.search ?? ''}
        search={(search) => open(mailLink(route, route.id, { search }), { replace: true })}
      />
      <select
        aria-label="Folder"
        value={route.options.folder ?? 'all'}
        onChange={({ currentTarget: { value } }) => change({ folder: value === 'all' ? undefined : value })}
      >
        {FOLDERS.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
      <label class="check">
        <input
          type="checkbox"
          checked={route.options.threads !== undefined}
          onChange={({ currentTarget: { checked } }) => change({ threads: checked ? 'true' : undefined })}
        />
        Threads
      </label>
      <a class="button" href={mailLink(route, undefined, { compose: 'true' })}>
        New mail
      </a>
    </div>
  );
}

function noteOf({ messagesInThread, attachments }: MailLine): string {
  const notes = [
    messagesInThread > 1 && `${messagesInThread} in thread`,
    attachments > 0 && (attachments === 1 ? '1 file' : `${attachments} files`),
  ];
  return notes.filter(Boolean).join(', ');
}

/** One mail of the list; an empty row until it is loaded. */
function MailRow({ line, route }: { readonly line: MailLine | undefined; readonly route: Route }) {
  if (!line) return <span class="row soft">…</span>;
  const isUnread = line.direction === 'inbound' && !line.isRead;
  const other = line.direction === 'inbound' ? nameOf(line.from) : `To ${line.to.map(nameOf).join(', ')}`;
  return (
    <a
      class={isUnread ? 'row unread' : 'row'}
      href={mailLink(route, line.id)}
      aria-current={route.id === line.id ? 'true' : undefined}
    >
      <span>{other}</span>
      <Time at={line.receivedAt} />
      <span>
        {isUnread && <span class="hidden">Unread: </span>}
        {line.isStarred && '★ '}
        {line.subject || '(no subject)'}
      </span>
      <span class="soft">{noteOf(line)}</span>
      <span class="soft wide">{line.snippet}</span>
    </a>
  );
}

/** How many items are loaded at a time. */
const PAGE_SIZE = 100;

/** A part of a long list. */
interface Page<Item> {
  readonly total: number;
  readonly items: readonly Item[];
}

/** A long list, of which only the parts that are shown are loaded. */
interface Pages<Item> {
  /** How many items there are; `undefined` until that is known. */
  readonly total: number | undefined;
  /** Why the latest part could not be loaded, in a sentence. */
  readonly error: string | undefined;
  /** Returns an item; `undefined` until it is loaded. */
  at(index: number): Item | undefined;
  /** Returns the index of the item that matches, among those that are loaded; -1 if there is none. */
  indexOf(isMatch: (item: Item) => boolean): number;
  /** Loads the items from `first` to before `last`. */
  need(first: number, last: number): void;
}

/** What is known of a list. It is changed in place, because the parts arrive in any order. */
class Parts<Item> {
  readonly items = new Map<number, Item>();
  readonly requested = new Set<number>();
  total: number | undefined;
  error: string | undefined;
  shown: readonly [first: number, last: number] = [0, 1];
}

/** Loads the parts of a list that are needed. A change of `key` starts anew; a change of the data loads again. */
function usePages<Item>(load: (offset: number, limit: number) => Promise<Page<Item>>, key: string): Pages<Item> {
  const { feed } = useInspector();
  const [, render] = useState({});
  const state = useRef({ key, parts: new Parts<Item>(), load });
  if (state.current.key !== key) state.current = { key, parts: new Parts<Item>(), load };
  state.current.load = load;
  const need = useCallback(
    (first: number, last: number) => {
      const { parts, load } = state.current;
      parts.shown = [first, last];
      // Everything is loaded as soon as the feed is connected.
      if (feed.state !== 'live') return;
      for (let page = Math.floor(first / PAGE_SIZE); page * PAGE_SIZE <= Math.max(first, last - 1); page += 1) {
        if (parts.requested.has(page)) continue;
        parts.requested.add(page);
        void fill(parts, page, load).then(() => render({}));
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
  return {
    total: parts.total,
    error: parts.error,
    at: (index) => parts.items.get(index),
    indexOf: (isMatch) => [...parts.items].find(([, item]) => isMatch(item))?.[0] ?? -1,
    need,
  };
}

async function fill<Item>(
  parts: Parts<Item>,
  page: number,
  load: (offset: number, limit: number) => Promise<Page<Item>>,
): Promise<void> {
  const offset = page * PAGE_SIZE;
  try {
    const { total, items } = await load(offset, PAGE_SIZE);
    parts.error = undefined;
    parts.total = total;
    for (const index of [...parts.items.keys()]) if (index >= total) parts.items.delete(index);
    for (const [position, item] of items.entries()) parts.items.set(offset + position, item);
  } catch (error) {
    // What was there may be gone, such as the mail of a sandbox that was closed.
    parts.total = undefined;
    parts.error = (error as Error).message;
    parts.requested.delete(page);
  }
}
