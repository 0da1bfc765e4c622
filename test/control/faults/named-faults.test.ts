import { createMailbox, type FaultName, type InitialFault } from 'agent-mailbox-mock';
import { describe, expect, test } from 'vitest';
import { NAMED_FAULTS } from '../../../src/control/faults/named-faults.ts';
import { everywhere, interceptRequests, send } from '../../support/everywhere.ts';
import { askForFault, listFaults } from '../../support/faults.ts';

interceptRequests();

const withoutId = ({ id: _, ...fault }: { readonly id: string }) => fault;

describe('a fault by its name', () => {
  everywhere('is the fault in its full form', async (service) => {
    for (const [name, { fault }] of Object.entries(NAMED_FAULTS)) {
      const byName = await askForFault(service, { name });
      expect([byName.status, name]).toEqual([200, name]);
      expect(withoutId(byName.json)).toEqual(withoutId((await askForFault(service, fault)).json));
    }
  });

  everywhere('does what its sentence says: the sixth request of a minute gets 429', async (service) => {
    await askForFault(service, { name: 'rate-limit' });
    const statuses = [];
    for (let count = 0; count < 6; count += 1) {
      const { status } = await send(`${service.url}/v1/me`, 'GET', { key: service.mailbox.keys.acme.tenant });
      statuses.push(status);
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
  });

  everywhere('does what its sentence says: replies come two seconds late, deliveries a minute', async (service) => {
    for (const name of ['slow', 'late-delivery', 'lost-imap-connection']) await askForFault(service, { name });
    expect(await listFaults(service)).toMatchObject([
      { latency: { ms: 2_000 } },
      { kind: 'delay', delayMs: 60_000 },
      { kind: 'disconnect', delayMs: 2_000 },
    ]);
  });

  everywhere('takes the conditions and the times of its target', async (service) => {
    const { ids } = service.mailbox;
    const lost = { name: 'lost-reply', operation: 'sendMessage', tenant: ids.acme.tenant, times: 2 };
    await askForFault(service, lost);
    await askForFault(service, { name: 'slow', latency: { ms: 5 }, times: 1 });
    expect(await listFaults(service)).toMatchObject([
      { kind: 'cut', effect: 'applied', operation: 'sendMessage', tenantId: ids.acme.tenant, times: 2 },
      { kind: 'latency', latency: { ms: 5 }, times: 1 },
    ]);
  });

  everywhere('is refused with an unknown name, another target, or an option of another target', async (service) => {
    for (const [options, problem] of [
      [{ name: 'lost-replies' }, 'name must be the name of a fault; did you mean lost-reply, '],
      [{ name: 7 }, 'name must be the name of a fault: lost-reply, lost-request, slow, '],
      [{ name: 'slow', on: 'delivery' }, 'on must not be combined with name, because slow decides it.'],
      [
        { name: 'late-delivery', kind: 'drop' },
        'kind must not be combined with name, because late-delivery decides it.',
      ],
      [{ name: 'slow', webhookId: 'x' }, 'has unknown fields: "webhookId"'],
    ] as const) {
      const { status, json } = await askForFault(service, options);
      expect([status, json.error]).toEqual([400, expect.stringContaining(problem)]);
    }
    expect(await listFaults(service)).toEqual([]);
  });

  test('can be an argument, and stand among the faults of the start', () => {
    const faults: InitialFault[] = ['down', { name: 'lost-reply', operation: 'sendMessage' }];
    const mailbox = createMailbox({ faults });
    mailbox.addFault('duplicate-delivery', { times: 3 });
    const expected = [{ status: 503, times: 1_000_000 }, { kind: 'cut' }, { kind: 'duplicate', times: 3 }];
    expect(mailbox.faults()).toMatchObject(expected);
    mailbox.reset();
    expect(mailbox.faults()).toMatchObject(expected.slice(0, 2));
    expect(() => mailbox.addFault('lost' as FaultName)).toThrow('did you mean lost-reply, ');
  });
});
