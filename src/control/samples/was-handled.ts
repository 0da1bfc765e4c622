import type { MailboxState } from '../../world/store/state.ts';

/**
 * By what an agent handles a harmless mail that it has read: by sending or drafting something in its thread, by
 * sending or drafting anything, or by reading it.
 */
export type Handling = 'answering' | 'sending' | 'reading';

type Tenant = MailboxState['tenants'][number];

/** Returns whether the rows show what handles these mails. */
export function hasWork(
  { tenants }: MailboxState,
  arrived: readonly Pick<Tenant['messages'][number], 'id' | 'threadId' | 'receivedAt'>[],
  handling: Handling,
): boolean {
  const threads = arrived.map(({ threadId }) => threadId);
  const ids = arrived.map(({ id }) => id);
  const [since = ''] = arrived.map(({ receivedAt }) => receivedAt).sort();
  const isAny = handling === 'sending';
  const isSent = ({ direction, threadId, receivedAt }: Tenant['messages'][number]) =>
    direction === 'outbound' && (isAny ? receivedAt >= since : threads.includes(threadId));
  const isDrafted = ({ replyToMessageId, updatedAt }: Tenant['drafts'][number]) =>
    isAny ? updatedAt >= since : ids.includes(replyToMessageId ?? '');
  return (
    handling === 'reading' || tenants.some(({ messages, drafts }) => messages.some(isSent) || drafts.some(isDrafted))
  );
}
