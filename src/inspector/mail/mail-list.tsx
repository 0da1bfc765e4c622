import { useInspector } from '../inspector.ts';
import { replyOf } from '../inspector-client.ts';
import { open, type Route } from '../page-route.ts';
import { Failure, Time } from '../parts.tsx';
import { SearchField } from '../search-field.tsx';
import { useLoaded } from '../use-loaded.ts';
import { usePages } from '../use-pages.ts';
import { VirtualList } from '../virtual-list.tsx';
import { nameOf } from './display-form.ts';
import { listOptions, mailLink } from './mail-link.ts';
import type { MailLine } from './mail-types.ts';

const ROW_HEIGHT = 64;

const FOLDERS = ['all', 'inbox', 'sent', 'starred', 'archived', 'trash'] as const;

/** The list of mail: what the tree, the folder and the search choose, newest first. */
export function MailList({ route }: { readonly route: Route }) {
  const { client } = useInspector();
  const { threads, folder, ...options } = listOptions(route);
  const query = { ...options, folder: FOLDERS.find((name) => name === folder), ...(threads && { threads: true }) };
  const search = (page: { offset?: number; limit: number; indexOf?: string }) =>
    replyOf(client.GET('/__mock/messages/search', { params: { query: { ...definedOf(query), ...page } } }));
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
        open={(index) => {
          const line = at(index);
          if (line) open(mailLink(route, line.id, { tab: route.options.tab }), { replace: true });
        }}
        shown={need}
      />
    </div>
  );
}

function definedOf<Query extends object>(query: Query) {
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Query]: NonNullable<Query[Name]>;
  };
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
      <Time at={line.receivedAt} isShort />
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
