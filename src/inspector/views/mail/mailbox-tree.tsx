import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { linkTo, type Route } from '../../page-route.ts';
import { Failure, toBase64 } from '../../parts.tsx';
import { type Tenant, useScope } from '../../scope.ts';
import { type Action, useAction } from '../../use-loaded.ts';
import { useDelivery } from './compose-form.tsx';

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
        <p class="hint small">Drop an .eml file on an inbox to deliver it there.</p>
      </nav>
    </details>
  );
}

type PartProps = { readonly route: Route; readonly action: Action };

function Tenants({ tenants, ...shared }: PartProps & { readonly tenants: readonly Tenant[] }) {
  return (
    <ul>
      {tenants.map((tenant) => (
        <li key={tenant.id}>
          <Branch option="tenant" of={tenant} name={tenant.name} {...shared} />
          {tenant.workspaces.map((workspace) => (
            <ul key={workspace.id}>
              <li>
                <Branch option="workspace" of={workspace} name={workspace.name} {...shared} />
              </li>
              {workspace.inboxes.map((inbox) => (
                <DropTarget key={inbox.id} address={inbox.address} tenant={tenant.id} {...shared}>
                  <Branch option="inbox" of={inbox} name={inbox.address} {...shared} />
                </DropTarget>
              ))}
            </ul>
          ))}
        </li>
      ))}
    </ul>
  );
}

interface BranchProps extends PartProps {
  /** The option of the URL that chooses it. */
  readonly option: 'tenant' | 'workspace' | 'inbox';
  readonly of: { readonly id: string; readonly messages?: number; readonly unread?: number };
  readonly name: string;
}

/** The link to the mail of a tenant, a workspace or an inbox, with how much is unread. */
function Branch({ option, of: { id, messages, unread = 0 }, name, route }: BranchProps) {
  const { folder, threads, tenant, workspace = tenant, inbox = workspace } = route.options;
  return (
    <a
      class={`branch ${option}`}
      href={linkTo('mail', undefined, { folder, threads, [option]: id })}
      aria-current={inbox === id ? 'true' : undefined}
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

type DropTargetProps = PartProps & { address: string; tenant: string; children: ComponentChildren };

/** An inbox in the tree. A file that is dropped on it is delivered to it. */
function DropTarget({ address, tenant, route, action, children }: DropTargetProps) {
  const deliver = useDelivery(route);
  const [isTarget, setTarget] = useState(false);
  const drop = async (file: File) => deliver({ eml: await toBase64(file), to: [address] }, tenant);
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
      {children}
    </li>
  );
}
