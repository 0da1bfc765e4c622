import type { ControlClient, InputTo } from '../../../control/table/client.ts';
import type { Tenant } from '../../scope.ts';
import { bareAddress } from './mail-types.ts';

/** A mail from outside, as the control plane takes it. */
type Delivery = InputTo<'receiveMessage'> & { readonly to: readonly string[] };

/**
 * Delivers a mail from outside, and resolves with the id of the first message. An address of a domain that a sandbox
 * has registered leads nowhere unless the call names the sandbox, so this finds it; `tenant` is the id of the tenant
 * whose inbox was chosen, if any.
 */
export async function deliver(
  client: ControlClient,
  tenants: readonly Tenant[],
  body: Delivery,
  tenant: string | undefined,
): Promise<string | undefined> {
  const sandbox = findSandbox(tenants, body.to.map(bareAddress), tenant);
  const { messages } = await client.receiveMessage(body, { sandbox });
  return messages[0]?.id;
}

/**
 * Returns the id of the sandbox of an inbox, if it is in one. An address that the list does not show, such as an alias,
 * is of the chosen tenant.
 */
function findSandbox(tenants: readonly Tenant[], to: readonly string[], tenant?: string): string | undefined {
  const chosen = tenants.filter(({ id }) => id === tenant);
  const holder = [...chosen, ...tenants].find(({ workspaces }) =>
    workspaces.some(({ inboxes }) => inboxes.some(({ address }) => to.includes(address))),
  );
  const { id, isSandbox } = holder ?? chosen[0] ?? {};
  return isSandbox ? id : undefined;
}
