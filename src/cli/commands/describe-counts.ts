import type { MailboxState, TenantState } from '../../mailbox/without-msw.ts';

/** The collections that are counted, each with its singular noun. */
const COUNTED = {
  workspaces: 'workspace',
  inboxes: 'inbox',
  messages: 'message',
  attachments: 'attachment',
  drafts: 'draft',
  lists: 'list',
  domains: 'domain',
  webhooks: 'webhook',
} as const satisfies Partial<Record<keyof TenantState, string>>;

type Counted = keyof typeof COUNTED;

/** Says how many tenants there are, and how many of each kind that they have: `1 tenant, 2 inboxes`. */
export function describeCounts({ tenants }: MailboxState, kinds = Object.keys(COUNTED) as readonly Counted[]): string {
  const counts = kinds.map((kind) => ({ count: tenants.reduce((sum, tenant) => sum + tenant[kind].length, 0), kind }));
  const present = counts.filter(({ count }) => count > 0);
  return [
    countOf(tenants.length, 'tenant', 'tenants'),
    ...present.map(({ count, kind }) => countOf(count, COUNTED[kind], kind)),
  ].join(', ');
}

/** Says what was loaded, and how long ago this process began: `1 tenant, 2 inboxes in 0.2 s`. */
export function describeLoaded(state: MailboxState): string {
  const seconds = (performance.now() / 1000).toFixed(1);
  return `${describeCounts(state, ['inboxes', 'messages', 'webhooks'])} in ${seconds} s`;
}

function countOf(count: number, singular: string, plural: string): string {
  return `${count.toLocaleString('en')} ${count === 1 ? singular : plural}`;
}
