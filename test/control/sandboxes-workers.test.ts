import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { startServer } from 'agent-mailbox-mock/server';
import { test } from 'vitest';

const execute = promisify(execFile);

const WORKERS = 8;
const TESTS = 200;

/**
 * A test worker in a process of its own: each test has a sandbox, in which it must see its own data only. `fetch` would
 * take three times as much of the processor for a request.
 */
const WORKER = `
  import { Agent, request } from 'node:http';
  import { text } from 'node:stream/consumers';

  const [url, worker, tests] = [process.argv[1], process.argv[2], Number(process.argv[3])];
  const agent = new Agent({ keepAlive: true });
  const call = async (method, path, { key, json } = {}) => {
    const headers = { ...(json && { 'Content-Type': 'application/json' }), ...(key && { 'X-API-Key': key }) };
    const response = await new Promise((resolve, reject) => {
      const body = json && JSON.stringify(json);
      request(url + path, { method, headers, agent }, resolve).on('error', reject).end(body);
    });
    const body = await text(response);
    if (response.statusCode >= 300) throw new Error(method + ' ' + path + ': ' + body);
    return body;
  };
  let foreign = 0;
  for (let number = 0; number < tests; number += 1) {
    const canary = 'canary-' + worker + '-' + number + '-end';
    const sandbox = await call('POST', '/__mock/sandboxes', { json: { name: canary } });
    const { id, keys, ids, domain } = JSON.parse(sandbox);
    const key = keys.tenant;
    await call('POST', '/__mock/clock?sandbox=' + id, { json: { freeze: '2026-03-01T09:00:00.000Z' } });
    const json = { url: url + '/nowhere/' + canary, events: ['message.received'] };
    await call('POST', '/v1/webhooks', { key, json });
    await call('POST', '/v1/inboxes/' + ids.inboxes.helpdesk + '/send', {
      key,
      json: { to: 'billing@' + domain, subject: canary, plainBody: canary, verified: true },
    });
    const seen = [
      await call('GET', '/v1/messages', { key }),
      await call('GET', '/__mock/deliveries?sandbox=' + id),
      await call('GET', '/__mock/requests?sandbox=' + id),
    ];
    if (!seen.every((text) => text.includes(canary))) throw new Error('The sandbox misses its own mail.');
    foreign += seen.filter((text) => text.replaceAll(canary, '').includes('canary-')).length;
    const { now } = JSON.parse(await call('GET', '/__mock/clock?sandbox=' + id));
    if (now !== '2026-03-01T09:00:00.000Z') foreign += 1;
    if (number % 2) await call('DELETE', '/__mock/sandboxes/' + id);
  }
  console.log(foreign);
`;

test('eight processes with 200 tests each never see what another has written', async ({ expect }) => {
  await using server = await startServer({ port: 0 });
  const runs = Array.from({ length: WORKERS }, (_, worker) =>
    execute(process.execPath, ['--input-type=module', '--eval', WORKER, server.url, String(worker), String(TESTS)]),
  );
  const foreign = (await Promise.all(runs)).map(({ stdout }) => stdout.trim());
  expect(foreign).toEqual(Array.from({ length: WORKERS }, () => '0'));
  expect(server.mailbox.sandboxes()).toHaveLength((WORKERS * TESTS) / 2);
});
