import type { FixtureInput } from 'agent-mailbox-mock';

const CREATED_AT = '2026-01-05T09:00:00.000Z';
const WORKSPACE_ID = '00000000-0001-4000-8000-000000000000';

/** A fixture with one tenant that has this many webhooks, and this many inboxes with a key each. */
export function createFixture(size: number) {
  const numbers = Array.from({ length: size }, (_, number) => number);
  const tenantKey = 'tk_sized_tenant_key';
  const inboxIds = numbers.map((number) => createId(2, number));
  const workspace = {
    id: WORKSPACE_ID,
    name: 'Main',
    slug: 'main',
    isDefault: true,
    createdAt: CREATED_AT,
    key: createKey(3, 0, 'wk_sized_workspace_key'),
    inboxes: Object.fromEntries(numbers.map((number) => [`inbox${number}`, createInbox(number)])),
  };
  const tenant = {
    id: createId(4, 0),
    name: 'Sized',
    createdAt: CREATED_AT,
    key: createKey(5, 0, tenantKey),
    workspaces: { main: workspace },
    webhooks: Object.fromEntries(numbers.map((number) => [`webhook${number}`, createWebhook(number)])),
  };
  const fixture = { operator: { key: 'sa_sized_operator_key' }, tenants: { sized: tenant } } satisfies FixtureInput;
  return { fixture, inboxIds, tenantKey };
}

function createInbox(number: number) {
  return {
    id: createId(2, number),
    username: `inbox${number}`,
    domain: 'sized.test',
    createdAt: CREATED_AT,
    key: createKey(6, number, `ak_sized_inbox_key_${number}`),
  };
}

function createKey(kind: number, number: number, key: string) {
  return { id: createId(kind, number), key, createdAt: CREATED_AT };
}

function createWebhook(number: number) {
  return {
    id: createId(7, number),
    url: `https://receiver.test/${number}`,
    events: ['message.received' as const],
    secret: `whsec_${'A'.repeat(43)}=`,
    createdAt: CREATED_AT,
  };
}

function createId(kind: number, number: number): string {
  return `00000000-000${kind}-4000-8000-${String(number).padStart(12, '0')}`;
}
