import { useInspector } from '../../inspector.ts';
import { mailLink } from '../../links.ts';
import { open, type Route } from '../../page-route.ts';
import { Failure } from '../../parts.tsx';
import { useShortcuts } from '../../shortcuts.ts';
import { useLoaded } from '../../use-loaded.ts';
import { ComposeForm, type NewMail } from './compose-form.tsx';
import { MailDetail } from './mail-detail.tsx';
import { MailList } from './mail-list.tsx';
import { loadTenants, type Tenant } from './mail-types.ts';
import { MailboxTree } from './mailbox-tree.tsx';

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
