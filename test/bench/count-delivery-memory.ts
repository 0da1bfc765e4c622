// A child process. It delivers events and tells its parent how many MB more are in use after the last of them than
// once the log of deliveries is full.
import { createMailbox } from 'agent-mailbox-mock';
import { usedMemory } from './count-bytes.ts';
import { manyWebhooks } from './many-webhooks.ts';

process.once('disconnect', () => process.exit());

const RECEIVERS = 10;
const FULL = 1000;
const LAST = 5000;

const urls = Array.from({ length: RECEIVERS }, (_, index) => `http://127.0.0.1/${index}`);
const mailbox = createMailbox({
  fixtures: manyWebhooks(urls),
  environment: { fetch: async () => new Response('ok') },
});

await deliver(FULL);
const full = await usedMemory();
await deliver(LAST - FULL);
process.send?.(((await usedMemory()) - full) / 1024 ** 2);

async function deliver(events: number): Promise<void> {
  for (let event = 0; event < events; event += 1) {
    mailbox.trigger('message.received');
    await mailbox.settled({ timeout: '1m' });
  }
}
