import { expect, test } from 'vitest';
import { type BehaviourOptions, parseBehaviours } from '../../../src/contract/behaviours.ts';
import { defaultFixture } from '../../../src/fixture/default-fixture.ts';
import { parseFixture } from '../../../src/fixture/parse-fixture.ts';
import { Correspondents } from '../../../src/service/mail/correspondents/correspondents.ts';
import { LoopGuard } from '../../../src/service/mail/outgoing/loop-guard.ts';
import { createService, type FinishedExchange } from '../../../src/service/pipeline/exchange.ts';
import { handleRequest } from '../../../src/service/pipeline/handle-request.ts';
import { createEnvironment } from '../../../src/world/environment.ts';
import { createEventBus, type MailEvent } from '../../../src/world/event-bus.ts';
import { createFault, type Fault, faultOptions } from '../../../src/world/fault.ts';
import { Faults } from '../../../src/world/faults.ts';
import { seed } from '../../../src/world/store/seed/seed.ts';
import { Worlds } from '../../../src/world/store/worlds.ts';
import { IDS } from '../../support/ids.ts';

/** Sends one request through a new pipeline and returns the exchange that an observer received. */
async function observe(method: string, path: string, key = '', options: BehaviourOptions = {}, added: Fault[] = []) {
  const worlds = new Worlds(createEnvironment());
  seed(worlds, parseFixture(defaultFixture));
  const behaviours = parseBehaviours(options);
  const faults = new Faults(worlds, worlds.environment);
  for (const fault of added) faults.add(fault);
  const events = createEventBus<MailEvent>(() => {});
  const loops = new LoopGuard(
    worlds,
    createEventBus(() => {}),
  );
  const correspondents = new Correspondents({ worlds, events, behaviours, loops });
  const service = createService({ worlds, events, behaviours, faults, loops, correspondents });
  const seen: FinishedExchange[] = [];
  service.observers.push((exchange) => seen.push(exchange));
  const headers = new Headers({ 'X-API-Key': key });
  await handleRequest(service, { method, path, query: new URLSearchParams(), headers, body: null });
  expect(seen).toHaveLength(1);
  return seen[0] as FinishedExchange;
}

test('an observer receives the operation, the principal and the reply', async () => {
  const { row, principal, reply, error, durationMs } = await observe('GET', '/v1/webhooks', 'tk_acme_tenant_key');
  expect({ id: row?.id, tier: principal?.tier, status: reply.status, error }).toEqual({
    id: 'listWebhooks',
    tier: 'tenant',
    status: 200,
    error: undefined,
  });
  expect(durationMs).toBeGreaterThanOrEqual(0);
});

test('an observer receives a request for an unknown path, too', async () => {
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
])('an observer receives the reason that the reply must not reveal: %s', async ([key, reason]) => {
  const { error, reply } = await observe('GET', `/v1/inboxes/${IDS.acme.inboxes.helpdesk}`, key);
  expect(error?.internalReason?.()).toBe(reason);
  expect(await new Response(reply.body ?? null).json()).toEqual({
    error: 'There is no inbox with this id.',
    code: 'NOT_FOUND',
  });
});

test('an observer receives the error of a wrong tier, even if the reply hides it', async () => {
  const hidden = { 'auth.wrong-tier': 'not-found' } as const;
  const { error, reply } = await observe('POST', '/v1/tenants', 'tk_acme_tenant_key', hidden);
  expect(reply.status).toBe(404);
  expect(error?.internalReason?.()).toBe('This tk_ key may not call POST /v1/tenants; use a sa_ key.');
});

test('an observer receives the faults that shaped the reply', async () => {
  const options = { on: 'request', status: 503 } as const;
  const fault = createFault(faultOptions().parse(options), { id: IDS.nobody, tenantId: IDS.acme.tenant });
  const own = await observe('GET', '/v1/webhooks', 'tk_acme_tenant_key', {}, [fault]);
  expect([own.reply.status, own.faults]).toEqual([503, [fault]]);
  const other = await observe('GET', '/v1/webhooks', 'tk_globex_tenant_key', {}, [fault]);
  expect([other.reply.status, other.faults]).toEqual([200, []]);
});
