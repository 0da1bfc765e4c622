import { createReceiver, type ReceivedRequest } from 'agent-mailbox-mock/receiver';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { expect } from 'vitest';
import { fire } from '../../support/deliveries.ts';
import { everywhere, interceptRequests, type Service } from '../../support/everywhere.ts';
import { IDS } from '../../support/ids.ts';
import { ADDRESS } from '../../support/inbox-clients.ts';
import { createWebhook, hook, START, startReceiver } from '../../support/webhooks.ts';

interceptRequests();

const BY_CLOCK = { behaviours: { 'deliveries.timestamp': 'clock' } } as const;

/** Returns what each library, unmodified, says about a delivery when it arrives; null if it verifies. */
function problemsOf({ headers, body }: ReceivedRequest, secret: string): (string | null)[] {
  return [StandardWebhook, SvixWebhook].map((Webhook) => {
    try {
      new Webhook(secret).verify(body, { ...headers });
      return null;
    } catch (error) {
      return (error as Error).message;
    }
  });
}

/** How far the timestamp of a delivery is from a time, in seconds. */
const secondsFrom = ({ headers }: ReceivedRequest, timeMs: number) =>
  Math.abs(Number(headers['webhook-timestamp']) - timeMs / 1000);

/** Lets a delivery fail twice and succeed three days later. Returns its requests and the secret of its webhook. */
async function deliverForDays({ mailbox, send }: Service) {
  await using receiver = createReceiver({ answers: [500, 500] });
  const { secret } = await createWebhook({ mailbox, send }, await receiver.listen());
  await mailbox.clock.advance('2h');
  await mailbox.receiveMessage({ from: ADDRESS.dana, to: ADDRESS.helpdesk });
  const sentAt = mailbox.clock.now().getTime();
  await mailbox.clock.advance('3d');
  const requests = [...receiver.requests];
  expect(requests).toHaveLength(3);
  expect(mailbox.deliveries()).toMatchObject([{ state: 'delivered' }]);
  return { requests, secret, sentAt };
}

everywhere('both libraries verify each attempt, wherever the clock stands', async (service) => {
  const { requests, secret, sentAt } = await deliverForDays(service);
  for (const request of requests) {
    expect(problemsOf(request, secret)).toEqual([null, null]);
    // The times in the payload are those of the clock.
    expect(Math.abs(Date.parse(request.json.receivedAt) - sentAt)).toBeLessThan(60_000);
  }
  const { attempts } = service.mailbox.deliveries()[0] ?? { attempts: [] };
  for (const [index, { at, realTime }] of attempts.entries()) {
    const request = requests[index] as ReceivedRequest;
    expect(secondsFrom(request, Date.parse(realTime))).toBeLessThan(2);
    expect(Date.parse(at) - Date.parse(realTime)).toBeGreaterThan(7_199_000);
  }
});

everywhere('under clock, the timestamp follows the clock, and both libraries refuse it', BY_CLOCK, async (service) => {
  const { requests, secret, sentAt } = await deliverForDays(service);
  for (const request of requests)
    expect(problemsOf(request, secret)).toEqual(Array(2).fill('Message timestamp too new'));
  expect(secondsFrom(requests[0] as ReceivedRequest, sentAt)).toBeLessThan(60);
  expect(secondsFrom(requests[2] as ReceivedRequest, sentAt + 305_000)).toBeLessThan(60);
});

everywhere('a redelivery is signed in real time too', async (service) => {
  const { mailbox } = service;
  await using receiver = startReceiver(service);
  const { id, secret } = await hook(service, receiver);
  const delivery = await fire(service, id);
  await mailbox.clock.advance('3d');
  mailbox.redeliver(delivery.id);
  await mailbox.settled();
  expect(receiver.requests.map((request) => problemsOf(request, secret))).toEqual([
    [null, null],
    [null, null],
  ]);
});

for (const [value, timeOf] of [
  ['real', () => Date.now()],
  ['clock', ({ mailbox }: Service) => mailbox.clock.now().getTime()],
] as const) {
  everywhere(
    `under ${value}, a stale timestamp is an hour before the time of other timestamps`,
    { behaviours: { 'deliveries.timestamp': value } },
    async (service) => {
      await using receiver = startReceiver(service, 200);
      const { id } = await hook(service, receiver);
      service.mailbox.addFault({ on: 'delivery', kind: 'stale-timestamp' });
      await fire(service, id);
      await service.mailbox.clock.advance('5s');
      const [stale, right] = receiver.requests as [ReceivedRequest, ReceivedRequest];
      expect(secondsFrom(stale, timeOf(service) - 3_600_000)).toBeLessThan(60);
      expect([stale.verified, right.verified]).toEqual([false, true]);
    },
  );
  everywhere(
    `under ${value}, a date in Retry-After is compared with the time of the timestamps`,
    { behaviours: { 'deliveries.timestamp': value } },
    async (service) => {
      const { mailbox } = service;
      await using receiver = startReceiver(service);
      await mailbox.clock.advance('3d');
      const inTwoHours = new Date(timeOf(service) + 7_200_000);
      receiver.answer({ status: 503, headers: { 'Retry-After': inTwoHours.toUTCString() } });
      const { id } = await hook(service, receiver);
      const { attempts } = await fire(service, id);
      const [{ at, nextAttemptAt }] = attempts as [(typeof attempts)[number]];
      const waitedMs = Date.parse(nextAttemptAt ?? '') - Date.parse(at);
      expect(Math.abs(waitedMs - 7_200_000)).toBeLessThan(60_000);
    },
  );
}

everywhere('a receiver with the time of the mailbox is told which behaviour decides', async (service) => {
  const { mailbox } = service;
  mailbox.clock.freeze(START);
  await using receiver = createReceiver({ now: () => mailbox.clock.now() });
  const { id } = await hook(service, receiver);
  await fire(service, id);
  const [{ headers, problem, verified }] = receiver.requests as [ReceivedRequest];
  expect([verified, problem]).toEqual([
    false,
    `The timestamp ${headers['webhook-timestamp']} is more than 5 minutes from ${START}. It is real time, as the ` +
      'behaviour deliveries.timestamp says by default: leave out the option now of the receiver, or set the behaviour ' +
      'to clock.',
  ]);
});

everywhere('under clock, a receiver with real time is told which option it needs', BY_CLOCK, async (service) => {
  service.mailbox.clock.freeze('2030-06-01T12:00:00Z');
  await using receiver = createReceiver();
  const { id } = await hook(service, receiver);
  await fire(service, id);
  expect(receiver.requests[0]?.problem).toBe(
    'Message timestamp too new; if the behaviour deliveries.timestamp of the mailbox is clock, give the receiver the ' +
      'option now: () => mailbox.clock.now().',
  );
});

everywhere('under clock, a timestamp has the time of the tenant', BY_CLOCK, async (service) => {
  const { mailbox } = service;
  await using receiver = createReceiver({ now: () => mailbox.clock.now({ tenant: IDS.acme.tenant }) });
  await hook(service, receiver);
  mailbox.clock.freeze('2030-06-01T12:00:00.900Z', { tenant: IDS.acme.tenant });
  await mailbox.receiveMessage({ from: ADDRESS.dana, to: ADDRESS.helpdesk });
  await mailbox.settled();
  const timestamp = String(Date.parse('2030-06-01T12:00:00Z') / 1000);
  expect(receiver.requests).toMatchObject([
    { verified: true, problem: null, headers: { 'webhook-timestamp': timestamp } },
  ]);
});
