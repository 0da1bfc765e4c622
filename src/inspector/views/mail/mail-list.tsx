import { ArrowDownLeft, ArrowUpRight, type IconNode, MessagesSquare, Paperclip, SquarePen, Star } from 'lucide';
import type { ComponentChildren } from 'preact';
import { LiveOnly } from '../../inspector.ts';
import { Row, VirtualList } from '../../list-view.tsx';
import { mailLink, open, type Route } from '../../page-route.ts';
import { ButtonLink, CheckBox, Chip, Failure, formatCount, Icon, Loading, SearchField, Select } from '../../parts.tsx';
import { type Sample, SampleMark, useSamples } from '../../samples.tsx';
import { useScope } from '../../scope.ts';
import { Time, UserText } from '../../text.tsx';
import { FOLDERS, type MailPages } from './mail-pages.ts';
import { type MailSummary, nameOf } from './mail-types.ts';
import { ClearButton } from './removal.tsx';

/** The list of mail: what the tree, the folder and the search choose, newest first. */
export function MailList({ pages, route }: { readonly pages: MailPages; readonly route: Route }) {
  const { total, error, words, openIndex, at, loadRange } = pages;
  const { sandbox } = useScope();
  const { value: samples = [] } = useSamples(sandbox);
  if (total === undefined) return <Loading error={error} />;
  return (
    <>
      <Failure error={error} />
      <VirtualList
        label={`Mail, ${total} messages`}
        items={{ length: total, at }}
        openIndex={openIndex}
        openId={route.id}
        empty={route.options.search ? 'No mail matches the search.' : 'No mail here.'}
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

const SEARCH_HINT = 'A text, or from:dana to:lee subject:"order 1042" has:attachment is:unread';

/** The search and the filters of the list, and a button for a new mail. */
export function ListTools({ route }: { readonly route: Route }) {
  const { search = '', folder, threads } = route.options;
  const isDrafts = folder === 'drafts';
  const isNothingOpen = route.id === undefined && route.options.compose === undefined;
  const composeLink = mailLink(route, undefined, { compose: 'true', folder: isDrafts ? undefined : folder });
  return (
    <div class="tools" title={SEARCH_HINT}>
      <SearchField
        label="Search mail"
        value={search}
        search={(search) => open(mailLink(route, route.id, { search }), { replace: true })}
      />
      <Select
        label="Folder"
        value={folder ?? 'all'}
        options={[...Object.entries(FOLDERS), ['drafts', 'Drafts'] as const]}
        choose={(folder) => open(mailLink(route, undefined, { folder: folder === 'all' ? undefined : folder }))}
      />
      {!isDrafts && (
        <CheckBox
          text="Threads"
          isOn={threads !== undefined}
          change={(isOn) => open(mailLink(route, route.id, { threads: isOn ? 'true' : undefined }))}
        />
      )}
      <LiveOnly>
        <ButtonLink icon={SquarePen} text="New mail" isPrimary={isNothingOpen} href={composeLink} />
      </LiveOnly>
    </div>
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
  if (!mail) return <span class="row soft">…</span>;
  const isInbound = mail.direction === 'inbound';
  const isUnread = isInbound && !mail.isRead;
  const counterpart = isInbound ? nameOf(mail.from) : mail.to.map(nameOf).join(', ');
  return (
    <Row
      href={mailLink(route, mail.id)}
      isOpen={route.id === mail.id}
      isNew={isUnread}
      icon={isInbound ? ArrowDownLeft : ArrowUpRight}
      tone="plain"
      who={
        <>
          {!isInbound && 'To '}
          <UserText text={counterpart} find={words} />
        </>
      }
      when={<Time at={mail.receivedAt} />}
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
      more={<UserText text={mail.snippet} find={words} />}
    />
  );
}

function Marks({ mail: { isStarred, attachments, messagesInThread, bouncedAt } }: { readonly mail: MailSummary }) {
  return (
    <>
      {messagesInThread > 1 && (
        <Mark icon={MessagesSquare} title={`${messagesInThread} messages in the thread`}>
          {messagesInThread}
        </Mark>
      )}
      {attachments > 0 && <Mark icon={Paperclip} title={formatCount(attachments, 'file', 'files')} />}
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
