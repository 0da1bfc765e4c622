import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { createMailbox } from 'agent-mailbox-mock';
import { startServer } from 'agent-mailbox-mock/server';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { createControl } from '../../../src/control/table/control.ts';
import { createControlOpenApi } from '../../../src/control/table/control-openapi.ts';
import { type ControlRow, createRows, defineControl } from '../../../src/control/table/row.ts';
import { listControlRows } from '../../../src/control/table/table.ts';
import { createFetch } from '../../../src/mailbox/fetch.ts';
import { sendControl } from '../../support/control.ts';

const DOCUMENT = createControlOpenApi(listControlRows());

test('GET /__mock/control.json is the document of the control calls', async () => {
  await using server = await startServer({ port: 0 });
  const { status, json } = await sendControl(`${server.control}/control.json`, 'GET');
  expect([status, json]).toEqual([200, JSON.parse(JSON.stringify(DOCUMENT))]);
});

test('the document of the control calls is valid OpenAPI 3.1 and passes the linter', async () => {
  const config = await createConfig({ extends: ['recommended'], rules: { 'operation-tag-defined': 'error' } });
  const problems = await lintFromString({ source: JSON.stringify(DOCUMENT), absoluteRef: 'control.json', config });
  expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([]);
  const validator = new Validator();
  expect(await validator.validate({ ...DOCUMENT })).toEqual({ valid: true });
  expect(validator.version).toBe('3.1');
});

test('every control call is described once, under an id of its own', () => {
  const described = Object.entries(DOCUMENT.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => `${operationId} ${method.toUpperCase()} ${path}`),
  );
  expect(described.sort()).toEqual(
    listControlRows()
      .map(({ id, method, path }) => `${id} ${method} ${path}`)
      .sort(),
  );
  expect(new Set(listControlRows().map(({ id }) => id)).size).toBe(listControlRows().length);
});

test('a control call can reply with a page or with an event stream', async () => {
  const summary = 'Shows something.';
  const page = defineControl(summary, { content: 'text/html', reply: z.string() }, () => '<p>Hello</p>');
  const counts = z.strictObject({ count: z.int() });
  const stream = defineControl(summary, { content: 'text/event-stream', reply: counts }, async function* () {
    yield { count: 1 };
    yield { count: 2 };
  });
  const rows = Object.values<ControlRow>(createRows({ page: 'GET /page', stream: 'GET /stream' }, { page, stream }));
  const fetchControl = createFetch(createControl(createMailbox(), () => {}, rows));
  const read = async (path: string) => {
    const reply = await fetchControl(new Request(`http://localhost/__mock/${path}`));
    return [reply.headers.get('content-type'), await reply.text()];
  };
  expect(await read('page')).toEqual(['text/html; charset=utf-8', '<p>Hello</p>']);
  expect(await read('stream')).toEqual(['text/event-stream', 'data: {"count":1}\n\ndata: {"count":2}\n\n']);
  expect(createControlOpenApi(rows).paths['/__mock/page']?.get?.responses).toMatchObject({
    200: { content: { 'text/html': {} } },
  });
});
