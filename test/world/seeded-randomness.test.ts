import { createMailbox, type Mailbox } from 'agent-mailbox-mock';
import { startServer } from 'agent-mailbox-mock/server';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSeededRandom } from '../../src/world/seeded-randomness.ts';
import { randomCalls, runCalls } from '../support/model/random-calls.ts';
import { send } from '../support/send.ts';

function createFrozen(seed: number): Mailbox {
  const mailbox = createMailbox({ seed, behaviours: { 'deliveries.timestamp': 'clock' } });
  mailbox.clock.freeze('2026-03-01T09:00:00Z');
  return mailbox;
}

/** The requests to receivers; how long one took is real time. */
function requestsOf(mailbox: Mailbox) {
  return mailbox.deliveries().map(({ id, attempts }) => ({
    id,
    attempts: attempts.map(({ durationMs: _, realTime: __, ...attempt }) => attempt),
  }));
}

test('two mailboxes with one seed and a frozen clock give the same bytes to the same requests', async () => {
  await fc.assert(
    fc.asyncProperty(randomCalls, fc.maxSafeNat(), async (calls, seed) => {
      const [one, other] = [createFrozen(seed), createFrozen(seed)];
      const replies = await runCalls(one, calls);
      expect(await runCalls(other, calls)).toEqual(replies);
      expect(other.snapshot()).toEqual(one.snapshot());
      await Promise.all([one.settled(), other.settled()]);
      expect(requestsOf(other)).toEqual(requestsOf(one));
    }),
    { numRuns: 8 },
  );
});

test('a reset begins again with the ids and keys of the start', async () => {
  await fc.assert(
    fc.asyncProperty(randomCalls, async (calls) => {
      const mailbox = createFrozen(42);
      const replies = await runCalls(mailbox, calls);
      mailbox.reset();
      mailbox.clock.freeze('2026-03-01T09:00:00Z');
      expect(await runCalls(mailbox, calls)).toEqual(replies);
    }),
    { numRuns: 4 },
  );
});

test('two servers with one seed and a frozen clock send the same headers and bytes', async () => {
  const replies = await Promise.all(
    [1, 2].map(async () => {
      await using server = await startServer({ port: 0, behaviours: { 'deliveries.timestamp': 'clock' }, seed: 7 });
      server.mailbox.clock.freeze('2026-03-01T09:00:00Z');
      const key = server.mailbox.keys.acme.tenant;
      const json = { url: 'https://agent.example/hook', events: ['message.received'] };
      const { status, headers, text } = await send(`${server.url}/v1/webhooks`, 'POST', { key, json });
      return { status, headers: Object.fromEntries(headers), text };
    }),
  );
  expect(replies[0]).toEqual(replies[1]);
  expect(replies[0]?.status).toBe(201);
});

test('different seeds give different ids', async () => {
  const ids = [0, 1, 2 ** 32, 2 ** 53 - 1].map((seed) => createSeededRandom(seed)(16).join());
  expect(new Set(ids).size).toBe(4);
});

test('seeded bytes have no visible pattern', () => {
  const random = createSeededRandom(1);
  const counts = new Array<number>(256).fill(0);
  for (const byte of random(256_000)) counts[byte] = (counts[byte] ?? 0) + 1;
  for (const count of counts) expect(Math.abs(count - 1000)).toBeLessThan(200);
});

test.each([-1, 1.5, 2 ** 53, Number.NaN, '42' as never, null as never])('%s is not a seed', (seed) => {
  expect(() => createMailbox({ seed })).toThrow(
    /^The option seed must be a whole number from 0 to 9007199254740991, not .+\.$/,
  );
});
