import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { LiveOnly } from '../../inspector.ts';
import { useLinkKeys } from '../../link-keys.ts';
import { linkTo, type Route } from '../../page-route.ts';
import { Failure, toBase64 } from '../../parts.tsx';
import { localPartOf, type Tenant, useScope } from '../../scope.ts';
import { type Action, useAction } from '../../use-loaded.ts';
import { useMailDelivery } from './compose-form.tsx';

/** The tenants, workspaces and inboxes, and the sandboxes, with how much mail is unread. */
export function MailboxTree({ route }: { readonly route: Route }) {
  const { tenants, tenant } = useScope();
  const action = useAction();
  const shown = tenants.filter(({ id }) => (tenant ?? id) === id);
  const sandboxes = shown.filter(({ isSandbox }) => isSandbox);
  const { folder, threads } = route.options;
  const chosen = chosenId(route);
  const tree = useLinkKeys();
  return (
    <details class="tree" open={matchMedia('(min-width: 1181px)').matches}>
      <summary class="small soft">Inboxes</summary>
      <nav aria-label="Inboxes" ref={tree}>
        <Failure error={action.error} />
        {tenant === undefined && (
          <a
            class="branch"
            href={linkTo('mail', undefined, { folder, threads })}
            aria-current={chosen ? undefined : 'true'}
          >
            All mail
          </a>
        )}
        <Tenants tenants={shown.filter(({ isSandbox }) => !isSandbox)} route={route} action={action} />
        {sandboxes.length > 0 && <Sandboxes sandboxes={sandboxes} route={route} action={action} />}
        <LiveOnly>
          <p class="hint small">Drop an .eml file on an inbox to deliver it there.</p>
        </LiveOnly>
      </nav>
    </details>
  );
}

/** Returns the id of the inbox, the workspace or the tenant whose mail is listed. */
function chosenId({ options: { inbox, workspace, tenant } }: Route): string | undefined {
  return inbox ?? workspace ?? tenant;
}

/** With more sandboxes than this, there is a field that finds some of them. */
const MANY_SANDBOXES = 5;

/** How many sandboxes the tree shows at most. */
const MAX_SANDBOXES = 50;

/** The sandboxes, each folded to its name. The one that is chosen, or that is the only one, is open. */
function Sandboxes({ sandboxes, route, action }: TreeProps & { readonly sandboxes: readonly Tenant[] }) {
  const [wanted, setWanted] = useState('');
  const chosen = chosenId(route);
  const isChosen = ({ id, workspaces }: Tenant) =>
    [id, ...workspaces.flatMap(({ id, inboxes }) => [id, ...inboxes.map(({ id }) => id)])].includes(chosen ?? '');
  const found = sandboxes.filter(({ id, name }) => `${name} ${id}`.toLowerCase().includes(wanted.trim().toLowerCase()));
  const shown = found.slice(0, MAX_SANDBOXES);
  return (
    <>
      <h2>
        Sandboxes <span class="soft small">{sandboxes.length}</span>
      </h2>
      {sandboxes.length > MANY_SANDBOXES && (
        <input
          class="small find-sandbox"
          aria-label="Find a sandbox"
          placeholder="Find a sandbox"
          value={wanted}
          onInput={({ currentTarget }) => setWanted(currentTarget.value)}
        />
      )}
      {shown.map((sandbox) => (
        <details key={sandbox.id} open={sandboxes.length === 1 || isChosen(sandbox)}>
          <summary class="sandbox">
            <bdi>{sandbox.name}</bdi> <Unread count={sumUnread(sandbox)} />
          </summary>
          <Tenants tenants={[sandbox]} nameOf={() => 'All of it'} route={route} action={action} />
        </details>
      ))}
      {found.length > shown.length && (
        <p class="hint small">and {found.length - shown.length} more: find them by name</p>
      )}
      {found.length === 0 && <p class="hint small">No sandbox has this name.</p>}
    </>
  );
}

function sumUnread({ workspaces }: Tenant): number {
  const inboxes = workspaces.flatMap(({ inboxes }) => inboxes);
  return inboxes.reduce((sum, { unread }) => sum + unread, 0);
}

type TreeProps = { readonly route: Route; readonly action: Action };

type TenantsProps = TreeProps & { readonly tenants: readonly Tenant[]; readonly nameOf?: (tenant: Tenant) => string };

function Tenants({ tenants, nameOf = ({ name }) => name, ...shared }: TenantsProps) {
  return (
    <ul>
      {tenants.map((tenant) => (
        <li key={tenant.id}>
          <TreeLink option="tenant" item={tenant} name={nameOf(tenant)} {...shared} />
          {tenant.workspaces.map((workspace) => (
            <ul key={workspace.id}>
              <li>
                <TreeLink option="workspace" item={workspace} name={workspace.name} {...shared} />
              </li>
              {workspace.inboxes.map((inbox) => (
                <DropTarget key={inbox.id} address={inbox.address} tenant={tenant.id} {...shared}>
                  <TreeLink
                    option="inbox"
                    item={inbox}
                    name={inbox.address}
                    shownName={localPartOf(inbox.address)}
                    {...shared}
                  />
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
  /** What the tree shows of the name. Default: all of it. */
  readonly shownName?: string;
}

/** The link to the mail of a tenant, a workspace or an inbox, with how much is unread. */
function TreeLink({ option, item: { id, messages, unread = 0 }, name, shownName = name, route }: TreeLinkProps) {
  const { folder, threads } = route.options;
  const counts = messages === undefined ? '' : `: ${messages} messages, ${unread} unread`;
  return (
    <a
      class={`branch ${option}`}
      href={linkTo('mail', undefined, { folder, threads, [option]: id })}
      aria-current={chosenId(route) === id ? 'true' : undefined}
      title={name + counts}
    >
      <bdi class={option === 'workspace' ? 'small soft' : ''}>{shownName}</bdi>
      <Unread count={unread} />
    </a>
  );
}

function Unread({ count }: { readonly count: number }) {
  if (count === 0) return null;
  return (
    <strong>
      {count}
      <span class="hidden"> unread</span>
    </strong>
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
