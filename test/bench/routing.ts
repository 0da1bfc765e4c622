import { type Choose, parseBehaviours } from '../../src/contract/behaviours.ts';
import { OPERATIONS } from '../../src/contract/operations/index.ts';
import { findRow } from '../../src/pipeline/find-row.ts';
import { createRouter, type Routable } from '../../src/pipeline/router.ts';
import { atMostTimes, compare, type Row, type Sample, timePerCall } from './measure.ts';

const MORE_ROWS = 50;

const choices = parseBehaviours({});
const choose: Choose = (id) => choices[id];
const table: Routable[] = Object.values(OPERATIONS);
const more = Array.from({ length: MORE_ROWS }, (_, number) => ({ method: 'GET', path: `/v1/more-${number}/{id}` }));

/** Finding the row of a request among more rows, all of them before it, against the table as it is. */
export async function benchRouting(): Promise<Row[]> {
  const comparison = await compare(sampleFinding([...more, ...table]), sampleFinding(table), {
    rounds: 500,
    warmUp: 100,
  });
  const what = `finding deleteWebhook among ${table.length + MORE_ROWS} rows ÷ ${table.length}`;
  return [atMostTimes(1.1, what, comparison)];
}

function sampleFinding(rows: readonly Routable[]): Sample {
  const router = createRouter(rows);
  const request = { method: 'DELETE', path: '/v1/webhooks/ac3e0000-0005-4000-8000-000000000001' };
  const findMany = () => {
    for (let count = 0; count < 500; count += 1) findRow(router, request, choose);
  };
  const sample = timePerCall(1, findMany);
  return async () => (await sample()) / 500;
}
