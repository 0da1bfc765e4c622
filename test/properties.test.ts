import type { MailboxState, TenantState } from 'agent-mailbox-mock';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { OPERATION_IDS, OPERATIONS } from '../src/contract/operations/index.ts';
import { everywhere, interceptRequests, type Reply, type World } from './support/everywhere.ts';

interceptRequests();

/** Headers cannot carry everything; what they can, a client may send. */
const headerText = fc
  .string({ unit: 'binary-ascii', maxLength: 40 })
  .map((text) => text.replace(/[^\x20-\x7e]/g, '').trim());

const junkPath = fc
  .array(
    fc.oneof(
      fc.constantFrom('v1', 'webhooks', 'inboxes', 'keys', '..', '.', '%', '%2F', '%00'),
      fc.webSegment(),
      fc.uuid(),
    ),
    {
      maxLength: 5,
    },
  )
  .map((segments) => `/v1/${segments.join('/')}`)
  // Dots can lead out of /v1, where in process nothing is ours.
  .filter((path) => new URL(path, 'https://mailbox.test').pathname.startsWith('/v1/'));

const operationPath = fc.constantFrom(...OPERATION_IDS).chain((id) =>
  fc
    .array(fc.oneof(fc.uuid(), fc.webSegment(), fc.constantFrom('%ZZ', '%E0', 'null', '-1')), {
      minLength: 2,
      maxLength: 2,
    })
    .map((values) => {
      const path = OPERATIONS[id].path.replace(/\{\w+\}/g, () => encodePathStep(values.pop() ?? ''));
      return { path, method: OPERATIONS[id].method as string };
    }),
);

const encodePathStep = (text: string) => text || 'x';

const target = fc.oneof(
  operationPath,
  fc.record({ path: junkPath, method: fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS') }),
);

const junkBody = fc.oneof(
  fc.jsonValue().map((value) => JSON.stringify(value)),
  fc.string(),
  fc.uint8Array({ maxLength: 64 }),
  fc
    .record({ url: fc.jsonValue(), events: fc.jsonValue(), name: fc.jsonValue() }, { requiredKeys: [] })
    .map((value) => JSON.stringify(value)),
  fc
    .record({
      url: fc.webUrl({ withQueryParameters: true }),
      events: fc.array(fc.constantFrom('message.received', 'x')),
    })
    .map((value) => JSON.stringify(value)),
);

const junkHeaders = fc.record(
  {
    'X-API-Key': headerText,
    Authorization: fc.oneof(
      headerText,
      headerText.map((text) => `Bearer ${text}`),
    ),
    'Content-Type': fc.constantFrom('application/json', 'text/plain', 'application/x-www-form-urlencoded'),
    Accept: headerText,
  },
  { requiredKeys: [] },
);

describe('properties', () => {
  everywhere(
    'junk of every kind to every operation gets an answer of the contract, never a 5xx',
    async ({ send, mailbox }) => {
      const keys = [mailbox.keys.operator, mailbox.keys.acme.tenant, mailbox.keys.acme.workspaces.support, undefined];
      await fc.assert(
        fc.asyncProperty(
          target,
          junkBody,
          junkHeaders,
          fc.constantFrom(...keys),
          async ({ path, method }, body, headers, key) => {
            const withBody = method === 'GET' ? {} : { body: body as BodyInit };
            const options = { ...withBody, headers, ...(key !== undefined && !headers['X-API-Key'] && { key }) };
            // `send` throws on a reply that breaks its schema, or an error that is not of the table.
            const { status } = await send(method, path, options);
            expect(status).toBeLessThan(500);
          },
        ),
        { numRuns: 150 },
      );
    },
  );

  everywhere("no sequence of calls shows a tenant what is another's, and reset restores the start", async (world) => {
    const start = world.mailbox.snapshot();
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 1, maxLength: 25 }), async (actions) => {
        world.mailbox.reset();
        for (const each of actions) await perform(world, each);
        world.mailbox.reset();
        expect(world.mailbox.snapshot()).toEqual(start);
      }),
      { numRuns: 30 },
    );
  });
});

/** One call: any operation, by any key that was ever valid, about anything of any tenant. */
interface Action {
  readonly operation: (typeof OPERATION_IDS)[number];
  readonly keyAt: number;
  readonly idAt: number;
  readonly secondIdAt: number;
}

const action: fc.Arbitrary<Action> = fc.record({
  operation: fc.constantFrom(...OPERATION_IDS.filter((id) => id !== 'getHealth')),
  keyAt: fc.nat(),
  idAt: fc.nat(),
  secondIdAt: fc.nat(),
});

const BODY = { url: 'https://agent.example/hook', events: ['message.received'], name: 'Made by a test' };

async function perform({ mailbox, send }: World, { operation, keyAt, idAt, secondIdAt }: Action): Promise<void> {
  const before = mailbox.snapshot();
  const holders = holdersOf(before);
  const holder = pick(holders, keyAt);
  const ids = before.tenants.flatMap(idsOf);
  const chosen = [pick(ids, idAt), pick(ids, secondIdAt)];
  const { method, path } = OPERATIONS[operation];
  const reply = await send(
    method,
    path.replace(/\{\w+\}/g, () => chosen.shift() ?? ''),
    {
      key: holder.key,
      ...(method === 'POST' && { json: BODY }),
    },
  );
  expect(reply.status).toBeLessThan(500);
  expectNothingForeign(reply, holder.tenantId, before);
  expectUntouchedNeighbours(holder.tenantId, before, mailbox.snapshot());
}

function idsOf({ id, name: _, createdAt: __, ...collections }: TenantState): string[] {
  return [id, ...Object.values(collections).flatMap((rows) => rows.map((row) => row.id))];
}

interface Holder {
  readonly key: string;
  /** The tenant the key belongs to; `undefined` for the operator. */
  readonly tenantId: string | undefined;
}

function holdersOf({ operatorKeys, tenants }: MailboxState): Holder[] {
  return [
    ...operatorKeys.map((key) => ({ key, tenantId: undefined })),
    ...tenants.flatMap(({ apiKeys, id }) => apiKeys.map(({ key }) => ({ key, tenantId: id }))),
  ];
}

/** No id, key or secret of another tenant may be in a reply. */
function expectNothingForeign(reply: Reply, tenantId: string | undefined, { tenants }: MailboxState): void {
  if (tenantId === undefined) return;
  const others = tenants.filter(({ id }) => id !== tenantId);
  const secrets = others.flatMap((tenant) => [
    ...idsOf(tenant),
    ...tenant.webhooks.map(({ secret }) => secret),
    ...tenant.apiKeys.map(({ key }) => key),
  ]);
  expect(secrets.filter((secret) => reply.text.includes(secret))).toEqual([]);
}

/** A tenant's key changes nothing outside its tenant. */
function expectUntouchedNeighbours(tenantId: string | undefined, before: MailboxState, after: MailboxState): void {
  if (tenantId === undefined) return;
  const others = ({ tenants }: MailboxState) => tenants.filter(({ id }) => id !== tenantId);
  expect(others(after)).toEqual(others(before));
}

function pick<Item>(items: readonly Item[], at: number): Item {
  return items[at % items.length] as Item;
}
