import type { ControlClient, InputTo } from '../../../control/table/client.ts';
import { listOptions, mailLink, open, type Route } from '../../page-route.ts';
import { countOf } from '../../parts.tsx';
import { useScope } from '../../scope.ts';
import { RemovingButton, useUndoableChange } from '../settings/undo.tsx';
import type { MailDetails } from './mail-types.ts';

/** Removes a mail for good. */
export function DeleteButton({ mail: { id, tenantId, inboxId }, route }: { mail: MailDetails; route: Route }) {
  const remove = async (client: ControlClient) => {
    await client.removeMail({ id });
    open(mailLink(route, undefined), { replace: true });
  };
  const change = useUndoableChange('Before the mail was deleted', remove, useSandboxOf([tenantId, inboxId]));
  return <RemovingButton label="Delete" warning="This removes the mail for good." change={change} />;
}

/** Removes the mail that the list shows, if a tenant, a workspace or an inbox is chosen; `total` is its number. */
export function ClearButton({ total, route }: { total: number; route: Route }) {
  const { threads, ...selection } = listOptions(route);
  const { tenant, workspace, inbox } = selection;
  const clear = (client: ControlClient) => client.clearMail(selection as InputTo<'clearMail'>);
  const change = useUndoableChange('Before mail was deleted', clear, useSandboxOf([tenant, workspace, inbox]));
  const isChosen = tenant !== undefined || workspace !== undefined || inbox !== undefined;
  if (total === 0 || !isChosen) return null;
  const listed = threads ? countOf(total, 'thread', 'threads') : countOf(total, 'message', 'messages');
  return (
    <p class="tools">
      <RemovingButton
        label={`Delete ${listed}`}
        warning={`This removes ${listed} for good: all that the list shows, and nothing else.`}
        change={change}
      />
    </p>
  );
}

/** Returns the id of the sandbox if one of these ids is that of a sandbox, or of a workspace or an inbox in it. */
function useSandboxOf(ids: readonly (string | undefined)[]): string | undefined {
  const { tenants } = useScope();
  const isNamed = (id: string) => ids.includes(id);
  return tenants.find(
    ({ id, isSandbox, workspaces }) =>
      isSandbox &&
      (isNamed(id) || workspaces.some(({ id, inboxes }) => isNamed(id) || inboxes.some(({ id }) => isNamed(id)))),
  )?.id;
}
