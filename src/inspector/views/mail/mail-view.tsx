import { ListView } from '../../list-view.tsx';
import { createLivePart } from '../../live-view.tsx';
import { mailLink, type Route } from '../../page-route.ts';
import { type Tenant, useScope } from '../../scope.ts';
import { ComposeForm, type NewMail } from './compose-form.tsx';
import { MailDetail } from './mail-detail.tsx';
import { ListTools, MailActions, MailList } from './mail-list.tsx';
import { useMailPages } from './mail-pages.ts';
import { MailboxTree } from './mailbox-tree.tsx';

const Drafts = createLivePart(async () => (await import('../live-views.ts')).Drafts);

/**
 * The mail of every inbox: a tree of inboxes, the list, and the open mail or a form for a new mail. For the folder
 * `drafts`, the drafts are shown instead.
 */
export function MailView({ route }: { readonly route: Route }) {
  const isDrafts = route.options.folder === 'drafts' && route.options.compose === undefined;
  return isDrafts ? <Drafts route={route} aside={<MailboxTree route={route} />} /> : <Mails route={route} />;
}

function Mails({ route }: { readonly route: Route }) {
  const { tenants } = useScope();
  const pages = useMailPages(route);
  const { id, options } = route;
  return (
    <ListView
      title="Mail"
      actions={<MailActions route={route} />}
      aside={<MailboxTree route={route} />}
      list={
        <>
          <ListTools route={route} total={pages.total} />
          <MailList pages={pages} route={route} />
        </>
      }
      detailLabel="Open mail"
      detail={
        options.compose !== undefined ? (
          <ComposeForm initial={createNewMail(tenants, route)} route={route} />
        ) : (
          id !== undefined && <MailDetail id={id} words={pages.words} route={route} />
        )
      }
      hint="Choose a mail. It stays unread for your agent."
      back={mailLink(route, undefined)}
    />
  );
}

/** Returns a new mail to the chosen inbox, or to the first inbox of the chosen tenant or workspace. */
function createNewMail(tenants: readonly Tenant[], { options }: Route): NewMail {
  const [chosen] = tenants
    .filter(({ id }) => (options.tenant ?? id) === id)
    .flatMap(({ id: tenant, workspaces }) => workspaces.map((workspace) => ({ ...workspace, tenant })))
    .filter(({ id }) => (options.workspace ?? id) === id)
    .flatMap(({ tenant, inboxes }) => inboxes.map(({ id, address: to }) => ({ id, to, tenant })))
    .filter(({ id }) => (options.inbox ?? id) === id);
  return chosen ?? { to: '' };
}
