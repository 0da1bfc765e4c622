import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { startServer } from 'agent-mailbox-mock/server';
import { expect, test } from 'vitest';
import { evaluationJsonSchema } from '../../../src/evaluate/report-schema.ts';
import { scenarioJsonSchema } from '../../../src/evaluate/scenario-schema.ts';
import { DIST } from '../../support/dist.ts';

test.for([
  ['scenario', scenarioJsonSchema],
  ['evaluation', evaluationJsonSchema],
] as const)('a server sends the JSON Schema %s, as it was built', async ([name, schema], { onTestFinished }) => {
  expect(existsSync(join(DIST, `inspector/${name}.schema.json.br`))).toBe(true);
  const server = await startServer({ port: 0 });
  onTestFinished(() => server.close());
  const reply = await fetch(`${server.control}/${name}.schema.json`);
  expect([reply.status, reply.headers.get('content-type')]).toEqual([200, expect.stringContaining('application/json')]);
  expect(await reply.json()).toEqual(JSON.parse(JSON.stringify(schema())));
});
