import { createMailbox, type Fault } from 'agent-mailbox-mock';
import { expect, test } from 'vitest';
import { control } from '../support/control.ts';
import { everywhere, interceptRequests, type Service } from '../support/everywhere.ts';
import { addFault, askForFault, listFaults, release, seenBy, target } from '../support/faults.ts';
import { IDS } from '../support/ids.ts';
import { after } from '../support/webhooks.ts';

interceptRequests();

const remove = (service: Service, id: string) =>
  control(service, `DELETE /faults/${id}`, undefined, () => service.mailbox.removeFault(id));

async function clear(service: Service): Promise<void> {
  const { status, json } = await control(service, 'DELETE /faults', undefined, () => {
    service.mailbox.clearFaults();
    return { faults: service.mailbox.faults() };
  });
  expect([status, json]).toEqual([200, { faults: [] }]);
}

everywhere('a fault happens as many times as it is set to, and is listed while times are left', async (service) => {
  await using one = await target(service);
  expect(await listFaults(service)).toEqual([]);
  const common = { id: expect.stringMatching(/^[0-9a-f-]{36}$/), on: 'delivery', tenantId: IDS.acme.tenant, after: 0 };
  const standing = { ...common, webhookId: one.id, delayMs: 0 };
  const drop = await addFault(service, { kind: 'drop', webhookId: one.id, times: 3 });
  expect(drop).toEqual({ ...standing, kind: 'drop', times: 3 });
  const delay = await addFault(service, { kind: 'delay', webhookId: one.id.toUpperCase(), delay: '5m' });
  expect(delay).toEqual({ ...standing, kind: 'delay', times: 1, delayMs: 300_000 });
  one.fire('a');
  expect(await listFaults(service)).toEqual([{ ...drop, times: 2 }, delay]);
  for (const name of ['b', 'c', 'd', 'e']) one.fire(name);
  expect(await listFaults(service)).toEqual([]);
  await service.mailbox.settled();
  expect(one.received()).toEqual(['e']);
});

test('an option of a fault that is undefined has its default', () => {
  const mailbox = createMailbox();
  const fault = mailbox.addFault({ on: 'delivery', kind: 'drop', times: undefined, after: undefined });
  expect(fault).toMatchObject({ times: 1, after: 0 });
});

everywhere('a fault leaves some events alone first, and counts those of other faults too', async (service) => {
  await using one = await target(service);
  await addFault(service, { kind: 'drop', webhookId: one.id });
  const later = await addFault(service, { kind: 'drop', webhookId: one.id, after: 2 });
  one.fire('a');
  expect(await listFaults(service)).toEqual([{ ...later, after: 1 }]);
  for (const name of ['b', 'c', 'd']) one.fire(name);
  await service.mailbox.settled();
  expect(one.received().toSorted()).toEqual(['b', 'd']);
});

everywhere('a fault that names no webhook happens in any tenant, or in the tenant it names', async (service) => {
  const { globex } = service.mailbox.keys;
  await using one = await target(service);
  await using two = await target(service);
  await using other = await target(service, [], globex.tenant);
  const any = await addFault(service, { kind: 'drop', times: 2 });
  expect(any).toMatchObject({ tenantId: null, webhookId: null, times: 2 });
  for (const { fire } of [one, other, two, other]) fire('a');
  await service.mailbox.settled();
  expect([one.received(), two.received(), other.received()]).toEqual([[], ['a'], ['a']]);

  const named = await addFault(service, { kind: 'drop', tenant: IDS.globex.tenant.toUpperCase() });
  expect(named).toMatchObject({ tenantId: IDS.globex.tenant, webhookId: null });
  for (const { fire } of [one, other]) fire('b');
  await service.mailbox.settled();
  expect([one.received(), other.received()]).toEqual([['b'], ['a']]);
});

everywhere(
  'a fault for a webhook comes first, then one for its tenant, the older before the newer',
  async (service) => {
    await using one = await target(service);
    await using two = await target(service);
    const { tenant } = IDS.acme;
    await addFault(service, { kind: 'truncated-body' });
    await addFault(service, { kind: 'drop', tenant });
    await addFault(service, { kind: 'hold', tenant });
    await addFault(service, { kind: 'delay', webhookId: one.id, delay: 1_000 });
    await addFault(service, { kind: 'stale-timestamp', webhookId: one.id });
    const left = await addFault(service, { kind: 'drop', webhookId: two.id });
    const ids = ['a', 'b', 'c', 'd', 'e', 'f'].map(one.fire);
    await service.mailbox.settled();
    expect(ids.map((id) => service.mailbox.delivery(id).state)).toEqual([
      'pending',
      'pending',
      'dropped',
      'held',
      'pending',
      'delivered',
    ]);
    expect(service.mailbox.delivery(ids[0] ?? '').nextAttemptAt).toBe(after(1_000));
    expect(seenBy(one).map(([verified]) => verified)).toEqual([false, false, true]);
    expect(await listFaults(service)).toEqual([left]);
  },
);

everywhere('a fault is removed by its id, and all of them at once', async (service) => {
  await using one = await target(service);
  const drop = await addFault(service, { kind: 'drop', webhookId: one.id, times: 5 });
  const hold = await addFault(service, { kind: 'hold', times: 3 });
  one.fire('a');
  const removed = await remove(service, drop.id.toUpperCase());
  expect([removed.status, removed.json]).toEqual([200, { ...drop, times: 4 }]);
  const again = await remove(service, drop.id);
  expect([again.status, again.json]).toEqual([404, { error: 'There is no fault with this id.', code: 'NOT_FOUND' }]);
  const held = one.fire('b');
  expect(await listFaults(service)).toEqual([{ ...hold, times: 2 }]);
  await clear(service);
  one.fire('c');
  await service.mailbox.settled();
  expect([one.received(), service.mailbox.delivery(held).state]).toEqual([['c'], 'held']);
});

everywhere('faults of several tenants are listed in the order in which they were added', async (service) => {
  const { acme, globex } = IDS;
  const added = [];
  for (const tenant of [globex.tenant, undefined, acme.tenant, globex.tenant, undefined]) {
    added.push(await addFault(service, { kind: 'drop', ...(tenant !== undefined && { tenant }) }));
  }
  expect(await listFaults(service)).toEqual(added);
});

everywhere('a fault that has happened as often as it may cannot be removed', async (service) => {
  await using one = await target(service);
  const { id } = await addFault(service, { kind: 'drop' });
  one.fire('a');
  expect((await remove(service, id)).status).toBe(404);
});

everywhere('a fault affects deliveries of mail, and not redeliveries', async (service) => {
  const { mailbox } = service;
  await using one = await target(service);
  await addFault(service, { kind: 'wrong-secret', tenant: IDS.acme.tenant });
  await mailbox.receiveMessage({ from: 'dana@customer.test', to: 'helpdesk@acme.test' });
  await mailbox.clock.advance('5s');
  await addFault(service, { kind: 'wrong-secret', tenant: IDS.acme.tenant });
  const [delivery] = mailbox.deliveries({ webhookId: one.id });
  mailbox.redeliver(delivery?.id ?? '');
  await mailbox.settled();
  expect(one.receiver.requests.map(({ verified }) => verified)).toEqual([false, true, true]);
  expect(await listFaults(service)).toHaveLength(1);
});

everywhere('a fault of a deleted tenant is no longer listed', async (service) => {
  const { mailbox, send } = service;
  const { globex, acme } = IDS;
  await addFault(service, { kind: 'drop', tenant: globex.tenant });
  await addFault(service, { kind: 'drop', tenant: acme.tenant });
  await send('DELETE', `/v1/tenants/${globex.tenant}`, { key: mailbox.keys.operator });
  expect((await listFaults(service)).map(({ tenantId }: Fault) => tenantId)).toEqual([acme.tenant]);
});

const KINDS =
  'kind must be one of duplicate, reorder, hold, drop, delay, stale-timestamp, wrong-secret, two-signatures, truncated-body, unreachable, oversize-body.';
const TIMES = 'times must be a whole number from 1 to 1000000.';
const COUNT = 'count must be a whole number from 1 to 1000000.';
const DELAY = 'delay must be milliseconds or a text such as 5m, 36h or 3d, up to 100 years.';

everywhere('an invalid fault is refused, and no fault changes', async (service) => {
  await using one = await target(service);
  const before = await addFault(service, { kind: 'drop', webhookId: one.id });
  const drop = { on: 'delivery', kind: 'drop' };
  for (const [options, status, said] of [
    [{ on: 'delivery' }, 400, KINDS],
    [{ kind: 'drop' }, 400, 'on must be one of request, delivery, stream, smtp, imap.'],
    [{ on: 'requests', kind: 'drop' }, 400, 'on must be one of request, delivery, stream, smtp, imap.'],
    [{ on: 'request', kind: 'drop' }, 400, 'has unknown fields: "kind"'],
    [{ ...drop, after: -1 }, 400, 'after must be a whole number from 0 to 1000000.'],
    [{ on: 'delivery', kind: 'chaos' }, 400, KINDS],
    [{ on: 'delivery', kind: null }, 400, KINDS],
    [{ on: 'delivery', kind: 'toString' }, 400, KINDS],
    [{ ...drop, times: 0 }, 400, TIMES],
    [{ ...drop, times: 1.5 }, 400, TIMES],
    [{ ...drop, times: 1_000_001 }, 400, TIMES],
    [{ ...drop, times: '3' }, 400, TIMES],
    [{ ...drop, kind: 'delay', delay: 'soon' }, 400, DELAY],
    [{ ...drop, kind: 'delay', delay: -1 }, 400, DELAY],
    [{ ...drop, webhookId: 'x' }, 400, 'webhookId must be the UUID of a webhook.'],
    [{ ...drop, tenant: 'acme' }, 400, 'tenant must be the UUID of a tenant.'],
    [{ ...drop, often: true }, 400, 'has unknown fields: "often".'],
    [{ ...drop, webhookId: IDS.nobody }, 404, 'There is no webhook with this id.'],
    [{ ...drop, tenant: IDS.nobody }, 404, 'There is no tenant with this id.'],
    [{ ...drop, webhookId: one.id, tenant: IDS.globex.tenant }, 404, 'There is no webhook with this id.'],
  ] as const) {
    const refused = await askForFault(service, options);
    expectRefusal(refused, status, said, options);
  }
  expect(await listFaults(service)).toEqual([before]);
});

everywhere('an invalid release is refused, and nothing is sent', async (service) => {
  await using one = await target(service);
  await addFault(service, { kind: 'hold' });
  const held = one.fire('a');
  for (const [options, status, said] of [
    [{ count: 0 }, 400, COUNT],
    [{ count: '3' }, 400, COUNT],
    [{ often: true }, 400, 'has unknown fields: "often".'],
    [{ webhookId: IDS.nobody }, 404, 'There is no webhook with this id.'],
    [{ tenant: IDS.nobody }, 404, 'There is no tenant with this id.'],
  ] as const) {
    const ask = () => service.mailbox.release(options as never);
    expectRefusal(await control(service, 'POST /deliveries/release', options, ask), status, said, options);
  }
  expect(await release(service, { tenant: IDS.globex.tenant })).toEqual([]);
  expect(service.mailbox.delivery(held).state).toBe('held');
  expect(await release(service, { tenant: IDS.acme.tenant })).toEqual([held]);
});

everywhere('the count of a release applies to all tenants together', async (service) => {
  await using one = await target(service);
  await using other = await target(service, [], service.mailbox.keys.globex.tenant);
  await addFault(service, { kind: 'hold', times: 4 });
  const held = [...['a', 'b'].map(one.fire), ...['c', 'd'].map(other.fire)];
  expect(await release(service, { count: 3 })).toEqual(held.slice(0, 3));
  expect(await release(service)).toEqual(held.slice(3));
});

function expectRefusal(
  { status, json }: Awaited<ReturnType<typeof control>>,
  expected: number,
  said: string,
  options: unknown,
): void {
  const title = JSON.stringify(options);
  const code = expected === 400 ? 'VALIDATION_ERROR' : 'NOT_FOUND';
  expect([status, json], title).toEqual([expected, { error: expect.stringContaining(said), code }]);
  expect(json.error, title).toMatch(/^[^\n]+\.$/);
}
