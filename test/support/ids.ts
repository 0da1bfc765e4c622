/** The fixed ids of `fixtures/default.json` that tests refer to. */
export const IDS = {
  acme: {
    tenant: 'ac3e0000-0001-4000-8000-000000000001',
    workspaces: {
      support: 'ac3e0000-0002-4000-8000-000000000001',
      sales: 'ac3e0000-0002-4000-8000-000000000002',
    },
    inboxes: {
      helpdesk: 'ac3e0000-0003-4000-8000-000000000001',
      billing: 'ac3e0000-0003-4000-8000-000000000002',
      outreach: 'ac3e0000-0003-4000-8000-000000000003',
    },
    keys: {
      support: 'ac3e0000-0004-4000-8000-000000000002',
      sales: 'ac3e0000-0004-4000-8000-000000000003',
    },
    webhooks: {
      everything: 'ac3e0000-0005-4000-8000-000000000001',
      support: 'ac3e0000-0005-4000-8000-000000000002',
    },
  },
  globex: {
    tenant: '910be000-0001-4000-8000-000000000001',
    workspaces: { main: '910be000-0002-4000-8000-000000000001' },
    inboxes: { info: '910be000-0003-4000-8000-000000000001' },
    keys: { main: '910be000-0004-4000-8000-000000000002' },
    webhooks: { everything: '910be000-0005-4000-8000-000000000001' },
  },
  /** A well-formed id that nothing has. */
  nobody: '00000000-0000-4000-8000-000000000000',
} as const;
