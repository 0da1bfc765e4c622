import { useInspector } from '../inspector.ts';
import { type ControlClient, replyOf } from '../inspector-client.ts';
import { ComposeForm } from '../mail/compose-form.tsx';
import { MailDetail } from '../mail/mail-detail.tsx';
import { mailLink } from '../mail/mail-link.ts';
import { MailList } from '../mail/mail-list.tsx';
import type { Tenant } from '../mail/mail-types.ts';
import { MailboxTree } from '../mail/mailbox-tree.tsx';
import { open, type Route } from '../page-route.ts';
import { Failure } from '../parts.tsx';
import { useShortcuts } from '../shortcuts.ts';
import { useLoaded } from '../use-loaded.ts';

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
          {isComposing && <ComposeForm start={{ to: addressOf(tenants, route) }} route={route} />}
          {route.id !== undefined && <MailDetail key={route.id} id={route.id} route={route} />}
        </section>
      </div>
    </>
  );
}

/** Resolves with the tenants and the sandboxes; a sandbox has its own name, if it has one, instead of its tenant's. */
async function loadTenants(client: ControlClient): Promise<Tenant[]> {
  const [{ tenants }, { sandboxes }] = await Promise.all([
    replyOf(client.GET('/__mock/tenants')),
    replyOf(client.GET('/__mock/sandboxes')),
  ]);
  const names = new Map(sandboxes.map(({ id, name }) => [id, name]));
  return tenants.map((tenant) => ({ ...tenant, name: names.get(tenant.id) ?? tenant.name }));
}

/** The address of the chosen inbox, or of the first one in what is chosen. */
function addressOf(tenants: readonly Tenant[], { options }: Route): string {
  const chosen = tenants
    .filter(({ id }) => (options.tenant ?? id) === id)
    .flatMap(({ workspaces }) => workspaces)
    .filter(({ id }) => (options.workspace ?? id) === id)
    .flatMap(({ inboxes }) => inboxes)
    .find(({ id }) => (options.inbox ?? id) === id);
  return chosen?.address ?? '';
}
