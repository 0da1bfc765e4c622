import type { MailboxState, TenantState } from 'agent-mailbox-mock';
import { expectEqual } from '../expect-equal.ts';
import type { Reply } from '../send.ts';

/** Every id of a tenant. */
export function idsOf({ id, name: _, createdAt: __, ...collections }: TenantState): string[] {
  return [id, ...Object.values(collections).flatMap((rows) => rows.map((row) => row.id))];
}

/** The ids that mail carries from tenant to tenant: those in its Message-IDs. */
const MESSAGE_ID = /<[0-9a-f-]{36}@[^>]*>/g;

/** No id, key, password or secret of another tenant may be in a reply, but for the Message-ID of a mail that came. */
export function expectNothingForeign(reply: Reply, tenantId: string | undefined, { tenants }: MailboxState): void {
  if (tenantId === undefined) return;
  const others = tenants.filter(({ id }) => id !== tenantId);
  const secrets = others.flatMap((tenant) => [
    ...idsOf(tenant),
    ...tenant.webhooks.map(({ secret }) => secret),
    ...tenant.apiKeys.map(({ key }) => key),
    ...tenant.inboxes.map(({ imapPassword }) => imapPassword),
  ]);
  const text = reply.text.replace(MESSAGE_ID, '');
  expectEqual(
    secrets.filter((secret) => text.includes(secret)),
    [],
  );
}

/** Nothing changes in any tenant but the one that was touched, except for mail that comes. */
export function expectUntouchedNeighbours(
  touched: string | undefined,
  before: MailboxState,
  after: MailboxState,
): void {
  const others = ({ tenants }: MailboxState) => tenants.filter(({ id }) => id !== touched);
  const earlier = new Map(others(before).map((tenant) => [tenant.id, tenant]));
  const left = others(after).map((tenant) => withoutArrivals(tenant, earlier.get(tenant.id)));
  expectEqual(left, others(before));
}

/** A tenant without the mail that came since; only what is inbound counts as that. */
function withoutArrivals(tenant: TenantState, earlier: TenantState | undefined): TenantState {
  const known = new Set(earlier?.messages.map(({ id }) => id));
  const arrived = tenant.messages.filter(({ id, direction }) => !known.has(id) && direction === 'inbound');
  const ids = new Set(arrived.map(({ id }) => id));
  return {
    ...tenant,
    messages: tenant.messages.filter(({ id }) => !ids.has(id)),
    attachments: tenant.attachments.filter(({ messageId }) => !ids.has(messageId)),
  };
}
