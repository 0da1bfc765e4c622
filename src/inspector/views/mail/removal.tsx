import { plural } from '../../../basics/text.ts';
import type { ControlClient, InputTo } from '../../../control/table/client.ts';
import { mailLink, open, pickMailOptions, type Route } from '../../page-route.ts';
import { COST_OF_UNDO, RemovalButton, useUndoableChange } from '../../undo.tsx';
import type { MailDetails } from './mail-types.ts';

/** A button that deletes a mail for good. */
export function DeleteButton({ mail: { id, subject, tenantId, inboxId }, route }: { mail: MailDetails; route: Route }) {
  const remove = async (client: ControlClient) => {
    await client.removeMail({ id });
    open(mailLink(route, undefined), { replace: true });
  };
  const change = useUndoableChange('Before the mail was deleted', remove, createSandboxFinder([tenantId, inboxId]));
  const question = { title: `Delete the mail “${subject || '(no subject)'}”?`, text: COST_OF_UNDO };
  return <RemovalButton label="Delete" question={question} change={change} />;
}

/**
 * A button that deletes all mail that the list shows. The button needs a chosen tenant, workspace or inbox. `total` is
 * the number of items in the list.
 */
export function ClearButton({ total, route }: { total: number; route: Route }) {
  const { threads, ...selection } = pickMailOptions(route);
  const { tenant, workspace, inbox } = selection;
  const clear = (client: ControlClient) => client.clearMail(selection as InputTo<'clearMail'>);
  const change = useUndoableChange('Before mail was deleted', clear, createSandboxFinder([tenant, workspace, inbox]));
  const isChosen = tenant !== undefined || workspace !== undefined || inbox !== undefined;
  if (total === 0 || !isChosen) return null;
  const countText = threads ? plural(total, 'thread', 'threads') : plural(total, 'message', 'messages');
  return (
    <p class="tools">
      <RemovalButton
        label={`Delete ${countText}`}
        question={{ title: `Delete ${countText}?`, text: `All that the list shows, and nothing else. ${COST_OF_UNDO}` }}
        change={change}
      />
    </p>
  );
}

/**
 * Creates a function that finds the sandbox that has one of these ids, or that has a workspace or an inbox with one of
 * these ids. The function asks the emulator, because the page may not know a new sandbox yet, and an undo for all
 * tenants would close the sandbox.
 */
function createSandboxFinder(ids: readonly (string | undefined)[]) {
  const isGiven = (id: string) => ids.includes(id);
  return async (client: ControlClient) => {
    const { tenants } = await client.listTenants();
    return tenants.find(
      ({ id, isSandbox, workspaces }) =>
        isSandbox &&
        (isGiven(id) || workspaces.some(({ id, inboxes }) => isGiven(id) || inboxes.some(({ id }) => isGiven(id)))),
    )?.id;
  };
}
