import type { MailboxState, TenantState } from 'agent-mailbox-mock';
import { expect } from 'vitest';
import { idsOf } from './neighbours.ts';
import { readTree } from './tree.ts';

/** Every reference leads somewhere in its own tenant, and what must be unique is. */
export function expectSoundState(state: MailboxState): void {
  const ids = state.tenants.flatMap(idsOf);
  expect(new Set(ids).size).toBe(ids.length);
  for (const tenant of state.tenants) {
    // A tenant by itself, so that a reference that leads into another one dangles too. It throws on a second address.
    expect(readTree({ operatorKeys: [], tenants: [tenant] }).dangling()).toEqual([]);
    expectSoundMail(tenant);
    expectOnePrimary(tenant);
    expect(tenant.workspaces.filter(({ isDefault }) => isDefault).length).toBeLessThanOrEqual(1);
    expect(tenant.inboxes.filter(({ id }) => keysOf(tenant, id) > 1)).toEqual([]);
  }
}

function expectSoundMail({ messages, attachments, drafts, inboxes }: TenantState): void {
  const inboxOf = new Map(messages.map(({ id, inboxId }) => [id, inboxId]));
  expect(messages.filter(({ inboxId }) => !inboxes.some(({ id }) => id === inboxId))).toEqual([]);
  expect(attachments.filter(({ messageId }) => !inboxOf.has(messageId))).toEqual([]);
  const replies = drafts.filter(({ replyToMessageId }) => replyToMessageId !== null);
  expect(replies.filter(({ inboxId, replyToMessageId }) => inboxOf.get(replyToMessageId ?? '') !== inboxId)).toEqual(
    [],
  );
  const threads = new Map(messages.map(({ threadId, inboxId }) => [threadId, inboxId]));
  expect(messages.filter(({ threadId, inboxId }) => threads.get(threadId) !== inboxId)).toEqual([]);
}

/** Every inbox has its canonical address and exactly one primary address. */
function expectOnePrimary({ inboxes, addresses }: TenantState): void {
  const wrong = inboxes.filter(({ id, username, domain, deletedAt }) => {
    const own = addresses.filter(({ inboxId }) => inboxId === id);
    const isThere = deletedAt === null;
    const hasCanonical = own.some(({ address }) => address === `${username}@${domain}`);
    return hasCanonical !== isThere || own.filter(({ isPrimary }) => isPrimary).length !== (isThere ? 1 : 0);
  });
  expect(wrong).toEqual([]);
}

function keysOf({ apiKeys }: TenantState, ownerId: string): number {
  return apiKeys.filter((key) => key.ownerId === ownerId).length;
}
