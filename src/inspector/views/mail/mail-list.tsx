import { ArrowDownLeft, ArrowUpRight, type IconNode, MessagesSquare, Paperclip, SquarePen, Star, X } from 'lucide';
import type { ComponentChildren } from 'preact';
import { plural } from '../../../basics/text.ts';
import { parseSearch, removeTerm, SEARCH_HINT } from '../../../control/journal/from-entries/search-terms.ts';
import { LiveOnly, useInspector } from '../../inspector.ts';
import { Row, VirtualList } from '../../list-view.tsx';
import { mailLink, open, type Route } from '../../page-route.ts';
import {
  ButtonLink,
  CheckBox,
  Chip,
  Failure,
  Filters,
  Icon,
  Loading,
  SearchField,
  Select,
  SkeletonLine,
} from '../../parts.tsx';
import { type Sample, SampleMark, useSamples } from '../../samples.tsx';
import { placeOfInbox, type Scope, useScope } from '../../scope.ts';
import { ClockTime, UserText } from '../../text.tsx';
import { FOLDERS, type MailPages } from './mail-pages.ts';
import { type MailSummary, nameOf } from './mail-types.ts';
import { ClearButton } from './removal.tsx';
import { SamplesButton } from './samples-dialog.tsx';

/** The list of mail: what the tree, the folder and the search choose, newest first. */
export function MailList({ pages, route }: { readonly pages: MailPages; readonly route: Route }) {
  const { key, total, error, words, openIndex, hold, at, loadRange } = pages;
  const { sandbox } = useScope();
  const { value: samples = [] } = useSamples(sandbox);
  if (total === undefined) return <Loading error={error} lines={9} />;
  return (
    <>
      <Failure error={error} />
      <VirtualList
        key={key}
        label={`Mail, ${total + hold.newCount} messages`}
        items={{ length: total, at }}
        hold={hold}
        openIndex={openIndex}
        openId={route.id}
        empty={
          route.options.search
            ? 'No mail matches the search. Remove a part of it.'
            : 'No mail here. Deliver one by New mail.'
        }
        renderRow={(mail) => <MailRow mail={mail} samples={samples} words={words} route={route} />}
        createLink={(id) => mailLink(route, id, { tab: route.options.tab })}
        onRowsChange={loadRange}
      />
      <LiveOnly>
        <ClearButton total={total} route={route} />
      </LiveOnly>
    </>
  );
}

interface ListToolsProps {
  readonly route: Route;
  /** How many messages the list has; `undefined` until the number is known. */
  readonly total?: number | undefined;
}

/** The buttons for a new mail and for samples. */
export function MailActions({ route }: Pick<ListToolsProps, 'route'>) {
  const { folder } = route.options;
  const isNothingOpen = route.id === undefined && route.options.compose === undefined;
  const options = { compose: 'true', folder: folder === 'drafts' ? undefined : folder };
  return (
    <LiveOnly>
      <ButtonLink
        icon={SquarePen}
        text="New mail"
        isPrimary={isNothingOpen}
        href={mailLink(route, undefined, options)}
      />
      <SamplesButton text="Samples" />
    </LiveOnly>
  );
}

/** The search and the filters of the list. Before the first mail, nothing can be searched. */
export function ListTools({ route, total }: ListToolsProps) {
  const { search = '', folder, threads } = route.options;
  const { isTrace } = useInspector();
  const isDrafts = folder === 'drafts';
  const isFirst = total === 0 && search === '' && folder === undefined && threads === undefined;
  if (isFirst) return null;
  return (
    <div class="tools" title={SEARCH_HINT}>
      <SearchField
        label="Search mail"
        value={search}
        search={(search) => open(mailLink(route, route.id, { search }), { replace: true })}
      />
      <Conditions search={search} route={route} />
      <Filters count={[folder, threads].filter(Boolean).length}>
        <Select
          label="Folder"
          value={folder ?? 'all'}
          options={[...Object.entries(FOLDERS), ...(isTrace ? [] : [['drafts', 'Drafts'] as const])]}
          choose={(folder) => open(mailLink(route, undefined, { folder: folder === 'all' ? undefined : folder }))}
        />
        {!isDrafts && (
          <CheckBox
            text="Threads"
            isOn={threads !== undefined}
            change={(isOn) => open(mailLink(route, route.id, { threads: isOn ? 'true' : undefined }))}
          />
        )}
      </Filters>
    </div>
  );
}

/** The conditions of the search, such as `from:dana`, as chips that remove them. */
function Conditions({ search, route }: { readonly search: string; readonly route: Route }) {
  const conditions = parseSearch(search).filter(({ name }) => name !== undefined);
  if (conditions.length === 0) return null;
  return (
    <ul class="conditions" aria-label="Conditions of the search">
      {conditions.map((condition) => (
        <li key={condition.written}>
          <a
            class="chip plain condition"
            href={mailLink(route, route.id, { search: removeTerm(search, condition) })}
            title={`Search without ${condition.written}`}
          >
            <UserText text={condition.written} /> <Icon icon={X} />
            <span class="hidden">, remove</span>
          </a>
        </li>
      ))}
    </ul>
  );
}

interface MailRowProps {
  readonly mail: MailSummary | undefined;
  readonly samples: readonly Sample[];
  readonly words: readonly string[];
  readonly route: Route;
}

/** One mail of the list. The row is empty until the mail is loaded. */
function MailRow({ mail, samples, words, route }: MailRowProps) {
  const scope = useScope();
  if (!mail) {
    return (
      <span class="row">
        <SkeletonLine />
        <SkeletonLine />
      </span>
    );
  }
  const isInbound = mail.direction === 'inbound';
  const isUnread = isInbound && !mail.isRead;
  const counterpart = isInbound ? nameOf(mail.from) : mail.to.map(nameOf).join(', ');
  const place = placeOf(mail, scope, route);
  return (
    <Row
      href={mailLink(route, mail.id)}
      isOpen={route.id === mail.id}
      isUnread={isUnread}
      icon={isInbound ? ArrowDownLeft : ArrowUpRight}
      tone="plain"
      who={
        <>
          {!isInbound && 'To '}
          <UserText text={counterpart} find={words} />
        </>
      }
      when={<ClockTime at={mail.receivedAt} />}
      what={
        <>
          {isUnread && <span class="hidden">Unread: </span>}
          <UserText text={mail.subject || '(no subject)'} find={words} />
        </>
      }
      state={
        <>
          <SampleMark samples={samples} mailId={mail.id} />
          <Marks mail={mail} />
        </>
      }
      more={
        <>
          {place && (
            <span class="place" title={place.title}>
              <bdi>{place.name}</bdi>
            </span>
          )}
          <UserText text={mail.snippet} find={words} />
        </>
      }
    />
  );
}

/**
 * Returns the inbox of a mail, and its sandbox if it has one, if the list has mail of several inboxes; `undefined` if
 * one inbox is chosen.
 */
function placeOf({ tenantId, inboxId }: MailSummary, scope: Scope, { options }: Route) {
  if (options.inbox !== undefined) return undefined;
  const tenant = scope.tenants.find(({ id }) => id === tenantId);
  const inbox = tenant?.workspaces.flatMap(({ inboxes }) => inboxes).find(({ id }) => id === inboxId);
  if (!tenant || !inbox) return undefined;
  return {
    name: placeOfInbox(scope, inbox.address, tenantId),
    title: `${inbox.address}, ${tenant.isSandbox ? 'sandbox ' : ''}${tenant.name}`,
  };
}

function Marks({ mail: { isStarred, attachments, messagesInThread, bouncedAt } }: { readonly mail: MailSummary }) {
  return (
    <>
      {messagesInThread > 1 && (
        <Mark icon={MessagesSquare} title={`${messagesInThread} messages in the thread`}>
          {messagesInThread}
        </Mark>
      )}
      {attachments > 0 && <Mark icon={Paperclip} title={plural(attachments, 'file', 'files')} />}
      {isStarred && <Mark icon={Star} title="Starred" />}
      {bouncedAt !== null && <Chip tone="bad" text="Bounced" />}
    </>
  );
}

function Mark({ icon, title, children }: { icon: IconNode; title: string; children?: ComponentChildren }) {
  return (
    <span title={title}>
      <Icon icon={icon} /> {children}
      <span class="hidden">{title}</span>
    </span>
  );
}
