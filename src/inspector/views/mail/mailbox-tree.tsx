import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { LiveOnly } from '../../inspector.ts';
import { linkTo, type Route } from '../../page-route.ts';
import { Failure, toBase64 } from '../../parts.tsx';
import { type Tenant, useScope } from '../../scope.ts';
import { type Action, useAction } from '../../use-loaded.ts';
import { useMailDelivery } from './compose-form.tsx';

/** The tenants, workspaces and inboxes, and the sandboxes, with how much mail is unread. */
export function MailboxTree({ route }: { readonly route: Route }) {
  const { tenants, tenant } = useScope();
  const action = useAction();
  const shown = tenants.filter(({ id }) => (tenant ?? id) === id);
  const sandboxes = shown.filter(({ isSandbox }) => isSandbox);
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
        <Tenants tenants={shown.filter(({ isSandbox }) => !isSandbox)} route={route} action={action} />
        {sandboxes.length > 0 && <h2>Sandboxes</h2>}
        <Tenants tenants={sandboxes} route={route} action={action} />
        <LiveOnly>
          <p class="hint small">Drop an .eml file on an inbox to deliver it there.</p>
        </LiveOnly>
      </nav>
    </details>
  );
}

type TreeProps = { readonly route: Route; readonly action: Action };

function Tenants({ tenants, ...shared }: TreeProps & { readonly tenants: readonly Tenant[] }) {
  return (
    <ul>
      {tenants.map((tenant) => (
        <li key={tenant.id}>
          <TreeLink option="tenant" item={tenant} name={tenant.name} {...shared} />
          {tenant.workspaces.map((workspace) => (
            <ul key={workspace.id}>
              <li>
                <TreeLink option="workspace" item={workspace} name={workspace.name} {...shared} />
              </li>
              {workspace.inboxes.map((inbox) => (
                <DropTarget key={inbox.id} address={inbox.address} tenant={tenant.id} {...shared}>
                  <TreeLink option="inbox" item={inbox} name={inbox.address} {...shared} />
                </DropTarget>
              ))}
            </ul>
          ))}
        </li>
      ))}
    </ul>
  );
}

interface TreeLinkProps extends TreeProps {
  /** The option of the URL that chooses the item. */
  readonly option: 'tenant' | 'workspace' | 'inbox';
  readonly item: { readonly id: string; readonly messages?: number; readonly unread?: number };
  readonly name: string;
}

/** The link to the mail of a tenant, a workspace or an inbox, with how much is unread. */
function TreeLink({ option, item: { id, messages, unread = 0 }, name, route }: TreeLinkProps) {
  const { folder, threads, tenant, workspace, inbox } = route.options;
  const chosenId = inbox ?? workspace ?? tenant;
  return (
    <a
      class={`branch ${option}`}
      href={linkTo('mail', undefined, { folder, threads, [option]: id })}
      aria-current={chosenId === id ? 'true' : undefined}
      title={messages === undefined ? undefined : `${name}: ${messages} messages, ${unread} unread`}
    >
      <bdi class={option === 'workspace' ? 'small soft' : ''}>{name}</bdi>
      {unread > 0 && (
        <strong>
          {unread}
          <span class="hidden"> unread</span>
        </strong>
      )}
    </a>
  );
}

type DropTargetProps = TreeProps & { address: string; tenant: string; children: ComponentChildren };

/** An inbox in the tree. A file that is dropped on it is delivered to it. */
function DropTarget({ address, tenant, route, action, children }: DropTargetProps) {
  const deliver = useMailDelivery(route);
  const [isFileOver, setFileOver] = useState(false);
  const drop = async (file: File) => deliver({ eml: await toBase64(file), to: [address] }, tenant);
  return (
    <li
      class={isFileOver ? 'target' : undefined}
      onDragOver={(event) => {
        event.preventDefault();
        setFileOver(true);
      }}
      onDragLeave={() => setFileOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setFileOver(false);
        const [file] = event.dataTransfer?.files ?? [];
        if (file) void action.run(() => drop(file));
      }}
    >
      {children}
    </li>
  );
}
