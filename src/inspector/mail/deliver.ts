import type { paths } from '../control-plane.d.ts';
import { type ControlClient, replyOf } from '../inspector-client.ts';
import { bareAddress } from './display-form.ts';
import type { Tenant } from './load-tenants.ts';

/** A mail from outside, as the control plane takes it. */
type Delivery = paths['/__mock/messages']['post']['requestBody']['content']['application/json'] & {
  readonly to: readonly string[];
};

/**
 * Delivers a mail from outside, and resolves with the id of the first message. An address of a domain that a sandbox has
 * registered leads nowhere unless the call names the sandbox, so this finds it; `tenantId` is the tenant whose inbox was
 * chosen, if any.
 */
export async function deliver(
  client: ControlClient,
  body: Delivery,
  tenantId: string | undefined,
): Promise<string | undefined> {
  const { tenants } = await replyOf(client.GET('/__mock/tenants'));
  const query = findSandbox(tenants, body.to.map(bareAddress), tenantId);
  const { messages } = await replyOf(client.POST('/__mock/messages', { body, params: { query } }));
  return messages[0]?.id;
}

/** Returns the query that names the sandbox of an inbox, if it is in one. An address that the list does not show, such as an alias, is of the chosen tenant. */
function findSandbox(tenants: readonly Tenant[], to: readonly string[], tenantId?: string): { sandbox?: string } {
  const chosen = tenants.filter(({ id }) => id === tenantId);
  const holder = [...chosen, ...tenants].find(({ workspaces }) =>
    workspaces.some(({ inboxes }) => inboxes.some(({ address }) => to.includes(address))),
  );
  const { id, isSandbox } = holder ?? chosen[0] ?? {};
  return id !== undefined && isSandbox ? { sandbox: id } : {};
}
