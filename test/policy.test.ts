import { BEHAVIOURS, type BehaviourOptions, type DefaultKeys } from 'agent-mailbox-mock';
import { describe, expect } from 'vitest';
import { OPERATION_IDS, OPERATIONS, type OperationId } from '../src/contract/operations/index.ts';
import { everywhere, interceptRequests } from './support/everywhere.ts';
import { IDS } from './support/ids.ts';

interceptRequests();

/** Whose things a request is about, seen from the key that sends it. */
const TARGETS = ['own', 'sibling', 'foreign'] as const;
type Target = (typeof TARGETS)[number];

/** The ids that a path parameter takes for a target; Acme's Support workspace is `own`. */
const PATHS: { [Id in OperationId]: (ids: TargetIds) => string } = {
  createWebhook: () => '/v1/webhooks',
  listWebhooks: () => '/v1/webhooks',
  deleteWebhook: ({ webhook }) => `/v1/webhooks/${webhook}`,
  rotateInboxKey: ({ inbox }) => `/v1/inboxes/${inbox}/keys`,
  createWorkspaceKey: ({ workspace }) => `/v1/workspaces/${workspace}/keys`,
  listWorkspaceKeys: ({ workspace }) => `/v1/workspaces/${workspace}/keys`,
  deleteWorkspaceKey: ({ workspace, key }) => `/v1/workspaces/${workspace}/keys/${key}`,
  createTenant: () => '/v1/tenants',
  deleteTenant: ({ tenant }) => `/v1/tenants/${tenant}`,
  getHealth: () => '/health',
};

const BODIES: Partial<Record<OperationId, object>> = {
  createWebhook: { url: 'https://agent.example/hook', events: ['message.received'] },
  createTenant: { name: 'Initech' },
  createWorkspaceKey: {},
};

interface TargetIds {
  readonly tenant: string;
  readonly workspace: string;
  readonly inbox: string;
  readonly webhook: string;
  readonly key: string;
}

/** The sibling webhook is tenant-wide: it belongs to no workspace. */
const TARGET_IDS: Record<Target, TargetIds> = {
  own: {
    tenant: IDS.acme.tenant,
    workspace: IDS.acme.workspaces.support,
    inbox: IDS.acme.inboxes.helpdesk,
    webhook: IDS.acme.webhooks.support,
    key: IDS.acme.keys.support,
  },
  sibling: {
    tenant: IDS.acme.tenant,
    workspace: IDS.acme.workspaces.sales,
    inbox: IDS.acme.inboxes.outreach,
    webhook: IDS.acme.webhooks.everything,
    key: IDS.acme.keys.sales,
  },
  foreign: {
    tenant: IDS.globex.tenant,
    workspace: IDS.globex.workspaces.main,
    inbox: IDS.globex.inboxes.info,
    webhook: IDS.globex.webhooks.everything,
    key: IDS.globex.keys.main,
  },
};

const KEYS = {
  none: () => undefined,
  sa_: (keys: DefaultKeys) => keys.operator,
  tk_: (keys: DefaultKeys) => keys.acme.tenant,
  wk_: (keys: DefaultKeys) => keys.acme.workspaces.support,
  ak_: (keys: DefaultKeys) => keys.acme.inboxes.helpdesk,
};

type Caller = keyof typeof KEYS;
type Policy = { readonly [Each in Caller]: readonly [own: number, sibling: number, foreign: number] };

/** Who may do what, to what is their own, a sibling workspace's and another tenant's. */
const POLICY: { [Id in OperationId]: Policy } = {
  createWebhook: anywhere({ none: 401, sa_: 403, tk_: 201, wk_: 201, ak_: 403 }),
  listWebhooks: anywhere({ none: 401, sa_: 403, tk_: 200, wk_: 200, ak_: 403 }),
  deleteWebhook: {
    none: [401, 401, 401],
    sa_: [403, 403, 403],
    tk_: [200, 200, 404],
    wk_: [200, 404, 404],
    ak_: [403, 403, 403],
  },
  rotateInboxKey: {
    none: [401, 401, 401],
    sa_: [403, 403, 403],
    tk_: [201, 201, 404],
    wk_: [201, 404, 404],
    ak_: [403, 403, 403],
  },
  createWorkspaceKey: {
    none: [401, 401, 401],
    sa_: [403, 403, 403],
    tk_: [201, 201, 404],
    wk_: [201, 404, 404],
    ak_: [403, 403, 403],
  },
  listWorkspaceKeys: {
    none: [401, 401, 401],
    sa_: [403, 403, 403],
    tk_: [200, 200, 404],
    wk_: [200, 404, 404],
    ak_: [403, 403, 403],
  },
  deleteWorkspaceKey: {
    none: [401, 401, 401],
    sa_: [403, 403, 403],
    tk_: [200, 200, 404],
    wk_: [200, 404, 404],
    ak_: [403, 403, 403],
  },
  createTenant: anywhere({ none: 401, sa_: 201, tk_: 403, wk_: 403, ak_: 403 }),
  deleteTenant: {
    none: [401, 401, 401],
    sa_: [200, 200, 200],
    tk_: [403, 403, 403],
    wk_: [403, 403, 403],
    ak_: [403, 403, 403],
  },
  getHealth: anywhere({ none: 200, sa_: 200, tk_: 200, wk_: 200, ak_: 200 }),
};

/** An operation without an id in its path: the target makes no difference. */
function anywhere(statuses: Record<Caller, number>): Policy {
  return Object.fromEntries(
    Object.entries(statuses).map(([caller, status]) => [caller, [status, status, status]]),
  ) as never;
}

describe('policy', () => {
  for (const id of OPERATION_IDS) {
    everywhere(`${id} answers every tier as the table says`, async ({ send, mailbox }) => {
      for (const caller of Object.keys(KEYS) as Caller[]) {
        for (const [index, target] of TARGETS.entries()) {
          mailbox.reset();
          const before = mailbox.snapshot();
          const key = KEYS[caller](mailbox.keys);
          const json = BODIES[id];
          const reply = await send(OPERATIONS[id].method, PATHS[id](TARGET_IDS[target]), {
            ...(key !== undefined && { key }),
            ...(json && { json }),
          });
          expect(reply.status, `${id} by ${caller} on ${target}`).toBe(POLICY[id][caller][index]);
          if (reply.status >= 400) expect(mailbox.snapshot()).toEqual(before);
        }
      }
    });
  }

  for (const id of ['deleteWebhook', 'rotateInboxKey', 'createWorkspaceKey', 'deleteWorkspaceKey'] as const) {
    everywhere(`${id} answers another tenant's id exactly as one that does not exist`, async ({ send, mailbox }) => {
      const nobody = {
        tenant: IDS.nobody,
        workspace: IDS.nobody,
        inbox: IDS.nobody,
        webhook: IDS.nobody,
        key: IDS.nobody,
      };
      for (const caller of ['tk_', 'wk_'] as const) {
        const call = (ids: TargetIds) =>
          send(OPERATIONS[id].method, PATHS[id](ids), {
            key: KEYS[caller](mailbox.keys),
            ...(BODIES[id] && { json: BODIES[id] }),
          });
        const [foreign, absent] = [await call(TARGET_IDS.foreign), await call(nobody)];
        expect([foreign.status, foreign.text]).toEqual([absent.status, absent.text]);
        expect(namedHeaders(foreign.headers)).toEqual(namedHeaders(absent.headers));
      }
    });
  }

  const OTHER_TIERS: [BehaviourOptions, OperationId, Caller, number][] = [
    [{ 'webhooks.tiers': 'tenant-only' }, 'listWebhooks', 'wk_', 403],
    [{ 'inboxes.rotate.tiers': 'tenant-workspace-and-inbox' }, 'rotateInboxKey', 'ak_', 201],
    [{ 'inboxes.rotate.tiers': 'tenant-only' }, 'rotateInboxKey', 'wk_', 403],
    [{ 'workspaces.keys.tiers': 'tenant-only' }, 'createWorkspaceKey', 'wk_', 403],
  ];
  for (const [behaviours, id, caller, status] of OTHER_TIERS) {
    const title = `under ${JSON.stringify(behaviours)} ${id} answers ${caller} with ${status}`;
    everywhere(title, { behaviours }, async ({ send, mailbox }) => {
      const reply = await send(OPERATIONS[id].method, PATHS[id](TARGET_IDS.own), {
        key: KEYS[caller](mailbox.keys) ?? '',
        ...(BODIES[id] && { json: BODIES[id] }),
      });
      expect(reply.status).toBe(status);
      expect(reply.headers.get('x-mock-assumed')).toContain(Object.keys(behaviours)[0]);
    });
  }

  everywhere(
    'an inbox key that may rotate reaches its own inbox only',
    { behaviours: { 'inboxes.rotate.tiers': 'tenant-workspace-and-inbox' } },
    async ({ send, mailbox }) => {
      const path = `/v1/inboxes/${IDS.acme.inboxes.billing}/keys`;
      expect((await send('POST', path, { key: mailbox.keys.acme.inboxes.helpdesk })).status).toBe(404);
    },
  );

  everywhere(
    'under errors.foreign-resource=forbidden a resource elsewhere answers 403 and one nowhere 404',
    { behaviours: { 'errors.foreign-resource': 'forbidden' } },
    async ({ send, mailbox }) => {
      const key = mailbox.keys.acme.workspaces.support;
      const status = async (id: string) => (await send('DELETE', `/v1/webhooks/${id}`, { key })).status;
      expect(await status(IDS.globex.webhooks.everything)).toBe(403);
      expect(await status(IDS.acme.webhooks.everything)).toBe(403);
      expect(await status(IDS.nobody)).toBe(404);
      expect(BEHAVIOURS['errors.foreign-resource'].default).toBe('not-found');
    },
  );
});

/** The headers that the emulator sets, without those of the connection. */
function namedHeaders(headers: Headers): [string, string][] {
  return [...headers].filter(([name]) => !['date', 'connection', 'keep-alive'].includes(name));
}
