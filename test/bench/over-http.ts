import { Agent, request } from 'node:http';
import { createMailbox } from 'agent-mailbox-mock';
import { type Child, startChild } from './child.ts';
import { type Comparison, compare, type Row, type Sample } from './measure.ts';

const CONNECTIONS = 8;
const REQUESTS = 40;
const SERVERS = 3;
const LEAST = 0.85;

const { keys } = createMailbox();

/** Over HTTP: our server against express and msw's middleware with one handler that returns the same bytes. */
export async function benchOverHttp(): Promise<Row[]> {
  const ours = await startServers('mailbox');
  const theirs = await startServers('static');
  try {
    const comparison = await compare(sampleLoad(ours), sampleLoad(theirs), { rounds: 200, warmUp: 60 });
    return [toRow(comparison)];
  } finally {
    for (const { child } of [...ours, ...theirs]) child.kill();
  }
}

/** Several of each kind, because two processes of the same program can differ by some percent. */
function startServers(kind: string): Promise<Child[]> {
  return Promise.all(Array.from({ length: SERVERS }, () => startChild('serve.ts', [kind])));
}

function toRow({ ratio, subjectUs, referenceUs }: Comparison): Row {
  const share = 1 / ratio;
  return {
    what: 'over HTTP: listWebhooks against express and a static handler',
    figure: `${share.toFixed(2)}× (${perSecond(subjectUs)}/s against ${perSecond(referenceUs)}/s)`,
    target: `at least ${LEAST}×`,
    met: share >= LEAST,
  };
}

function perSecond(microseconds: number): string {
  return Math.round(1e6 / microseconds).toString();
}

/** Samples the microseconds that one request takes of a server which several connections keep busy. */
function sampleLoad(servers: readonly Child[]): Sample {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  let round = 0;
  return async () => {
    const url = `${servers[round++ % servers.length]?.said}/v1/webhooks`;
    let left = REQUESTS;
    const connection = async () => {
      while (left-- > 0) await get(url, agent);
    };
    const startedAt = performance.now();
    await Promise.all(Array.from({ length: CONNECTIONS }, connection));
    return ((performance.now() - startedAt) * 1000) / REQUESTS;
  };
}

function get(url: string, agent: Agent): Promise<void> {
  const headers = { 'X-API-Key': keys.acme.tenant };
  return new Promise((resolve, reject) => {
    request(url, { agent, headers }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${url} answered ${response.statusCode}.`));
      response.on('end', resolve).resume();
    })
      .on('error', reject)
      .end();
  });
}
