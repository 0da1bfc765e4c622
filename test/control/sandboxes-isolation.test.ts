import type { Sandbox } from 'agent-mailbox-mock';
import fc from 'fast-check';
import { expect } from 'vitest';
import { everywhere, interceptRequests, type Service } from '../support/everywhere.ts';
import { provideWebSocket, type StreamClient } from '../support/stream-client.ts';
import { listen } from '../support/streams.ts';

interceptRequests();
provideWebSocket();

/** How many sandboxes work side by side. */
const COUNT = 4;

/** A sandbox that marks everything that it writes with its canary. */
interface Worker {
  readonly sandbox: Sandbox;
  readonly canary: string;
  readonly stream: StreamClient;
}

type Step = (service: Service, worker: Worker, others: readonly Worker[]) => unknown;

const keyOf = ({ sandbox }: Worker) => sandbox.keys.tenant;
const inboxPath = ({ sandbox }: Worker) => `/v1/inboxes/${sandbox.ids.inboxes.helpdesk}`;
const addressOf = ({ sandbox }: Worker) => `helpdesk@${sandbox.domain}`;

/** What a worker may do next; all workers use the same names and domains. */
const STEPS: readonly Step[] = [
  (_, { sandbox, canary }) =>
    sandbox.receiveMessage({ to: `helpdesk@${sandbox.domain}`, from: 'dana@customer.test', subject: canary }),
  (service, worker, others) => {
    const to = [worker, ...others].map(addressOf).concat('helpdesk@acme.test', 'bot@shared.test');
    const json = { to, subject: worker.canary, plainBody: worker.canary, verified: true };
    return service.send('POST', `${inboxPath(worker)}/send`, { key: keyOf(worker), json });
  },
  ({ send }, worker) => send('POST', '/v1/domains', { key: keyOf(worker), json: { domain: 'shared.test' } }),
  ({ send }, worker) => send('GET', '/v1/domains/shared.test/verify', { key: keyOf(worker) }),
  ({ send }, worker) => {
    const json = { username: 'bot', domain: 'shared.test', displayName: worker.canary };
    return send('POST', '/v1/inboxes', { key: keyOf(worker), json });
  },
  ({ send }, worker) => {
    const json = { username: 'bot', displayName: worker.canary };
    return send('POST', '/v1/inboxes', { key: keyOf(worker), json });
  },
  ({ send }, worker) => {
    const json = { url: `https://agent.example/${worker.canary}`, events: ['message.received', 'message.sent'] };
    return send('POST', '/v1/webhooks', { key: keyOf(worker), json });
  },
  ({ send }, worker) => send('GET', '/v1/messages', { key: keyOf(worker) }),
  ({ send }, worker, others) => send('GET', inboxPath(others[0] ?? worker), { key: keyOf(worker) }),
  (_, { sandbox, canary }) => sandbox.trigger('message.received', { subject: canary }),
  (_, { sandbox }) => sandbox.addFault({ on: 'delivery', kind: 'duplicate' }),
  (_, { sandbox }) => sandbox.clearFaults(),
  (_, { sandbox }) => sandbox.clock.advance('1m'),
  (_, { sandbox }) => sandbox.clearRequests(),
  (_, { sandbox }) => sandbox.checkpoint('here'),
];

const step = fc.record({ workerAt: fc.nat(COUNT - 1), stepAt: fc.nat(STEPS.length - 1) });

const options = { environment: { fetch: async () => new Response('') } };

everywhere('sandboxes side by side never see what another has written', options, async (service) => {
  const property = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
    service.mailbox.reset();
    const workers = await Promise.all(Array.from({ length: COUNT }, (_, at) => startWorker(service, at)));
    for (const { workerAt, stepAt } of steps) {
      const worker = workers[workerAt] as Worker;
      await STEPS[stepAt]?.(
        service,
        worker,
        workers.filter((each) => each !== worker),
      );
    }
    for (const worker of workers) await expectNoSighting(service, worker);
    for (const { stream } of workers) await stream[Symbol.asyncDispose]();
  });
  await fc.assert(property, { numRuns: Number(process.env.SANDBOX_RUNS ?? 15) });
});

async function startWorker(service: Service, at: number): Promise<Worker> {
  const sandbox = service.mailbox.createSandbox() as Sandbox;
  return { sandbox, canary: `canary-${at}`, stream: await listen(service, sandbox.keys.tenant) };
}

/** Expects that a worker sees no canary but its own, wherever it looks. */
async function expectNoSighting({ send }: Service, worker: Worker): Promise<void> {
  const { sandbox, canary, stream } = worker;
  await sandbox.settled();
  const lists = ['/v1/messages', '/v1/inboxes', '/v1/webhooks', '/v1/domains', '/v1/metrics'];
  const replies = await Promise.all(lists.map((path) => send('GET', path, { key: keyOf(worker) })));
  const seen = JSON.stringify([
    replies.map(({ json }) => json),
    sandbox.snapshot(),
    sandbox.export(),
    sandbox.checkpoints().map(({ name }) => sandbox.diff(name, 'now')),
    sandbox.deliveries(),
    sandbox.requests(),
    sandbox.exposures(),
    await stream.news(),
    stream.frames,
  ]);
  const strangers = (seen.match(/canary-\d/g) ?? []).filter((each) => each !== canary);
  expect(strangers).toEqual([]);
  for (const { tenantId } of [...sandbox.faults(), ...sandbox.deliveries()]) expect(tenantId).toBe(sandbox.id);
}
