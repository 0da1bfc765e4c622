import { useState } from 'preact/hooks';
import { useInspector } from '../../inspector.ts';
import { mailLink } from '../../links.ts';
import { linkTo, open, type Route } from '../../page-route.ts';
import { Failure, toBase64 } from '../../parts.tsx';
import { useShortcuts } from '../../shortcuts.ts';
import { type Action, useAction, useLoaded } from '../../use-loaded.ts';
import { ComposeForm, type NewMail } from './compose-form.tsx';
import { deliver } from './deliver.ts';
import { MailDetail } from './mail-detail.tsx';
import { MailList } from './mail-list.tsx';
import { loadTenants, type Tenant } from './mail-types.ts';

/** The mail of every inbox: what to choose from, the list, and the open mail or a form for a new one. */
export function MailView({ route }: { readonly route: Route }) {
  const { client } = useInspector();
  const { value: tenants = [], error } = useLoaded(() => loadTenants(client), 'tenants');
  const isComposing = route.options.compose !== undefined;
  const isOpen = isComposing || route.id !== undefined;
  useShortcuts({ Escape: () => isOpen && open(mailLink(route, undefined)) });
  return (
    <>
      <h1 class="hidden">Mail</h1>
      <Failure error={error} />
      <div class={isOpen ? 'columns three open' : 'columns three'}>
        <details class="chooser" open={matchMedia('(min-width: 701px)').matches}>
          <summary>Inboxes</summary>
          <MailboxTree tenants={tenants} route={route} />
        </details>
        <MailList route={route} />
        <section class="detail" aria-label="Open mail">
          {isOpen ? (
            <a class="back" href={mailLink(route, undefined)}>
              ← Back to the list
            </a>
          ) : (
            <p class="hint">Choose a mail. The keys j and k go through the list, and ? shows all keys.</p>
          )}
          {isComposing && <ComposeForm start={chosenInbox(tenants, route)} route={route} />}
          {route.id !== undefined && <MailDetail key={route.id} id={route.id} route={route} />}
        </section>
      </div>
    </>
  );
}

/** Starts a mail to the chosen inbox, or to the first one in what is chosen. */
function chosenInbox(tenants: readonly Tenant[], { options }: Route): NewMail {
  const [chosen] = tenants
    .filter(({ id }) => (options.tenant ?? id) === id)
    .flatMap(({ id: tenant, workspaces }) => workspaces.map((workspace) => ({ ...workspace, tenant })))
    .filter(({ id }) => (options.workspace ?? id) === id)
    .flatMap(({ tenant, inboxes }) => inboxes.map(({ id, address: to }) => ({ id, to, tenant })))
    .filter(({ id }) => (options.inbox ?? id) === id);
  return chosen ?? { to: '' };
}

interface TreeProps {
  readonly tenants: readonly Tenant[];
  readonly route: Route;
}

/** The tenants, workspaces and inboxes, and the sandboxes, with how much mail is unread. */
export function MailboxTree({ tenants, route }: TreeProps) {
  const action = useAction();
  const sandboxes = tenants.filter(({ isSandbox }) => isSandbox);
  const isAll = !route.options.tenant && !route.options.workspace && !route.options.inbox;
  return (
    <nav class="tree" aria-label="Inboxes">
      <Failure error={action.error} />
      <a class="branch" href={linkTo('mail')} aria-current={isAll ? 'true' : undefined}>
        All mail
      </a>
      <Tenants tenants={tenants.filter(({ isSandbox }) => !isSandbox)} route={route} action={action} />
      {sandboxes.length > 0 && <h2>Sandboxes</h2>}
      <Tenants tenants={sandboxes} route={route} action={action} />
      <p class="hint">Drop an .eml file on an inbox to deliver it there.</p>
    </nav>
  );
}

interface BranchesProps extends TreeProps {
  readonly action: Action;
}

function Tenants({ tenants, route, action }: BranchesProps) {
  return (
    <ul>
      {tenants.map(({ id, name, workspaces }) => (
        <li key={id}>
          <a
            class="branch"
            href={linkTo('mail', undefined, { tenant: id })}
            aria-current={isChosen(route, 'tenant', id)}
          >
            <strong>{name}</strong>
          </a>
          <ul>
            {workspaces.map((workspace) => (
              <Workspace key={workspace.id} tenant={id} workspace={workspace} route={route} action={action} />
            ))}
          </ul>
        </li>
      ))}
    </ul>
  );
}

type WorkspaceOf = Tenant['workspaces'][number];

interface WorkspaceProps {
  /** The id of its tenant. */
  readonly tenant: string;
  readonly workspace: WorkspaceOf;
  readonly route: Route;
  readonly action: Action;
}

function Workspace({ tenant, workspace: { id, name, inboxes }, route, action }: WorkspaceProps) {
  return (
    <li>
      <a
        class="branch"
        href={linkTo('mail', undefined, { workspace: id })}
        aria-current={isChosen(route, 'workspace', id)}
      >
        {name}
      </a>
      <ul>
        {inboxes.map((inbox) => (
          <Inbox key={inbox.id} tenant={tenant} inbox={inbox} route={route} action={action} />
        ))}
      </ul>
    </li>
  );
}

interface InboxProps {
  readonly tenant: string;
  readonly inbox: WorkspaceOf['inboxes'][number];
  readonly route: Route;
  readonly action: Action;
}

function Inbox({ tenant, inbox: { id, address, unread, messages }, route, action }: InboxProps) {
  const { client } = useInspector();
  const [isTarget, setTarget] = useState(false);
  const drop = async (file: File) => {
    const body = { eml: await toBase64(file), to: [address] };
    open(mailLink(route, await deliver(client, body, tenant)));
  };
  return (
    <li
      class={isTarget ? 'target' : undefined}
      onDragOver={(event) => {
        event.preventDefault();
        setTarget(true);
      }}
      onDragLeave={() => setTarget(false)}
      onDrop={(event) => {
        event.preventDefault();
        setTarget(false);
        const [file] = event.dataTransfer?.files ?? [];
        if (file) void action.run(() => drop(file));
      }}
    >
      <a
        class="branch"
        href={linkTo('mail', undefined, { inbox: id })}
        aria-current={isChosen(route, 'inbox', id)}
        title={`${messages} messages, ${unread} unread`}
      >
        <span>{address}</span>
        {unread > 0 && (
          <span class="count">
            {unread}
            <span class="hidden"> unread</span>
          </span>
        )}
      </a>
    </li>
  );
}

function isChosen({ options }: Route, option: string, id: string): 'true' | undefined {
  return options[option] === id ? 'true' : undefined;
}
