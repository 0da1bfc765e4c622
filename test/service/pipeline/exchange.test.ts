import { expect, test } from 'vitest';
import { type BehaviourOptions, parseBehaviours } from '../../../src/contract/behaviours.ts';
import { createFault, faultOptions } from '../../../src/control/faults/fault-options.ts';
import { defaultFixture } from '../../../src/fixture/default-fixture.ts';
import { parseFixture } from '../../../src/fixture/parse-fixture.ts';
import type { KeptRequest } from '../../../src/service/journal/entry-data.ts';
import { Journals } from '../../../src/service/journal/journals.ts';
import { Correspondents } from '../../../src/service/mail/correspondents/correspondents.ts';
import { LoopGuard } from '../../../src/service/mail/outgoing/loop-guard.ts';
import { handleRequest } from '../../../src/service/pipeline/handle-request.ts';
import { toResponseBody } from '../../../src/service/pipeline/reply.ts';
import { createService } from '../../../src/service/pipeline/service.ts';
import { createEnvironment } from '../../../src/world/environment.ts';
import type { Fault } from '../../../src/world/fault.ts';
import { Faults } from '../../../src/world/faults.ts';
import { seed } from '../../../src/world/store/seed/seed.ts';
import { Worlds } from '../../../src/world/store/worlds.ts';
import { IDS } from '../../support/ids.ts';

/** Sends one request through a new pipeline. Returns the exchange, and what the journal has of it. */
async function observe(method: string, path: string, key = '', options: BehaviourOptions = {}, added: Fault[] = []) {
  const worlds = new Worlds(createEnvironment());
  seed(worlds, parseFixture(defaultFixture));
  const behaviours = parseBehaviours(options);
  const journals = new Journals(worlds, worlds.environment, 1_000);
  const faults = new Faults(worlds, journals, worlds.environment);
  for (const fault of added) faults.add(fault);
  const loops = new LoopGuard(worlds, journals, 50);
  const correspondents = new Correspondents({ worlds, journals, behaviours, loops });
  const service = createService({ worlds, journals, behaviours, faults, loops, correspondents });
  const seen: KeptRequest[] = [];
  journals.subscribe(['request'], ({ data }) => void seen.push(data));
  const headers = new Headers({ 'X-API-Key': key });
  const exchange = await handleRequest(service, { method, path, query: new URLSearchParams(), headers, body: null });
  expect(seen).toHaveLength(1);
  const [kept] = seen;
  expect([kept?.row, kept?.error, kept?.faults, kept?.call]).toEqual([
    exchange.row,
    exchange.error,
    exchange.faults,
    { protocol: 'http', method, status: exchange.reply.status },
  ]);
  return exchange;
}

test('the journal receives the operation, the principal and the reply', async () => {
  const { row, principal, reply, error, durationMs } = await observe('GET', '/v1/webhooks', 'tk_acme_tenant_key');
  expect({ id: row?.id, tier: principal?.tier, status: reply.status, error }).toEqual({
    id: 'listWebhooks',
    tier: 'tenant',
    status: 200,
    error: undefined,
  });
  expect(durationMs).toBeGreaterThanOrEqual(0);
});

test('the journal receives a request for an unknown path, too', async () => {
  const { row, principal, error, reply } = await observe('GET', '/v1/nothing', 'tk_acme_tenant_key');
  expect({ row, principal, code: error?.code, status: reply.status }).toEqual({
    row: undefined,
    principal: undefined,
    code: 'NOT_FOUND',
    status: 404,
  });
});

test.for([
  [
    'ak_acme_billing_key',
    'Inbox key of Support / billing@acme.test; the inbox with this id belongs to Support / helpdesk@acme.test (section 5; choice errors.foreign-resource).',
  ],
  [
    'tk_globex_tenant_key',
    'Tenant key of Globex; the inbox with this id belongs to Acme / Support / helpdesk@acme.test (section 5; choice errors.foreign-resource).',
  ],
])('the journal receives the reason that the reply must not reveal: %s', async ([key, reason]) => {
  const { error, reply } = await observe('GET', `/v1/inboxes/${IDS.acme.inboxes.helpdesk}`, key);
  expect(error?.internalReason?.()).toBe(reason);
  expect(await new Response(toResponseBody(reply.body)).json()).toEqual({
    error: 'There is no inbox with this id.',
    code: 'NOT_FOUND',
  });
});

test('the journal receives the error of a wrong tier, even if the reply hides it', async () => {
  const hidden = { 'auth.wrong-tier': 'not-found' } as const;
  const { error, reply } = await observe('POST', '/v1/tenants', 'tk_acme_tenant_key', hidden);
  expect(reply.status).toBe(404);
  expect(error?.internalReason?.()).toBe('This tk_ key may not call POST /v1/tenants; use a sa_ key.');
});

test('the journal receives the faults that shaped the reply', async () => {
  const options = { on: 'request', status: 503 } as const;
  const fault = createFault(faultOptions().parse(options), { id: IDS.nobody, tenantId: IDS.acme.tenant });
  const own = await observe('GET', '/v1/webhooks', 'tk_acme_tenant_key', {}, [fault]);
  expect([own.reply.status, own.faults]).toEqual([503, [fault]]);
  const other = await observe('GET', '/v1/webhooks', 'tk_globex_tenant_key', {}, [fault]);
  expect([other.reply.status, other.faults]).toEqual([200, []]);
});
