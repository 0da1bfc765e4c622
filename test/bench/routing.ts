import { once } from 'node:events';
import { createSilentReader, parseBehaviours } from '../../src/contract/behaviours.ts';
import { OPERATION_ROWS } from '../../src/contract/operations.ts';
import { createRouter, findRow, type Routable } from '../../src/service/pipeline/router.ts';
import { type Child, startChild } from './child.ts';
import { atMostTimes, compare, type Row, type Sample, timePerCall } from './measure.ts';

const LIMIT = 1.1;
const PROCESSES = 3;

const behaviours = parseBehaviours({});
const reader = createSilentReader(behaviours);

/** The same request where its row is the last of the table, against where it is the first. */
export async function benchRouting(): Promise<Row[]> {
  return [await benchFinding(), await benchRequest()];
}

/** Finding the row only. */
async function benchFinding(): Promise<Row> {
  const others = OPERATION_ROWS.filter(({ id }) => id !== 'deleteWebhook');
  const own = OPERATION_ROWS.filter(({ id }) => id === 'deleteWebhook');
  const last = sampleFinding([...others, ...own]);
  const first = sampleFinding([...own, ...others]);
  const what = `finding deleteWebhook as the last of ${OPERATION_ROWS.length} rows ÷ as the first`;
  return atMostTimes(LIMIT, what, await compare(last, first, { rounds: 500, warmUp: 100 }));
}

function sampleFinding(rows: readonly Routable[]): Sample {
  const router = createRouter(rows);
  const request = { method: 'DELETE', path: '/v1/webhooks/ac3e0000-0005-4000-8000-000000000001' };
  const findMany = () => {
    for (let count = 0; count < 500; count += 1) findRow(router, request, reader);
  };
  const sample = timePerCall(1, findMany);
  return async () => (await sample()) / 500;
}

/** A whole request to a mailbox. Several processes of each kind, because two of the same can differ by some percent. */
async function benchRequest(): Promise<Row> {
  const last = await startMailboxes('last');
  const first = await startMailboxes('first');
  try {
    const comparison = await compare(sampleRequests(last), sampleRequests(first), { rounds: 300, warmUp: 60 });
    return atMostTimes(LIMIT, 'listWebhooks as the last row ÷ as the first', comparison);
  } finally {
    for (const { child } of [...last, ...first]) child.kill();
  }
}

function startMailboxes(place: 'first' | 'last'): Promise<Child[]> {
  return Promise.all(Array.from({ length: PROCESSES }, () => startChild('row-at.ts', [place])));
}

function sampleRequests(mailboxes: readonly Child[]): Sample {
  let round = 0;
  return async () => {
    const { child } = mailboxes[round++ % mailboxes.length] as Child;
    const answered = once(child, 'message');
    child.send('sample');
    const [elapsedUs] = await answered;
    return Number(elapsedUs);
  };
}
