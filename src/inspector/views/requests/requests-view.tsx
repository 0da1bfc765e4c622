import { ArrowLeftRight, Server, Zap } from 'lucide';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { plural } from '../../../basics/text.ts';
import type { FeedEvent } from '../../../control/journal/feed-event.ts';
import { actionOf, isRefused, NO_REPLY, resultOf } from '../../../control/journal/from-entries/call-of.ts';
import type { RequestSummary } from '../../../control/journal/request-entry.ts';
import { LiveOnly, useInspector } from '../../inspector.ts';
import {
  LINE_HEIGHT,
  LineHeadings,
  LineRow,
  ListView,
  Row,
  useComfortableRows,
  VirtualList,
} from '../../list-view.tsx';
import { open, type Route, requestLink } from '../../page-route.ts';
import { Chip, Icon, Loading, SearchField, Select } from '../../parts.tsx';
import { createOwnerFinder, isInScope, useScope } from '../../scope.ts';
import { ClockTime, formatMs, shortenIds, UserText, wordsOf } from '../../text.tsx';
import { RemovalButton } from '../../undo.tsx';
import { ALL, useFeedChange, useLog } from '../../use-loaded.ts';
import { nameOfRequest, RequestDetail, toneOf } from './request-detail.tsx';

/** The journal of requests: a list, and the open request. */
export function RequestsView({ route }: { readonly route: Route }) {
  const [droppedCount, setDroppedCount] = useState(0);
  const { value: list, error } = useRequests(setDroppedCount);
  return (
    <ListView
      title="Requests"
      list={
        <>
          {(!list || error) && <Loading error={error} />}
          <DroppedRequests count={droppedCount} />
          {list && <RequestList requests={list} route={route} />}
        </>
      }
      actions={
        <LiveOnly>{list?.[0] && <ClearButton countText={plural(list.length, 'request', 'requests')} />}</LiveOnly>
      }
      isWide
      detailLabel="Open request"
      detail={route.id !== undefined && <RequestDetail id={route.id} route={route} />}
      hint="Choose a request to see why it was answered so."
      back={requestLink(route, undefined)}
    />
  );
}

/** Says how many earlier requests the journal no longer had when the list was loaded. */
function DroppedRequests({ count }: { readonly count: number }) {
  if (count === 0) return null;
  const [noun, verb] = count === 1 ? ['request', 'is'] : ['requests', 'are'];
  return <p class="hint">{`${count.toLocaleString('en')} earlier ${noun} ${verb} no longer kept.`}</p>;
}

/** The part of a list of requests that this view reads. */
interface LoadedRequests {
  readonly requests: RequestSummary[];
  readonly dropped?: { readonly count: number };
}

/** A button that empties the journal. `countText` says how many requests it has, such as `3 requests`. */
function ClearButton({ countText }: { readonly countText: string }) {
  const { client } = useInspector();
  const clear = async () => {
    await client.clearRequests();
    return {
      text: `${countText} removed from the journal, those of sandboxes too. Undo brings all back.`,
      run: () => client.restoreRequests(),
    };
  };
  return <RemovalButton label="Clear the journal" change={clear} />;
}

/** After these events, all requests are loaded again, because the journal may have changed in any way. */
const RELOAD_KINDS: ReadonlySet<FeedEvent['kind']> = new Set(['journal', 'reset', 'gap']);

/** Loads the journal, and adds each request that the feed reports. */
function useRequests(setDroppedCount: (count: number) => void) {
  return useLog<RequestSummary>({
    async loadAll(client) {
      const { requests, dropped } = (await client.listRequests({ format: 'summary' })) as LoadedRequests;
      setDroppedCount(dropped?.count ?? 0);
      return requests;
    },
    // No request is loaded alone, because an event contains its request.
    loadOne: async () => undefined,
    changesOf(event) {
      if (event.kind === 'request' || event.kind === 'mail-command') return [[event.data.id, event.data]];
      return RELOAD_KINDS.has(event.kind) ? [ALL] : [];
    },
  });
}

/** The filters for the status of a request. */
const STATUSES: Readonly<Record<string, (request: RequestSummary) => boolean>> = {
  succeeded: (request) => !isRefused(request) && resultOf(request) !== NO_REPLY,
  refused: isRefused,
  '4xx': (request) => request.protocol === 'http' && request.status >= 400 && request.status < 500,
  '5xx': (request) => request.protocol === 'http' && request.status >= 500,
};

/** The requests that the search and the filters choose. */
function RequestList({ requests, route }: { requests: readonly RequestSummary[]; route: Route }) {
  const scope = useScope();
  const findOwner = useMemo(() => createOwnerFinder(scope), [scope.tenants]);
  const { isComfortable, rowsSwitch } = useComfortableRows();
  const { search = '', status = '' } = route.options;
  const words = wordsOf(search);
  const chosen = requests.filter(
    (request) =>
      isInScope(scope, request.principal) &&
      (STATUSES[status]?.(request) ?? true) &&
      words.every((word) => searchTextOf(request, ownerOf(request, findOwner)).includes(word)),
  );
  const change = (changes: Record<string, string>) =>
    open(requestLink(route, route.id, changes), { replace: 'search' in changes });
  const ShownRow = isComfortable ? RequestRow : RequestLine;
  const [subjects, showSubjects] = useSubjects(chosen);
  return (
    <>
      <div class="tools">
        <SearchField label="Search requests" value={search} search={(search) => change({ search })} />
        <Select
          label="Status"
          value={status}
          options={[['', 'Every status'], ...Object.keys(STATUSES)]}
          choose={(status) => change({ status })}
        />
        {rowsSwitch}
      </div>
      <VirtualList
        key={JSON.stringify([scope.tenant, search, status])}
        label={`Requests, ${chosen.length} of ${requests.length}`}
        items={chosen}
        openId={route.id}
        empty={requests.length > 0 ? NO_MATCH : 'No request here. Call the API with one of the keys in Keys.'}
        onRowsChange={showSubjects}
        headings={!isComfortable && <LineHeadings cells={HEADINGS} />}
        rowHeight={isComfortable ? undefined : LINE_HEIGHT}
        renderRow={(request) =>
          request && (
            <ShownRow
              request={request}
              subject={subjects.get(mailOf(request) ?? '')}
              owner={ownerOf(request, findOwner)}
              words={words}
              route={route}
            />
          )
        }
        createLink={(id) => requestLink(route, id)}
      />
    </>
  );
}

const NO_MATCH = 'No request matches the search and the filters.';

/** Returns the text of a request in which a search looks for words. */
function searchTextOf(request: RequestSummary, owner: string): string {
  const { id, path, operation, key, code, reason } = request;
  const texts = [id, `${actionOf(request)} ${path}`, operation, key, owner, resultOf(request), code, reason];
  return texts.join('\n').toLowerCase();
}

const HEADINGS = {
  kind: 'Method',
  what: 'Operation',
  state: 'Status',
  duration: 'Took',
  owner: 'Key of',
  when: 'At (UTC)',
};

/** Returns whose key a request had: the address of an inbox, or the name of a workspace or a tenant. */
function ownerOf({ key, principal }: RequestSummary, findOwner: ReturnType<typeof createOwnerFinder>): string {
  if (!principal) return key === null ? 'no key' : 'no valid key';
  const { tier, tenantId, workspaceId, inboxId } = principal;
  return findOwner(principal) ?? shortenIds(inboxId ?? workspaceId ?? tenantId ?? tier);
}

/** Returns the id of the mail that a request is about: one that it has sent or read, or that its path names. */
function mailOf({ messages, read, path }: RequestSummary): string | undefined {
  return messages[0] ?? read[0] ?? /\/messages\/([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})/.exec(path)?.[1];
}

/** How long the rows have to stay where they are until the subjects of their mails are loaded, in milliseconds. */
const SUBJECTS_AFTER_MS = 200;

/**
 * Returns the subjects of the mails that the rendered rows are about, by the id of the mail, and a function that takes
 * the first rendered row and the end of the rendered rows. Each mail is loaded once.
 */
function useSubjects(requests: readonly RequestSummary[]) {
  const { client } = useInspector();
  const [subjects, setSubjects] = useState<ReadonlyMap<string, string>>(new Map());
  const [[first, end], setRows] = useState<readonly [first: number, end: number]>([0, 0]);
  const asked = useRef(new Set<string>());
  // After a reset, another mail may have the same id.
  const forget = useCallback(() => {
    asked.current.clear();
    setSubjects(new Map());
  }, []);
  useFeedChange(forget, ({ kind }) => kind === 'reset');
  const ids = requests.slice(first, end).flatMap((request) => mailOf(request) ?? []);
  useEffect(() => {
    const load = async () => {
      const wanted = [...new Set(ids)].filter((id) => !asked.current.has(id));
      if (wanted.length === 0) return;
      for (const id of wanted) asked.current.add(id);
      // A mail that is gone, or that never was, has no subject.
      const { messages } = await client.searchMail({ ids: wanted.join(), limit: wanted.length });
      const found = messages.map(({ id, subject }) => [id, subject] as const);
      setSubjects((before) => new Map([...before, ...found]));
    };
    const timer = setTimeout(() => void load().catch(forget), SUBJECTS_AFTER_MS);
    return () => clearTimeout(timer);
  }, [ids.join()]);
  const showSubjects = useCallback((first: number, end: number) => setRows([first, end]), []);
  return [subjects, showSubjects] as const;
}

interface RowProps {
  readonly request: RequestSummary;
  /** The subject of the mail that it is about, once it is loaded. */
  readonly subject: string | undefined;
  readonly owner: string;
  readonly words: readonly string[];
  readonly route: Route;
}

/** One request of the list, in one line. */
function RequestLine({ request, subject, owner, words, route }: RowProps) {
  const { id, protocol, path, operation, reason, at, realTime, durationMs, faults } = request;
  const name = operation ?? shortenIds(protocol === 'http' ? path : `${protocol.toUpperCase()} ${path}`);
  return (
    <LineRow
      href={requestLink(route, id)}
      isOpen={route.id === id}
      cells={{
        kind: <UserText text={actionOf(request)} find={words} />,
        what: (
          <>
            <UserText text={name} find={words} />{' '}
            {subject !== undefined && (
              <>
                <UserText inside="span" class="subject" text={subject} find={words} />{' '}
              </>
            )}
            {(reason !== null || operation !== null) && (
              <UserText inside="span" class="soft" text={shortenIds(reason ?? path)} find={words} />
            )}
          </>
        ),
        state: (
          <>
            <Chip tone={toneOf(request)} text={resultOf(request)} />
            {faults.length > 0 && (
              <span class="warn" title="Shaped by a fault">
                <Icon icon={Zap} />
                <span class="hidden">shaped by a fault</span>
              </span>
            )}
          </>
        ),
        duration: formatMs(durationMs),
        owner: <UserText text={owner} find={words} />,
        when: <ClockTime at={at} realTime={realTime} />,
      }}
    />
  );
}

/** One request of the list, in three lines. */
function RequestRow({ request, subject, owner, words, route }: RowProps) {
  const { id, protocol, path, code, key, reason, at, realTime, durationMs, faults } = request;
  const more = [subject, owner, key, code, faults.length > 0 && 'shaped by a fault', formatMs(durationMs)];
  return (
    <Row
      href={requestLink(route, id)}
      isOpen={route.id === id}
      icon={protocol === 'http' ? ArrowLeftRight : Server}
      tone={toneOf(request)}
      who={<UserText text={nameOfRequest(request)} find={words} />}
      when={<ClockTime at={at} realTime={realTime} />}
      what={<UserText text={shortenIds(reason ?? `${actionOf(request)} ${path}`)} find={words} />}
      state={<Chip tone={toneOf(request)} text={resultOf(request)} />}
      more={<UserText text={more.filter(Boolean).join(' · ')} find={words} />}
    />
  );
}
