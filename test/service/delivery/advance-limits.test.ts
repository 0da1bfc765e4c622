import { createMailbox, type Delivery, type Environment } from 'agent-mailbox-mock';
import { expect, test } from 'vitest';
import { fire } from '../../support/deliveries.ts';
import { everywhere, interceptRequests, type Service } from '../../support/everywhere.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { after, createWebhook, hook, START, startReceiver } from '../../support/webhooks.ts';

interceptRequests();

const SHORT =
  'The receiver did not respond within 1 s. It got only this long, because it did not respond within 15 s to an ' +
  'earlier attempt in the same advance of the clock.';
const FULL = 'The receiver did not respond within 15 s.';

/**
 * Receivers that never answer, or that answer 500 if their path says so. Timers of the platform are over at once, so
 * nobody waits for the former.
 */
const SILENT: Pick<Environment, 'fetch' | 'setTimer'> = {
  fetch: (url) => (url.endsWith('/500') ? Promise.resolve(new Response('', { status: 500 })) : new Promise(() => {})),
  setTimer(_, wake) {
    const timer = setTimeout(wake, 0);
    return () => clearTimeout(timer);
  },
};

const errorsOf = ({ mailbox }: Pick<Service, 'mailbox'>, { id }: Pick<Delivery, 'id'>) =>
  mailbox.delivery(id).attempts.map(({ error }) => error);

everywhere(
  'a receiver that timed out gets one second for its later attempts in the same advance',
  { environment: SILENT },
  async (service) => {
    const { mailbox } = service;
    mailbox.clock.freeze(START);
    const { id } = await createWebhook(service, 'https://hooks.example/silent');
    const { id: otherId } = await createWebhook(service, 'https://hooks.example/500');
    const delivery = await fire(service, id);
    const other = await fire(service, otherId);
    await mailbox.clock.advance('6m');
    // The attempt before the advance had 15 seconds, and so has the first one in it.
    expect(errorsOf(service, delivery)).toEqual([FULL, FULL, SHORT]);
    expect(errorsOf(service, other)).toEqual(Array(3).fill('The receiver answered 500.'));
    await mailbox.clock.advance('10000d');
    expect(errorsOf(service, delivery)).toEqual([FULL, FULL, SHORT, FULL, ...Array(6).fill(SHORT)]);
    expect(mailbox.delivery(delivery.id).state).toBe('exhausted');
    // A delivery outside of an advance has the whole time again.
    expect(errorsOf(service, await fire(service, id))).toEqual([FULL]);
  },
);

everywhere(
  'webhooks of several tenants with the same URL lead to one receiver',
  { environment: SILENT },
  async (service) => {
    const { mailbox } = service;
    mailbox.clock.freeze(START);
    const url = 'https://hooks.example/silent';
    const first = await createWebhook(service, url);
    const second = await createWebhook(service, url, { key: mailbox.keys.globex.tenant });
    const third = await createWebhook(service, `${url}/other`, { key: mailbox.keys.globex.tenant });
    const delivery = await fire(service, first.id);
    mailbox.addFault({ on: 'delivery', kind: 'delay', delay: '8s', times: 2 });
    const [late] = mailbox.trigger('message.received', { webhookId: second.id }) as [Delivery];
    const [other] = mailbox.trigger('message.received', { webhookId: third.id }) as [Delivery];
    await mailbox.clock.advance('10s');
    expect(errorsOf(service, delivery)).toEqual([FULL, FULL]);
    expect([errorsOf(service, late), errorsOf(service, other)]).toEqual([[SHORT], [FULL]]);
  },
);

everywhere(
  'a shorter timeout than a second stays as it is',
  { environment: SILENT, behaviours: { 'deliveries.timeout': '100ms' } },
  async (service) => {
    service.mailbox.clock.freeze(START);
    const { id } = await createWebhook(service, 'https://hooks.example/silent');
    const delivery = await fire(service, id);
    await service.mailbox.clock.advance('10m');
    expect(errorsOf(service, delivery)).toEqual(Array(3).fill('The receiver did not respond within 0.1 s.'));
  },
);

everywhere('a signal stops an advance where it is', async (service) => {
  const { mailbox } = service;
  await using receiver = startReceiver(service, 500, 'timeout');
  const { id } = await hook(service, receiver);
  const delivery = await fire(service, id);
  const controller = new AbortController();
  const advanced = mailbox.clock.advance('10000d', { signal: controller.signal });
  await receiver.received(2, PATIENCE_MS);
  controller.abort(new Error('Enough.'));
  await expect(advanced).rejects.toMatchObject({
    code: 'CONFLICT',
    message: `The clock stopped at ${after(5_000)} on its way to ${after(10_000 * 86_400_000)}, because the signal was aborted.`,
    cause: new Error('Enough.'),
  });
  // The attempt goes on. When it fails, the next one waits for its time.
  await receiver.close();
  await mailbox.settled({ timeout: '20s' });
  expect(mailbox.clock.now().toISOString()).toBe(after(5_000));
  expect(mailbox.delivery(delivery.id)).toMatchObject({ state: 'pending', nextAttemptAt: after(305_000) });
  // The clock can be advanced again.
  await mailbox.clock.advance('1s');
  expect(mailbox.clock.now().toISOString()).toBe(after(6_000));
});

test('an aborted signal leaves the clock as it is, and one that is not aborted changes nothing', async () => {
  const mailbox = createMailbox();
  mailbox.clock.freeze(START);
  await expect(mailbox.clock.advance('1d', { signal: AbortSignal.abort() })).rejects.toThrow(/stopped at .* aborted/);
  expect(mailbox.clock.now().toISOString()).toBe(START);
  const controller = new AbortController();
  await mailbox.clock.advance('1h', { signal: controller.signal });
  controller.abort();
  expect(mailbox.clock.now().toISOString()).toBe(after(3_600_000));
});
