import type { MailboxState, TenantState } from 'agent-mailbox-mock';
import { expect } from 'vitest';
import { idsOf } from './neighbours.ts';
import { readTree } from './tree.ts';

/** Every reference leads somewhere in its own tenant, and what must be unique is. */
export function expectSoundState(state: MailboxState): void {
  const ids = state.tenants.flatMap(idsOf);
  // One comparison for all: it is called after each of thousands of calls.
  const wrong = state.tenants.flatMap(findWrongRows);
  expect([new Set(ids).size, wrong]).toEqual([ids.length, []]);
}

/** The rows of a tenant that are wrong, and the names of what refers to nothing. */
function findWrongRows(tenant: TenantState): unknown[] {
  return [
    // A tenant by itself, so that a reference that leads into another one dangles too. It throws on a second address.
    ...readTree({ operatorKeys: [], tenants: [tenant] }).dangling(),
    ...findWrongMail(tenant),
    ...findWrongAddresses(tenant),
    ...tenant.workspaces.filter(({ isDefault }) => isDefault).slice(1),
    ...tenant.inboxes.filter(({ id }) => keysOf(tenant, id) > 1),
  ];
}

function findWrongMail({ messages, attachments, drafts, inboxes }: TenantState): unknown[] {
  const inboxOf = new Map(messages.map(({ id, inboxId }) => [id, inboxId]));
  const threads = new Map(messages.map(({ threadId, inboxId }) => [threadId, inboxId]));
  const replies = drafts.filter(({ replyToMessageId }) => replyToMessageId !== null);
  return [
    ...messages.filter(({ inboxId }) => !inboxes.some(({ id }) => id === inboxId)),
    ...attachments.filter(({ messageId }) => !inboxOf.has(messageId)),
    ...replies.filter(({ inboxId, replyToMessageId }) => inboxOf.get(replyToMessageId ?? '') !== inboxId),
    ...messages.filter(({ threadId, inboxId }) => threads.get(threadId) !== inboxId),
  ];
}

/** The inboxes without their canonical address, or without exactly one primary address. */
function findWrongAddresses({ inboxes, addresses }: TenantState): unknown[] {
  return inboxes.filter(({ id, username, domain, deletedAt }) => {
    const own = addresses.filter(({ inboxId }) => inboxId === id);
    const isThere = deletedAt === null;
    const hasCanonical = own.some(({ address }) => address === `${username}@${domain}`);
    return hasCanonical !== isThere || own.filter(({ isPrimary }) => isPrimary).length !== (isThere ? 1 : 0);
  });
}

function keysOf({ apiKeys }: TenantState, ownerId: string): number {
  return apiKeys.filter((key) => key.ownerId === ownerId).length;
}
