import { useState } from 'preact/hooks';
import { toBase64 } from '../../browser-files.ts';
import { useInspector } from '../../inspector.ts';
import { mailLink } from '../../links.ts';
import { linkTo, open, type Route } from '../../page-route.ts';
import { Failure } from '../../parts.tsx';
import { type Action, useAction } from '../../use-action.ts';
import { deliver } from './deliver.ts';
import type { Tenant } from './mail-types.ts';

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
