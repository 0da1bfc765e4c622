import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { startServer } from 'agent-mailbox-mock/server';
import { expect, test } from 'vitest';
import { scenarioJsonSchema } from '../../../src/evaluate/scenario-schema.ts';
import { DIST } from '../../support/dist.ts';

test('a server sends the JSON Schema of scenarios to editors, as it was built', async ({ onTestFinished }) => {
  expect(existsSync(join(DIST, 'inspector/scenario.schema.json.br'))).toBe(true);
  const server = await startServer({ port: 0 });
  onTestFinished(() => server.close());
  const reply = await fetch(`${server.control}/scenario.schema.json`);
  expect([reply.status, reply.headers.get('content-type')]).toEqual([200, expect.stringContaining('application/json')]);
  expect(await reply.json()).toEqual(JSON.parse(JSON.stringify(scenarioJsonSchema())));
});
