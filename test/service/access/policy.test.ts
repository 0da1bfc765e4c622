import type { BehaviourOptions } from 'agent-mailbox-mock';
import { describe, expect } from 'vitest';
import { OPERATION_IDS, OPERATIONS, type OperationId } from '../../../src/contract/operations.ts';
import { everywhere, interceptRequests, type Reply, type Service } from '../../support/everywhere.ts';
import { expectEqual } from '../../support/expect-equal.ts';
import { IDS } from '../../support/ids.ts';
import {
  CALLERS,
  type Caller,
  call,
  KEYS,
  NOTHING,
  POLICY,
  pathTo,
  prepare,
  TARGETS,
  type Target,
  type Things,
} from '../../support/policy.ts';

interceptRequests();

/** The operations whose path has an id or a name. */
const WITH_ID = OPERATION_IDS.filter((id) => OPERATIONS[id].path.includes('{') && id !== 'deleteTenant');

/** The operations on resources of an inbox. */
const IN_INBOX = WITH_ID.filter((id) => /^\/v1\/inboxes\/\{id\}\/.+\{/.test(OPERATIONS[id].path));

/** Resources of the billing inbox, which is in the same workspace as the helpdesk inbox. */
const NEIGHBOUR: Things = {
  inboxes: IDS.acme.inboxes.billing,
  messages: IDS.acme.messages.invoice,
  threads: IDS.acme.threads.invoice,
  attachments: IDS.acme.attachments.order,
};

/** Two tenants may have domains with the same name, so no domain name is foreign. */
const NAMED_WITHIN_TENANT = ['sibling'] as const;

describe('policy', () => {
  for (const id of OPERATION_IDS) {
    everywhere(`${id} allows exactly the tiers of its row`, async (service) => {
      const { mailbox } = service;
      for (const [index, target] of TARGETS.entries()) {
        let things = await begin(service, id, target);
        let before = mailbox.snapshot();
        for (const caller of CALLERS) {
          const { status } = await call(service, id, caller, things);
          expect(status, `${id} by ${caller} on ${target}`).toBe(POLICY[id][caller][index]);
          if (status >= 400) expectEqual(mailbox.snapshot(), before);
          else {
            things = await begin(service, id, target);
            before = mailbox.snapshot();
          }
        }
      }
    });
  }

  for (const id of WITH_ID) {
    everywhere(`${id} replies to another tenant's id exactly as to an unknown id`, async (service) => {
      const things = await begin(service, id, 'foreign');
      for (const caller of CALLERS.filter((each) => POLICY[id][each][2] === 404)) {
        const [foreign, absent] = [await call(service, id, caller, things), await call(service, id, caller, NOTHING)];
        expect([foreign.status, foreign.text]).toEqual([absent.status, absent.text]);
        expect(namedHeaders(foreign.headers)).toEqual(namedHeaders(absent.headers));
      }
    });
  }

  for (const id of IN_INBOX) {
    everywhere(`${id} does not find a resource of one inbox through another inbox`, async (service) => {
      const [own, sibling] = [await begin(service, id, 'own'), await prepare(service, id, 'sibling')];
      const before = service.mailbox.snapshot();
      for (const things of [keepOwn(own, sibling, 'inboxes'), keepOwn(own, sibling, 'inboxes', 'lists', 'messages')]) {
        if (pathTo(id, things) === pathTo(id, own)) continue;
        for (const caller of CALLERS.filter((each) => POLICY[id][each][0] < 300)) {
          expect((await call(service, id, caller, things)).status, `${caller} ${pathTo(id, things)}`).toBe(404);
        }
      }
      expectEqual(service.mailbox.snapshot(), before);
    });
  }

  everywhere('an inbox key does not reach another inbox of its own workspace', async (service) => {
    const before = service.mailbox.snapshot();
    const things = { ...NEIGHBOUR, drafts: IDS.nobody, lists: IDS.nobody, entries: IDS.nobody };
    for (const id of WITH_ID.filter((each) => POLICY[each].ak_[0] < 300)) {
      expect((await call(service, id, 'ak_', things)).status, id).toBe(404);
    }
    expectEqual(service.mailbox.snapshot(), before);
  });

  const OTHER_TIERS: [BehaviourOptions, OperationId, Caller, number][] = [
    [{ 'webhooks.tiers': 'tenant-only' }, 'listWebhooks', 'wk_', 403],
    [{ 'webhooks.tiers': 'tenant-only' }, 'updateWebhook', 'wk_', 403],
    [{ 'inboxes.rotate.tiers': 'tenant-workspace-and-inbox' }, 'rotateInboxKey', 'ak_', 201],
    [{ 'inboxes.rotate.tiers': 'tenant-only' }, 'rotateInboxKey', 'wk_', 403],
    [{ 'workspaces.keys.tiers': 'tenant-only' }, 'createWorkspaceKey', 'wk_', 403],
    [{ 'workspaces.read.tiers': 'tenant-only' }, 'listWorkspaces', 'wk_', 403],
    [{ 'workspaces.read.tiers': 'tenant-only' }, 'getWorkspace', 'wk_', 403],
    [{ 'inboxes.read.tiers': 'tenant-and-workspace' }, 'listInboxes', 'ak_', 403],
    [{ 'inboxes.read.tiers': 'tenant-and-workspace' }, 'getInbox', 'ak_', 403],
    [{ 'inboxes.change.tiers': 'tenant-workspace-and-inbox' }, 'updateInbox', 'ak_', 200],
    [{ 'inboxes.change.tiers': 'tenant-workspace-and-inbox' }, 'deleteInbox', 'ak_', 200],
    [{ 'inboxes.change.tiers': 'tenant-workspace-and-inbox' }, 'addInboxAddress', 'ak_', 201],
    [{ 'domains.tiers': 'tenant-only' }, 'createDomain', 'wk_', 403],
    [{ 'domains.tiers': 'tenant-only' }, 'getDomain', 'wk_', 403],
  ];
  for (const [behaviours, id, caller, status] of OTHER_TIERS) {
    const title = `under ${JSON.stringify(behaviours)} ${id} answers ${caller} with ${status}`;
    everywhere(title, { behaviours }, async (service) => {
      const reply = await call(service, id, caller, await prepare(service, id, 'own'));
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
    'an inbox key that may change inboxes reaches its own inbox only',
    { behaviours: { 'inboxes.change.tiers': 'tenant-workspace-and-inbox' } },
    async ({ send, mailbox }) => {
      const path = `/v1/inboxes/${IDS.acme.inboxes.billing}`;
      expect((await send('DELETE', path, { key: mailbox.keys.acme.inboxes.helpdesk })).status).toBe(404);
    },
  );

  everywhere(
    'a workspace key that may delete its workspace reaches no other',
    { behaviours: { 'workspaces.delete.tiers': 'tenant-and-workspace' } },
    async ({ send, mailbox }) => {
      const { support, sales } = mailbox.keys.acme.workspaces;
      const path = `/v1/workspaces/${IDS.acme.workspaces.sales}`;
      expect((await send('DELETE', path, { key: support })).status).toBe(404);
      const deleted = await send('DELETE', path, { key: sales });
      expect(deleted.status).toBe(200);
      expect(deleted.headers.get('x-mock-assumed')).toContain('workspaces.delete.tiers');
      expect((await send('GET', '/v1/me', { key: sales })).status).toBe(401);
    },
  );

  for (const id of WITH_ID) {
    everywhere(
      `under errors.foreign-resource=forbidden ${id} returns 403 for a resource elsewhere and 404 for an unknown one`,
      { behaviours: { 'errors.foreign-resource': 'forbidden' } },
      async (service) => {
        for (const target of id.endsWith('Domain') ? NAMED_WITHIN_TENANT : (['sibling', 'foreign'] as const)) {
          const things = await begin(service, id, target);
          const index = TARGETS.indexOf(target);
          for (const caller of CALLERS.filter((each) => POLICY[id][each][index] === 404)) {
            const [elsewhere, nowhere] = [
              await call(service, id, caller, things),
              await call(service, id, caller, NOTHING),
            ];
            expect([elsewhere.status, nowhere.status], `${caller} on ${target}`).toEqual([403, 404]);
            expect(elsewhere.json.error).toMatch(/^This key has no access to the \w+ with this (id|name)\.$/);
          }
        }
      },
    );
  }

  /** Requests that select a workspace, with the key of Support or of its helpdesk, and the status if allowed. */
  const SELECTIONS: [
    title: string,
    select: (service: Service, key: string, workspace: string) => Promise<Reply>,
    callers: Caller[],
    ok: number,
  ][] = [
    [
      'listing inboxes',
      ({ send }, key, workspace) => send('GET', '/v1/inboxes', { key, query: { workspace } }),
      ['wk_', 'ak_'],
      200,
    ],
    [
      'metrics',
      ({ send }, key, workspace) => send('GET', '/v1/metrics', { key, query: { workspace } }),
      ['wk_', 'ak_'],
      200,
    ],
    [
      'creating an inbox',
      ({ send }, key, workspaceId) => send('POST', '/v1/inboxes', { key, json: { username: 'chosen', workspaceId } }),
      ['wk_'],
      201,
    ],
    [
      'creating a domain',
      ({ send }, key, workspaceId) =>
        send('POST', '/v1/domains', { key, json: { domain: 'chosen.example', workspaceId } }),
      ['wk_'],
      201,
    ],
  ];
  const { support, sales } = IDS.acme.workspaces;

  everywhere(
    'a key that may not select a workspace is told so even if a wrong tier is hidden',
    { behaviours: { 'auth.wrong-tier': 'not-found' } },
    async (service) => {
      for (const [, select, callers] of SELECTIONS) {
        for (const caller of callers) {
          const reply = await select(service, KEYS[caller](service.mailbox.keys) ?? '', support);
          expect(reply.json.code).toBe('FORBIDDEN');
        }
      }
    },
  );

  for (const [title, select, callers, ok] of SELECTIONS) {
    for (const [current, status] of [
      ['forbidden', 403],
      ['invalid', 400],
    ] as const) {
      everywhere(
        `${title} with a workspace selected answers ${callers.join(' and ')} with ${status} under requests.selectors=${current}`,
        { behaviours: { 'requests.selectors': current } },
        async (service) => {
          const before = service.mailbox.snapshot();
          for (const caller of callers) {
            for (const workspace of [support, sales, IDS.globex.workspaces.main, IDS.nobody]) {
              const reply = await select(service, KEYS[caller](service.mailbox.keys) ?? '', workspace);
              expect(reply.status).toBe(status);
              expect(reply.json.error).toBe('Only a tk_ key may select a workspace; this key always uses its own.');
              expect(reply.headers.get('x-mock-assumed')).toContain('requests.selectors');
            }
          }
          expectEqual(service.mailbox.snapshot(), before);
        },
      );
    }

    everywhere(
      `${title} ignores a selected workspace under requests.selectors=ignored`,
      { behaviours: { 'requests.selectors': 'ignored' } },
      async (service) => {
        for (const caller of callers) {
          const reply = await select(service, KEYS[caller](service.mailbox.keys) ?? '', sales);
          expect(reply.status).toBe(ok);
          expect(reply.text).not.toContain(sales);
          expect(reply.text).toContain(support);
          expect(reply.headers.get('x-mock-assumed')).toContain('requests.selectors');
        }
      },
    );

    everywhere(`${title} in a selected workspace is for a tenant key, within its tenant`, async (service) => {
      const key = service.mailbox.keys.acme.tenant;
      const selected = await select(service, key, sales.toUpperCase());
      expect(selected.status).toBe(ok);
      expect(selected.text).toContain(sales);
      expect(selected.text).not.toContain(support);
      const before = service.mailbox.snapshot();
      for (const elsewhere of [IDS.globex.workspaces.main, IDS.nobody]) {
        const reply = await select(service, key, elsewhere);
        expect([reply.status, reply.json.error]).toEqual([404, 'There is no workspace with this id.']);
      }
      expectEqual(service.mailbox.snapshot(), before);
    });
  }

  everywhere('other lists accept a selected workspace from a tenant key only', async (service) => {
    const { keys } = service.mailbox;
    const list = async (path: string, key: string) => service.send('GET', `${path}?workspace=${support}`, { key });
    const names = async (path: string) => (await list(path, keys.acme.tenant)).json;
    expect((await names('/v1/domains')).domains.map(({ domain }: { domain: string }) => domain)).toEqual([
      'mail.acme.test',
    ]);
    expect((await names('/v1/webhooks')).webhooks.map(({ id }: { id: string }) => id)).toEqual([
      IDS.acme.webhooks.support,
    ]);
    expect((await names('/v1/messages')).pagination.total).toBe(4);
    expect(await names('/v1/messages/folders/counts')).toMatchObject({ inbox: { total: 3 }, sent: { total: 1 } });
    for (const path of ['/v1/domains', '/v1/webhooks', '/v1/messages', '/v1/messages/folders/counts']) {
      expect((await list(path, keys.acme.workspaces.support)).status, path).toBe(403);
    }
  });

  everywhere('a tenant key may select the workspace of a new webhook, a workspace key may not', async (service) => {
    const { keys } = service.mailbox;
    const json = { url: 'https://agent.example/hook', events: ['message.received'], workspaceId: support };
    const created = await service.send('POST', '/v1/webhooks', { key: keys.acme.tenant, json });
    const { webhooks } = (await service.send('GET', '/v1/webhooks', { key: keys.acme.workspaces.support })).json;
    expect(webhooks.map(({ id }: { id: string }) => id)).toContain(created.json.id);
    expect((await service.send('POST', '/v1/webhooks', { key: keys.acme.workspaces.support, json })).status).toBe(403);
  });

  /** The rows that a key sees in each list of the tenant. */
  const LISTS: [path: string, read: (reply: Reply) => unknown, Partial<Record<Caller, unknown>>][] = [
    [
      '/v1/inboxes',
      ({ json }) => json.inboxes.map(({ username }: { username: string }) => username),
      { tk_: ['helpdesk', 'billing', 'outreach'], wk_: ['helpdesk', 'billing'], ak_: ['helpdesk'] },
    ],
    [
      '/v1/workspaces',
      ({ json }) => json.workspaces.map(({ slug }: { slug: string }) => slug),
      { tk_: ['support', 'sales'], wk_: ['support'] },
    ],
    [
      '/v1/domains',
      ({ json }) => json.domains.map(({ domain }: { domain: string }) => domain),
      { tk_: ['acme.test', 'mail.acme.test'], wk_: ['mail.acme.test'] },
    ],
    [
      '/v1/messages',
      ({ json }) => json.messages.map(({ subject }: { subject: string }) => subject),
      {
        tk_: ['Shall we talk?', 'Invoice 1042', 'Re: Cannot log in', 'Re: Cannot log in', 'Cannot log in'],
        wk_: ['Invoice 1042', 'Re: Cannot log in', 'Re: Cannot log in', 'Cannot log in'],
        ak_: ['Re: Cannot log in', 'Re: Cannot log in', 'Cannot log in'],
      },
    ],
    [
      '/v1/messages/folders/counts',
      ({ json }) => [json.inbox, json.sent.total],
      {
        tk_: [{ unread: 2, total: 3 }, 2],
        wk_: [{ unread: 2, total: 3 }, 1],
        ak_: [{ unread: 1, total: 2 }, 1],
      },
    ],
    [
      '/v1/metrics',
      ({ json }) => json.resources,
      {
        tk_: { inboxes: 3, domains: 2 },
        wk_: { inboxes: 2, domains: 1 },
        ak_: { inboxes: 1, domains: 0 },
      },
    ],
  ];
  for (const [path, read, expected] of LISTS) {
    everywhere(`${path} shows each key only the rows within its scope`, async ({ send, mailbox }) => {
      for (const [caller, value] of Object.entries(expected) as [Caller, unknown][]) {
        const key = KEYS[caller](mailbox.keys) ?? '';
        expect(read(await send('GET', path, { key })), caller).toEqual(value);
      }
    });
  }
});

/** Returns the resources of a sibling, except those of these kinds. */
function keepOwn(own: Things, sibling: Things, ...kinds: string[]): Things {
  return { ...sibling, ...Object.fromEntries(kinds.flatMap((kind) => (own[kind] ? [[kind, own[kind]]] : []))) };
}

/** Resets the mailbox and creates the resource that the operation needs. */
function begin(service: Service, id: OperationId, target: Target) {
  service.mailbox.reset();
  return prepare(service, id, target);
}

/**
 * The headers that may differ. X-Mock-Assumed is no part of the service: it says, to a test only, that the reply depends
 * on `errors.foreign-resource`.
 */
const UNCOMPARED_HEADERS = ['date', 'connection', 'keep-alive', 'x-mock-assumed'];

/** Returns the headers that the emulator sets, without connection headers. */
function namedHeaders(headers: Headers): [string, string][] {
  return [...headers].filter(([name]) => !UNCOMPARED_HEADERS.includes(name));
}
