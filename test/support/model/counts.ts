import type { MailboxState, TenantState } from 'agent-mailbox-mock';
import { expect } from 'vitest';
import type { Reply, Service } from '../everywhere.ts';

type Send = Service['send'];

// biome-ignore lint/suspicious/noExplicitAny: it reads lists of every shape, and `send` has checked them.
type Row = any;

const FOLDERS = ['inbox', 'sent', 'starred', 'archived', 'trash'] as const;

/** Asks with every key, and expects each count of a reply to be that of the list that it counts. */
export async function expectCountsToAgree({ send, mailbox }: Pick<Service, 'send' | 'mailbox'>): Promise<void> {
  const state = mailbox.snapshot();
  for (const tenant of state.tenants) {
    const [key] = tenant.apiKeys.filter(({ tier }) => tier === 'tenant');
    if (!key) continue;
    const ask = asker(send, key.key);
    await expectWorkspaces(ask, tenant);
    for (const inbox of tenant.inboxes) if (inbox.deletedAt === null) await expectInbox(ask, tenant, inbox.id);
  }
  for (const { key, tenant, inboxIds } of holdersOf(state)) await expectScope(asker(send, key), tenant, inboxIds);
}

type Ask = (path: string, query?: Record<string, string | number>) => Promise<Reply['json']>;

function asker(send: Send, key: string): Ask {
  return async (path, query) => {
    const reply = await send('GET', path, { key, ...(query && { query }) });
    if (reply.status !== 200) throw new Error(`GET ${path} answered ${reply.status}.`);
    return reply.json;
  };
}

async function expectWorkspaces(ask: Ask, tenant: TenantState): Promise<void> {
  const { workspaces } = await ask('/v1/workspaces');
  const { domains } = await ask('/v1/domains');
  expect(idsIn(workspaces)).toEqual(idsIn(tenant.workspaces));
  expect(idsIn(domains)).toEqual(idsIn(tenant.domains));
  for (const { id, inboxCount, domainCount } of workspaces) {
    const { inboxes } = await ask('/v1/inboxes', { workspace: id });
    expect(inboxCount).toBe(inboxes.length);
    expect(domainCount).toBe(domains.filter((row: Row) => row.workspaceId === id).length);
    const { resources } = await ask('/v1/metrics', { workspace: id });
    expect(resources).toEqual({ inboxes: inboxCount, domains: domainCount });
  }
}

async function expectInbox(ask: Ask, tenant: TenantState, inboxId: string): Promise<void> {
  const path = `/v1/inboxes/${inboxId}`;
  const stored = tenant.messages.filter((message) => message.inboxId === inboxId);
  const messages = await allPages(ask, `${path}/messages`, 'messages');
  expect(idsIn(messages)).toEqual(idsIn(stored.filter(({ deletedAt }) => deletedAt === null)));
  for (const direction of ['inbound', 'outbound']) {
    const { pagination } = await ask(`${path}/messages`, { direction, limit: 1 });
    expect(pagination.total).toBe(messages.filter((row) => row.direction === direction).length);
  }
  await expectThreads(ask, path, stored);
  const { drafts } = await ask(`${path}/drafts`, { limit: 100 });
  expect(idsIn(drafts)).toEqual(idsIn(tenant.drafts.filter((row) => row.inboxId === inboxId)));
  await expectLists(ask, path);
}

async function expectThreads(ask: Ask, path: string, stored: TenantState['messages']): Promise<void> {
  for (const { threadId, messageCount, unreadCount } of await allPages(ask, `${path}/threads`, 'threads')) {
    const thread = await ask(`${path}/threads/${threadId}`);
    expect(thread.messageCount).toBe(messageCount);
    expect(idsIn(thread.messages)).toEqual(idsIn(stored.filter((message) => message.threadId === threadId)));
    const unread = stored.filter((message) => message.threadId === threadId && !message.isRead && !message.deletedAt);
    expect(unreadCount).toBe(unread.length);
  }
}

async function expectLists(ask: Ask, path: string): Promise<void> {
  const { lists } = await ask(`${path}/lists`);
  for (const { id, entryCount } of lists) {
    const list = await ask(`${path}/lists/${id}`);
    const { entries } = await ask(`${path}/lists/${id}/entries`);
    expect(list.entries).toEqual(entries);
    expect([entryCount, list.entryCount]).toEqual([entries.length, entries.length]);
  }
}

/** What is counted across inboxes, as far as a key of any tier reaches. */
async function expectScope(ask: Ask, tenant: TenantState, inboxIds: ReadonlySet<string>): Promise<void> {
  const stored = tenant.messages.filter(({ inboxId }) => inboxIds.has(inboxId));
  const counts = await ask('/v1/messages/folders/counts');
  for (const folder of FOLDERS) {
    const rows = await allPages(ask, '/v1/messages', 'messages', { folder });
    expect(counts[folder].total).toBe(rows.length);
    if (folder === 'inbox') expect(counts.inbox.unread).toBe(rows.filter(({ isRead }) => !isRead).length);
    if (folder === 'trash') expect(rows.length).toBe(stored.filter(({ deletedAt }) => deletedAt !== null).length);
  }
  const all = await allPages(ask, '/v1/messages', 'messages');
  expect(idsIn(all)).toEqual(idsIn(stored.filter(({ deletedAt }) => deletedAt === null)));
  const threads = await allPages(ask, '/v1/messages', 'messages', { group: 'thread' });
  expect(threads.length).toBe(new Set(all.map(({ threadId }) => threadId)).size);
  await expectMetrics(ask, stored, inboxIds);
}

async function expectMetrics(ask: Ask, stored: TenantState['messages'], inboxIds: ReadonlySet<string>): Promise<void> {
  const metrics = await ask('/v1/metrics', { from: '2000-01-01' });
  expect(metrics.resources.inboxes).toBe(inboxIds.size);
  expect(metrics.counts).toEqual({
    sent: stored.filter(({ direction }) => direction === 'outbound').length,
    received: stored.filter(({ direction }) => direction === 'inbound').length,
    bounced: stored.filter(({ bouncedAt }) => bouncedAt !== null).length,
  });
}

/** Reads a list page by page: it has the total that each page states, and no row twice. */
async function allPages(ask: Ask, path: string, list: string, query: Record<string, string> = {}): Promise<Row[]> {
  const limit = 7;
  const rows: Row[] = [];
  for (let total = 1; rows.length < total; ) {
    const page = await ask(path, { ...query, limit, offset: rows.length });
    total = page.pagination.total;
    const length = Math.min(limit, total - rows.length);
    if (page[list].length !== length) throw new Error(`${path} has ${page[list].length} rows, not ${length}.`);
    rows.push(...page[list]);
  }
  const names = rows.map(({ id, threadId }) => id ?? threadId);
  if (new Set(names).size !== names.length) throw new Error(`${path} has a row twice.`);
  return rows;
}

function idsIn(rows: readonly { readonly id: string }[]): string[] {
  return rows.map(({ id }) => id).sort();
}

interface Holder {
  readonly key: string;
  readonly tenant: TenantState;
  readonly inboxIds: ReadonlySet<string>;
}

/** Every key of a tenant, workspace or inbox, with the inboxes in its scope. */
function holdersOf({ tenants }: MailboxState): Holder[] {
  return tenants.flatMap((tenant) => {
    const inboxes = tenant.inboxes.filter(({ deletedAt }) => deletedAt === null);
    return tenant.apiKeys.map(({ key, ownerId }) => {
      const reached = inboxes.filter(({ id, workspaceId }) => [tenant.id, workspaceId, id].includes(ownerId));
      return { key, tenant, inboxIds: new Set(reached.map(({ id }) => id)) };
    });
  });
}
