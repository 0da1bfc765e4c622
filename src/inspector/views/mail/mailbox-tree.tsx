import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { ControlClient } from '../../../control/table/client.ts';
import { mailLink } from '../../links.ts';
import { linkTo, open, type Route } from '../../page-route.ts';
import { Failure, toBase64 } from '../../parts.tsx';
import { type Tenant, useScope } from '../../scope.ts';
import { type Action, useAction } from '../../use-loaded.ts';
import { deliver } from './deliver.ts';

/** A tenant, a workspace or an inbox. */
interface Branch {
  /** The option of the URL that chooses it. */
  readonly option: 'tenant' | 'workspace' | 'inbox';
  readonly id: string;
  readonly name: string;
  /** The id of its tenant. */
  readonly tenant: string;
  /** What an inbox has. */
  readonly counts?: { readonly messages: number; readonly unread: number };
  readonly branches: readonly Branch[];
}

function toBranch({ id: tenant, name, workspaces }: Tenant): Branch {
  return {
    ...{ option: 'tenant', id: tenant, name, tenant },
    branches: workspaces.map(({ id, name, inboxes }) => ({
      ...{ option: 'workspace', id, name, tenant },
      branches: inboxes.map(({ id, address, messages, unread }) => ({
        ...{ option: 'inbox', id, name: address, tenant, counts: { messages, unread }, branches: [] },
      })),
    })),
  };
}

/** The tenants, workspaces and inboxes, and the sandboxes, with how much mail is unread. */
export function MailboxTree({ route }: { readonly route: Route }) {
  const { tenants, tenant } = useScope();
  const action = useAction();
  const shown = tenants.filter(({ id }) => (tenant ?? id) === id);
  const sandboxes = shown.filter(({ isSandbox }) => isSandbox).map(toBranch);
  const { folder, threads, workspace, inbox } = route.options;
  return (
    <details class="tree" open={matchMedia('(min-width: 1001px)').matches}>
      <summary class="small soft">Inboxes</summary>
      <nav aria-label="Inboxes">
        <Failure error={action.error} />
        {tenant === undefined && (
          <a
            class="branch"
            href={linkTo('mail', undefined, { folder, threads })}
            aria-current={workspace || inbox ? undefined : 'true'}
          >
            All mail
          </a>
        )}
        <Branches branches={shown.filter(({ isSandbox }) => !isSandbox).map(toBranch)} route={route} action={action} />
        {sandboxes.length > 0 && <h2>Sandboxes</h2>}
        <Branches branches={sandboxes} route={route} action={action} />
        <p class="hint small">Drop an .eml file on an inbox to deliver it there.</p>
      </nav>
    </details>
  );
}

function Branches({ branches, route, action }: { branches: readonly Branch[]; route: Route; action: Action }) {
  const { folder, threads, workspace, inbox } = route.options;
  return (
    <ul>
      {branches.map((branch) => {
        const { option, id, name, counts } = branch;
        const link = (
          <a
            class={`branch ${option}`}
            href={linkTo('mail', undefined, { folder, threads, [option]: id })}
            aria-current={(inbox ?? workspace ?? route.options.tenant) === id ? 'true' : undefined}
            title={counts && `${name}: ${counts.messages} messages, ${counts.unread} unread`}
          >
            <bdi class={option === 'workspace' ? 'small soft' : ''}>{name}</bdi>
            {counts !== undefined && counts.unread > 0 && (
              <strong>
                {counts.unread}
                <span class="hidden"> unread</span>
              </strong>
            )}
          </a>
        );
        return counts ? (
          <DropTarget key={id} inbox={branch} route={route} action={action}>
            {link}
          </DropTarget>
        ) : (
          <li key={id}>
            {link}
            <Branches branches={branch.branches} route={route} action={action} />
          </li>
        );
      })}
    </ul>
  );
}

interface DropTargetProps {
  readonly inbox: Branch;
  readonly route: Route;
  readonly action: Action;
  readonly children: ComponentChildren;
}

/** An inbox, at which a file that is dropped on it is delivered. */
function DropTarget({ inbox: { name, tenant }, route, action, children }: DropTargetProps) {
  const { tenants } = useScope();
  const [isTarget, setTarget] = useState(false);
  const drop = async (client: ControlClient, file: File) => {
    const body = { eml: await toBase64(file), to: [name] };
    open(mailLink(route, await deliver(client, tenants, body, tenant), { folder: undefined }));
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
        if (file) void action.run((client) => drop(client, file));
      }}
    >
      {children}
    </li>
  );
}
