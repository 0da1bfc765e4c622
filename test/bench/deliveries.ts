import { createMailbox, type Mailbox } from 'agent-mailbox-mock';
import { startServer } from 'agent-mailbox-mock/server';
import { askChild, startChild } from './child.ts';
import { manyWebhooks } from './many-webhooks.ts';
import { atMost, atMostTimes, compare, type Row, type Sample } from './measure.ts';

const EVENTS = 1000;
const RECEIVERS = 10;
const FAILING = 100;

/** Deliveries: how fast they are, what they leave behind, and what three days of retries take. */
export async function benchDeliveries(): Promise<Row[]> {
  return [...(await compareWithFetch()), await measureRetries(), await measureMemory()];
}

/** Against the same number of bare calls, as many of them at a time: one for each receiver. */
async function compareWithFetch(): Promise<Row[]> {
  const { child, said } = await startChild('receivers.ts', [String(RECEIVERS)]);
  const urls = said as readonly string[];
  const fixtures = manyWebhooks(urls);
  await using server = await startServer({ port: 0, fixtures });
  try {
    return [
      await relate('in process', createMailbox({ fixtures }), urls),
      await relate('from a server', server.mailbox, urls),
    ];
  } finally {
    child.kill();
  }
}

async function relate(where: string, mailbox: Anyone, urls: readonly string[]): Promise<Row> {
  const bare = sampleFetch(urls, await exampleOf(mailbox));
  const comparison = await compare(sampleDeliveries(mailbox), bare, { rounds: 5, warmUp: 1 });
  return atMostTimes(1.5, `${EVENTS} events to ${RECEIVERS} receivers ${where} ÷ bare fetches`, comparison);
}

type Anyone = Pick<Mailbox, 'reset' | 'settled' | 'trigger' | 'deliveries' | 'clock'>;

/** The request that a delivery is. */
async function exampleOf(mailbox: Anyone): Promise<RequestInit> {
  mailbox.trigger('message.received');
  await mailbox.settled();
  const { requestHeaders = {}, requestBody = '' } = mailbox.deliveries()[0]?.attempts[0] ?? {};
  return { method: 'POST', headers: requestHeaders, body: requestBody };
}

/** Samples the microseconds that one delivery takes. */
function sampleDeliveries(mailbox: Anyone): Sample {
  return async () => {
    mailbox.reset();
    const startedAt = performance.now();
    for (let event = 0; event < EVENTS; event += 1) mailbox.trigger('message.received');
    await mailbox.settled({ timeout: '1m' });
    const tookUs = (performance.now() - startedAt) * 1000;
    const delivered = mailbox.deliveries({ state: 'delivered' }).length;
    if (delivered !== EVENTS * RECEIVERS) throw new Error(`${delivered} deliveries arrived.`);
    return tookUs / delivered;
  };
}

function sampleFetch(urls: readonly string[], request: RequestInit): Sample {
  return async () => {
    const startedAt = performance.now();
    await Promise.all(urls.map((url) => call(url, request)));
    return ((performance.now() - startedAt) * 1000) / (EVENTS * urls.length);
  };
}

async function call(url: string, request: RequestInit): Promise<void> {
  for (let event = 0; event < EVENTS; event += 1) await (await fetch(url, request)).text();
}

/** Receivers that refuse the connection. */
async function measureRetries(): Promise<Row> {
  const { child, said } = await startChild('receivers.ts', [String(FAILING)]);
  child.kill();
  const mailbox = createMailbox({ fixtures: manyWebhooks(said as readonly string[]) });
  mailbox.trigger('message.received');
  await mailbox.settled();
  const startedAt = performance.now();
  await mailbox.clock.advance('3d');
  const tookS = (performance.now() - startedAt) / 1000;
  const attempts = mailbox.deliveries().reduce((sum, delivery) => sum + delivery.attempts.length, 0);
  return atMost(1, 's', `advance('3d') over ${FAILING} failing webhooks`, tookS, ` (${attempts} attempts)`);
}

async function measureMemory(): Promise<Row> {
  const grown = Number(await askChild('count-delivery-memory.ts', [], ['--expose-gc']));
  return atMost(20, 'MB', 'memory after 50000 deliveries over that after 10000', grown);
}
