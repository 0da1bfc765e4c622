// A child process: `count-memory.ts mailbox` or `count-memory.ts static`. It sends requests through msw and tells its
// parent how many MB more are in use after the last of them than after the first thousand.
import { createMailbox } from 'agent-mailbox-mock';
import { HttpResponse, http } from 'msw';
import { setupServer } from 'msw/node';
import { IDS } from '../support/ids.ts';
import { usedMemory } from './count-bytes.ts';

process.once('disconnect', () => process.exit());

const EARLY = 1000;
const LAST = 100_000;

const { baseUrl, keys, handlers } = createMailbox();
const webhook = { url: 'https://receiver.test/hook', events: ['message.received'] };
const answer = http.all(`${baseUrl}/*`, () => HttpResponse.json({ id: 'constant' }));

setupServer(...(process.argv[2] === 'mailbox' ? handlers : [answer])).listen({ onUnhandledRequest: 'error' });

await sendRequests(EARLY);
const early = await usedMemory();
await sendRequests(LAST - EARLY);
process.send?.(((await usedMemory()) - early) / 1024 ** 2);

/** Sends a mix that leaves the state no larger than it was. */
async function sendRequests(count: number): Promise<void> {
  for (let sent = 0; sent < count; sent += 5) {
    await send('GET', '/v1/webhooks');
    const { id } = await send('POST', '/v1/webhooks', webhook);
    await send('DELETE', `/v1/webhooks/${id}`);
    await send('POST', `/v1/inboxes/${IDS.acme.inboxes.helpdesk}/keys`);
    await send('GET', '/v1/webhooks', undefined, `tk_nobody_has_this_key_${sent}`);
  }
}

async function send(method: string, path: string, json?: unknown, key = keys.acme.tenant) {
  const response = await fetch(baseUrl + path, {
    method,
    headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
    body: json === undefined ? null : JSON.stringify(json),
  });
  return response.json();
}
