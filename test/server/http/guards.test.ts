import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { type ServerOptions, startServer } from 'agent-mailbox-mock/server';
import { expect, test } from 'vitest';

const TOKEN = 'a-token-of-this-test';

/** The calls that a URL with a proof must not reach: all but the pages of a mail. */
const OTHER_CALLS = [
  'GET /tenants',
  'GET /keys',
  'GET /requests',
  'GET /messages/search',
  'GET /state',
  'GET /messages/{id}',
  'POST /reset',
  'DELETE /faults',
  'POST /messages/{id}.html',
] as const;

/** Starts a server, and returns what calls it with a `Host` and a proof for the path that is called. */
async function startGuarded(options: ServerOptions, host: string) {
  const server = await startServer({ port: 0, ...options });
  const id = server.mailbox.searchMail().messages[0]?.id ?? '';
  const prove = (path: string) => createHmac('sha256', TOKEN).update(path).digest('hex');
  return {
    /** Calls the control plane. `proof` is made from the path; by default it is right. */
    async call(call: string, proof: (path: string) => string = prove) {
      const [method = '', pattern = ''] = call.split(' ');
      const [path = '', query = ''] = `/__mock${pattern.replace('{id}', id)}`.split('?');
      const url = `${path}?${query && `${query}&`}proof=${proof(path)}`;
      const outgoing = request({ port: server.port, host: '127.0.0.1', method, path: url, headers: { host } }).end();
      const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
      let text = '';
      for await (const chunk of response) text += chunk;
      return { status: response.statusCode, text };
    },
    prove,
    mailbox: server.mailbox,
    [Symbol.asyncDispose]: () => server.close(),
  };
}

test('a URL with a proof of the token opens the pages of a mail', async () => {
  await using guarded = await startGuarded({ controlToken: TOKEN }, 'localhost');
  await guarded.mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: 'dana@customer.test', plainBody: 'Hello' });
  for (const page of ['GET /messages/{id}.html', 'GET /messages/latest.html?to=helpdesk@acme.test']) {
    const { status, text } = await guarded.call(page);
    expect([status, text], page).toEqual([200, expect.stringContaining('<')]);
  }
});

test('a proof of another path, or of no path, opens no page of a mail', async () => {
  await using guarded = await startGuarded({ controlToken: TOKEN }, 'localhost');
  for (const proof of [() => '', () => TOKEN, () => guarded.prove('/__mock/messages/latest.html')]) {
    expect((await guarded.call('GET /messages/{id}.html', proof)).status).toBe(401);
  }
});

test.for(OTHER_CALLS)('a proof is no way past the token for %s', async (call) => {
  await using guarded = await startGuarded({ controlToken: TOKEN }, 'localhost');
  expect((await guarded.call(call)).status).toBe(401);
});

test.for(OTHER_CALLS)('at a host name that is not a loopback name, a proof is not enough for %s', async (call) => {
  await using guarded = await startGuarded({ allowHosts: ['mail.test'] }, 'mail.test');
  expect((await guarded.call('GET /messages/{id}.html', () => 'any')).status).toBe(200);
  expect((await guarded.call(call, () => 'any')).status).toBe(401);
});

test('other calls do not know the parameter of the proof', async () => {
  await using guarded = await startGuarded({}, 'localhost');
  const { status, text } = await guarded.call('GET /messages/search', () => 'any');
  expect([status, text]).toEqual([400, expect.stringContaining('unknown parameter \\"proof\\"')]);
});
