import { startServer } from 'agent-mailbox-mock/server';
import { describe, expect, test } from 'vitest';
import { verifyHar } from '../../src/verify/verify-har.ts';
import { verifyServer } from '../../src/verify/verify-server.ts';
import { keysOf, startProxy } from './proxy.ts';

const DEEP = `{"id":${'['.repeat(50_000)}${']'.repeat(50_000)}}`;

/** Bodies with which a server may answer, and which no service of this kind has. */
const ODD = [
  '{"id":{"toString":1}}',
  '{"id":{"valueOf":{},"toString":[]},"key":{"toString":null}}',
  '{"id":[{"toString":1}]}',
  '{"id":{"__proto__":{"toString":1}}}',
  '[{"toString":1}]',
  '{"toString":1,"id":null}',
  '{"id":true,"key":1,"email":{"toString":1},"apiKey":{}}',
  '"text"',
  '5',
  DEEP,
];

describe('a reply of odd JSON', () => {
  for (const body of ODD) {
    test(`to the first request ends the run with a sentence: ${body.slice(0, 40)}`, async (context) => {
      await using server = await startServer({ port: 0 });
      const baseUrl = await startProxy(context, server, (incoming, response) => {
        if (incoming.method !== 'POST') return false;
        response.writeHead(201, { 'Content-Type': 'application/json' }).end(body);
        return true;
      });
      const run = verifyServer({ baseUrl, keys: keysOf(server), requestTimeoutMs: 2000, profile: {} });
      const error = await run.then(
        () => undefined,
        (thrown: Error) => thrown,
      );
      expect(error?.name).toBe('VerifyError');
      expect(error?.message).toMatch(/^The command verify cannot begin: [^\n]+\.$/);
      expect(error?.message).not.toMatch(/Cannot convert|is not a function|undefined|call stack/);
    });
  }

  test('names the request and the field', async (context) => {
    await using server = await startServer({ port: 0 });
    const baseUrl = await startProxy(context, server, (incoming, response) => {
      if (incoming.method !== 'POST') return false;
      response.writeHead(201, { 'Content-Type': 'application/json' }).end('{"id":{"toString":1}}');
      return true;
    });
    const run = verifyServer({ baseUrl, keys: keysOf(server), requestTimeoutMs: 2000, profile: {} });
    await expect(run).rejects.toThrow(
      'The command verify cannot begin: the reply to POST /v1/workspaces has a field id that is not a text.',
    );
  });

  test('in a recording is compared, or named', async () => {
    for (const text of ODD) {
      const request = { method: 'GET', headers: [{ name: 'X-API-Key', value: 'tk_acme_tenant_key' }] };
      const response = { status: 200, headers: [{ name: ':status', value: '200' }], content: { text } };
      const entries = ['/v1/workspaces', '/v1/me', '/v1/webhooks', '/v1/messages'].map((path) => ({
        request: { ...request, url: `https://api.example.com${path}` },
        response,
      }));
      entries.push({ request: { ...request, url: 'http://[' }, response });
      const outcome = await verifyHar(JSON.stringify({ log: { entries } })).then(
        ({ findings }) => findings.map(({ found }) => found).join('\n'),
        ({ message }: Error) => message,
      );
      expect(outcome).not.toMatch(/Cannot convert|is not a function|call stack|Invalid/);
      if (text === DEEP) {
        expect(outcome).toBe(
          'The entry 1 of the recording, GET https://api.example.com/v1/workspaces, cannot be compared. ' +
            'Its JSON is nested more than 100 levels deep.',
        );
      }
    }
  });
});
