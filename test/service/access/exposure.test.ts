import { type BehaviourOptions, createMailbox, type Exposure, type Mailbox } from 'agent-mailbox-mock';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CHANGEABLE_IDS, changeableDefinition } from '../../../src/contract/behaviours.ts';
import { OPERATION_IDS, OPERATIONS, type OperationId } from '../../../src/contract/operations.ts';
import { TIER_PREFIX } from '../../../src/contract/tiers.ts';
import { control } from '../../support/control.ts';
import { everywhere, interceptRequests, type Reply, type Service } from '../../support/everywhere.ts';
import { IDS } from '../../support/ids.ts';
import { BODIES, CALLERS, call, KEYS, pathTo, prepare } from '../../support/policy.ts';
import { senderTo } from '../../support/send.ts';

interceptRequests();

/** The keys of the default fixture, by handle. */
const KEYS_BY_HANDLE: Readonly<Record<string, string>> = {
  operator: 'sa_platform_operator_key',
  'acme.tenant': 'tk_acme_tenant_key',
  'acme.workspaces.support': 'wk_acme_support_key',
  'acme.inboxes.helpdesk': 'ak_acme_helpdesk_key',
  'acme.inboxes.billing': 'ak_acme_billing_key',
  'acme.workspaces.sales': 'wk_acme_sales_key',
  'acme.inboxes.outreach': 'ak_acme_outreach_key',
  'globex.tenant': 'tk_globex_tenant_key',
  'globex.workspaces.main': 'wk_globex_main_key',
  'globex.inboxes.info': 'ak_globex_info_key',
};

const HOLDERS = CALLERS.filter((caller) => caller !== 'none');

/** Returns whether the access rules refused a request. */
function isRefused({ json }: Reply): boolean {
  return ['UNAUTHORIZED', 'FORBIDDEN'].includes(json?.code);
}

/** Each kind of resource with the operations on one resource of this kind, and all ids of the default fixture. */
const RESOURCES = (['workspaces', 'inboxes', 'webhooks'] as const).map((kind) => ({
  kind,
  operations: OPERATION_IDS.filter((id) => new RegExp(`^/v1/${kind}/\\{id\\}[^{]*$`).test(OPERATIONS[id].path)),
  ids: [...Object.values(IDS.acme[kind]), ...Object.values(IDS.globex[kind])],
}));

/** Every choice about the tiers that may call operations, with any of its values. */
const TIER_BEHAVIOURS = fc.record(
  Object.fromEntries(
    CHANGEABLE_IDS.filter((id) => id.endsWith('.tiers')).map((id) => [
      id,
      fc.constantFrom(...Object.keys(changeableDefinition(id).choices)),
    ]),
  ),
) as fc.Arbitrary<BehaviourOptions>;

/** A mailbox that answers without a network. */
function serviceOf(mailbox: Mailbox): Service {
  return { mailbox, url: mailbox.baseUrl, send: senderTo(mailbox) };
}

/** Checks that a key may call exactly the operations that its exposure lists. */
async function checkOperations(service: Service): Promise<void> {
  const { mailbox } = service;
  for (const id of OPERATION_IDS) {
    for (const caller of HOLDERS) {
      mailbox.reset();
      const things = await prepare(service, id, 'own');
      const { operations } = mailbox.exposure(String(KEYS[caller](mailbox.keys)));
      expect(operations.includes(id), `${id} by ${caller}`).toBe(!isRefused(await call(service, id, caller, things)));
    }
  }
}

/** Returns the ids of a kind that any operation reaches with a key. */
async function findReachable(
  { mailbox, send }: Service,
  key: string,
  operations: readonly OperationId[],
  kind: string,
  ids: readonly string[],
) {
  const reached: string[] = [];
  mailbox.reset();
  for (const resource of ids) {
    for (const id of operations) {
      const json = BODIES[id];
      const reply = await send(OPERATIONS[id].method, pathTo(id, { [kind]: resource }), { key, ...(json && { json }) });
      if (isRefused(reply) || reply.status === 404) continue;
      reached.push(resource);
      // Only a request that reaches a resource changes anything.
      mailbox.reset();
      break;
    }
  }
  return reached;
}

/** Checks that a key reaches exactly the resources that its exposure lists. */
async function checkResources(service: Service, keys: readonly string[]): Promise<void> {
  for (const { kind, operations, ids } of RESOURCES) {
    for (const key of keys) {
      const reached = await findReachable(service, key, operations, kind, ids);
      expect([...service.mailbox.exposure(key)[kind]].sort(), `${kind} of ${key}`).toEqual(reached.sort());
    }
  }
}

describe('exposure', () => {
  test('a key may call exactly the operations that its exposure lists', async () => {
    await checkOperations(serviceOf(createMailbox()));
  });

  test('a key reaches exactly the resources that its exposure lists', async () => {
    await checkResources(serviceOf(createMailbox()), Object.values(KEYS_BY_HANDLE));
  });

  test('under any choice of tiers, an exposure lists exactly what real requests reach', async () => {
    const run = async (behaviours: BehaviourOptions) => {
      const service = serviceOf(createMailbox({ behaviours }));
      await checkOperations(service);
      await checkResources(service, ['tk_acme_tenant_key', 'wk_acme_support_key', 'ak_acme_helpdesk_key']);
    };
    await fc.assert(fc.asyncProperty(TIER_BEHAVIOURS, run), { numRuns: 12 });
  });

  everywhere(
    'an exposure names its key by its handle, beginning and text, its tier and its tenant',
    async (service) => {
      const { mailbox } = service;
      const { status, json } = await control(service, 'GET /keys', undefined, () => ({ keys: mailbox.exposures() }));
      expect(status).toBe(200);
      expect(json.keys.map(({ handle }: Exposure) => handle).sort()).toEqual(Object.keys(KEYS_BY_HANDLE).sort());
      for (const { handle, key, text, tier, tenantId } of json.keys as Exposure[]) {
        const whole = KEYS_BY_HANDLE[String(handle)] ?? '';
        expect([key, text, TIER_PREFIX[tier]]).toEqual([`${whole.slice(0, 9)}…`, whole, whole.slice(0, 3)]);
        expect(tenantId).toBe(
          handle?.startsWith('acme') ? IDS.acme.tenant : tier === 'operator' ? null : IDS.globex.tenant,
        );
      }
    },
  );

  everywhere('a key that a request creates is listed, and one that it revokes is not', async ({ send, mailbox }) => {
    const old = mailbox.keys.acme.inboxes.helpdesk;
    const path = `/v1/inboxes/${IDS.acme.inboxes.helpdesk}/keys`;
    const { json } = await send('POST', path, { key: mailbox.keys.acme.tenant });
    expect(mailbox.exposure(json.key)).toMatchObject({
      handle: null,
      inboxes: [IDS.acme.inboxes.helpdesk],
      webhooks: [],
    });
    expect(() => mailbox.exposure(old)).toThrow('There is no valid key with this text.');
    expect(mailbox.exposures().map(({ handle }) => handle)).not.toContain('acme.inboxes.helpdesk');
  });

  everywhere('GET /__mock/keys shows one key if its text is given, and refuses an unknown one', async (service) => {
    const { mailbox } = service;
    const { billing } = mailbox.keys.acme.inboxes;
    const read = (key: string) =>
      control(service, `GET /keys?key=${key}`, undefined, () => ({ keys: [mailbox.exposure(key)] }));
    expect((await read(billing)).json.keys).toMatchObject([{ tier: 'inbox', inboxes: [IDS.acme.inboxes.billing] }]);
    expect(await read('ak_of_no_inbox')).toMatchObject({
      status: 404,
      json: { error: 'There is no valid key with this text.', code: 'NOT_FOUND' },
    });
  });
});
