import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { startChild } from './child.ts';
import type { Load } from './load-client.ts';
import { atMostTimes, type Comparison, compare, type Row, type Sample } from './measure.ts';
import { buildOurs, describeBare, installEmulate, type Peer, startPeer, withFlags } from './peers.ts';

const CONNECTIONS = 8;
/** So many that opening the connections does not count. */
const REQUESTS = 2000;
const ROUNDS = { rounds: 11, warmUp: 5 };

/** Throughput: the requests that a server answers in a second while several connections keep it busy. */
export async function benchThroughput(): Promise<Row[]> {
  await using emulate = await installEmulate();
  const ours = await buildOurs();
  const withoutJournal = await withFlags(ours, '--journal-size', '0');
  const { child: client } = await startChild('load-client.ts');
  const children = [client, await startPeer(ours), await startPeer(withoutJournal), await startPeer(emulate)];
  try {
    await send('POST', emulate);
    const bare = await describeBare(await send('GET', ours));
    children.push(await startPeer(bare));
    const relate = (method: Method, one: Peer, other: Peer) =>
      compare(sampleLoad(client, method, one), sampleLoad(client, method, other), ROUNDS);
    return [
      atLeast(2.2, 'listWebhooks, with the journal, ÷ a list of emulate', await relate('GET', ours, emulate)),
      atLeast(2.5, 'listWebhooks, without it, ÷ a list of emulate', await relate('GET', withoutJournal, emulate)),
      atLeast(0.35, 'listWebhooks ÷ bare node:http', await relate('GET', ours, bare)),
      atMostTimes(1.1, 'listWebhooks, journal on ÷ off', await relate('GET', ours, withoutJournal)),
      atLeast(1.5, 'createWebhook ÷ a POST of emulate', await relate('POST', ours, emulate)),
      atMostTimes(1.1, 'createWebhook, journal on ÷ off', await relate('POST', ours, withoutJournal)),
    ];
  } finally {
    for (const child of children) child.kill();
  }
}

type Method = 'GET' | 'POST';

/** Samples the microseconds that one request takes. */
function sampleLoad(client: ChildProcess, method: Method, peer: Peer): Sample {
  return async () => {
    const request = toHttpText(method, peer);
    const load: Load = { port: peer.port, request, requests: REQUESTS, connections: CONNECTIONS };
    client.send(load);
    const waiting = new AbortController();
    const [elapsedUs] = await Promise.race([once(client, 'message', waiting), once(client, 'exit', waiting)]);
    waiting.abort();
    if (client.exitCode === null) return elapsedUs;
    throw new Error(`The client ended during ${method} requests to ${peer.args[0]}.`);
  };
}

function toHttpText(method: Method, { port, path, headers, body }: Peer): string {
  const text = method === 'POST' ? JSON.stringify(body) : '';
  const bodyHeaders = text && { 'Content-Type': 'application/json', 'Content-Length': text.length };
  const lines = Object.entries({ Host: `127.0.0.1:${port}`, ...headers(), ...bodyHeaders }).map((pair) =>
    pair.join(': '),
  );
  return [`${method} ${path} HTTP/1.1`, ...lines, '', text].join('\r\n');
}

/** Sends one request, whose reply the bare server copies, or whose resource `emulate` then lists. */
function send(method: Method, { port, path, headers, body }: Peer): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { ...headers(), 'Content-Type': 'application/json' },
    body: method === 'POST' ? JSON.stringify(body) : null,
  });
}

/** Judges our share of the other side's requests in a second. */
function atLeast(limit: number, what: string, { ratio, subjectUs, referenceUs }: Comparison): Row {
  const share = 1 / ratio;
  const figure = `${share.toFixed(2)}× (${perSecond(subjectUs)}/s against ${perSecond(referenceUs)}/s)`;
  return { what: `throughput: ${what}`, figure, target: `at least ${limit}×`, met: share >= limit };
}

function perSecond(microseconds: number): string {
  return Math.round(1e6 / microseconds).toString();
}
