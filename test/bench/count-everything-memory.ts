// A child process. It sends 100,000 requests to a mailbox whose journal, feed, deliveries, faults, checkpoints and
// sandboxes are all in use, and tells its parent how many MB the second half of them added.
import { createMailbox } from 'agent-mailbox-mock';
import { usedMemory } from './count-bytes.ts';

process.once('disconnect', () => process.exit());

const REQUESTS = 100_000;
const REQUESTS_IN_ROUND = 10;
const ROUNDS_PER_CHECKPOINT = 100;
/** So many that the log of deliveries is full before the second half. */
const EVENTS_IN_ROUND = 3;

const mailbox = createMailbox({ environment: { fetch: async () => new Response('ok') } });
const { keys, ids } = mailbox;
const webhook = { url: 'https://receiver.test/hook', events: ['message.received'] };
let eventsRead = 0;
void readFeed();

await sendRequests(REQUESTS / 2);
const half = await usedMemory();
await sendRequests(REQUESTS / 2);
process.send?.(((await usedMemory()) - half) / 1024 ** 2);

// Everything stays in use until here.
if (eventsRead < REQUESTS || mailbox.requests().length === 0) throw new Error(`The feed had ${eventsRead} events.`);

async function readFeed(): Promise<void> {
  for await (const _ of mailbox.feed()) eventsRead += 1;
}

/** Sends a mix that leaves the data no larger than they were. */
async function sendRequests(count: number): Promise<void> {
  for (let round = 0; round < count / REQUESTS_IN_ROUND; round += 1) {
    await changeWebhooks();
    await sendRefused();
    await useSandbox();
    for (let event = 0; event < EVENTS_IN_ROUND; event += 1) mailbox.trigger('message.received');
    if (round % ROUNDS_PER_CHECKPOINT === 0) mailbox.checkpoint('latest');
    await mailbox.settled({ timeout: '1m' });
  }
}

async function changeWebhooks(): Promise<void> {
  await send('GET', '/v1/webhooks');
  const { id } = await send('POST', '/v1/webhooks', webhook);
  await send('DELETE', `/v1/webhooks/${id}`);
  await send('POST', `/v1/inboxes/${ids.acme.inboxes.helpdesk}/keys`);
}

async function sendRefused(): Promise<void> {
  mailbox.addFault({ on: 'request', status: 503 });
  await send('GET', '/v1/webhooks');
  await send('GET', '/v1/webhooks', undefined, 'tk_nobody_has_this_key');
}

async function useSandbox(): Promise<void> {
  using sandbox = mailbox.createSandbox();
  const { tenant } = sandbox.keys;
  const inbox = `/v1/inboxes/${sandbox.ids.inboxes.helpdesk}`;
  await sandbox.receiveMessage({ to: `helpdesk@${sandbox.domain}`, from: 'dana@customer.test', plainBody: 'Hello!' });
  await send('POST', '/v1/webhooks', webhook, tenant);
  await send('GET', '/v1/webhooks', undefined, tenant);
  await send('POST', `${inbox}/send`, { to: ['dana@customer.test'], subject: 'Hi', text: 'Hello!' }, tenant);
  await send('GET', `${inbox}/messages`, undefined, tenant);
}

async function send(method: string, path: string, json?: unknown, key: string = keys.acme.tenant) {
  const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' };
  const body = json === undefined ? null : JSON.stringify(json);
  const response = await mailbox.fetch(new Request(mailbox.baseUrl + path, { method, headers, body }));
  return (await response.json()) as { readonly id?: string };
}
