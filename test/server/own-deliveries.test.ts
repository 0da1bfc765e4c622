import { networkInterfaces } from 'node:os';
import { type BehaviourOptions, createMailbox, type Mailbox } from 'agent-mailbox-mock';
import { createReceiver } from 'agent-mailbox-mock/receiver';
import { type MailboxServer, startServer } from 'agent-mailbox-mock/server';
import { type TestContext, test } from 'vitest';
import { fire } from '../support/deliveries.ts';
import { send, senderTo } from '../support/send.ts';
import { createWebhook } from '../support/webhooks.ts';

/** A non-loopback address of this machine. */
const OWN = Object.values(networkInterfaces())
  .flatMap((list = []) => list)
  .find(({ internal, family }) => !internal && family === 'IPv4')?.address;

/** All notations of addresses at which a server on all addresses of this machine is reachable. */
const HOSTS = [
  ...['127.0.0.1', 'localhost', 'LOCALHOST.', '127.1', '2130706433', '0x7f.0.0.1', '127.0.0.2', '0.0.0.0', '0'],
  ...['[::1]', '[0:0:0:0:0:0:0:1]', '[::]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', ...(OWN ? [OWN] : [])],
];

/** Sends one event to a URL and returns its delivery. */
async function deliver(mailbox: Mailbox, url: string) {
  const { id } = await createWebhook({ mailbox, send: senderTo(mailbox) }, url);
  return fire({ mailbox }, id);
}

/** Sends an event to the reset call of a server and checks that the server is not reset. */
async function expectNoReset({ expect }: TestContext, server: MailboxServer, from: Mailbox, url: string) {
  const witness = await createWebhook(
    { mailbox: server.mailbox, send: senderTo(server.mailbox) },
    'https://x.example/',
  );
  const delivery = await deliver(from, url);
  const { acme } = server.mailbox.keys;
  const there = await senderTo(server.mailbox)('GET', `/v1/webhooks/${witness.id}`, { key: acme.tenant });
  expect(there.status, url).toBe(200);
  return delivery;
}

test.for(['127.0.0.1', '0.0.0.0'])(
  'a server at %s delivers nothing to itself, in any notation of its address',
  async (host, context) => {
    await using server = await startServer({ port: 0, host, deliverTo: ['*'] });
    for (const name of HOSTS) {
      for (const path of ['/__mock/reset', '/__mock/events', '//__mock/reset', '/v1/webhooks']) {
        const url = `http://${name}:${server.port}${path}`;
        const { state, reason } = await expectNoReset(context, server, server.mailbox, url);
        const said = 'The URL leads to the emulator itself, which never delivers to itself.';
        context.expect([state, reason], url).toEqual(['refused', said]);
      }
    }
  },
);

test('a server still delivers to other ports of this machine', async ({ expect }) => {
  await using receiver = createReceiver();
  await using server = await startServer({ port: 0 });
  expect((await deliver(server.mailbox, await receiver.listen())).state).toBe('delivered');
});

test('a redirect does not lead a delivery to the control plane', async (context) => {
  await using server = await startServer({ port: 0 });
  const Location = `${server.control}/reset`;
  await using receiver = createReceiver({ answers: [307, 308].map((status) => ({ status, headers: { Location } })) });
  const url = await receiver.listen();
  for (const status of [307, 308]) {
    const { attempts } = await expectNoReset(context, server, server.mailbox, url);
    context.expect(attempts).toMatchObject([{ status }]);
  }
});

const SIGNATURES = ['standard-and-hex', 'standard', 'hex'] as const;

test.for(SIGNATURES)('the control plane refuses a delivery of any sender, signed by %s', async (signature, context) => {
  const behaviours: BehaviourOptions = { 'deliveries.signature': signature };
  await using server = await startServer({ port: 0, behaviours, environment: { fetch: globalThis.fetch } });
  await using other = await startServer({ port: 0, behaviours });
  for (const mailbox of [server.mailbox, other.mailbox, createMailbox({ behaviours })]) {
    const { attempts } = await expectNoReset(context, server, mailbox, `${server.control}/reset`);
    context.expect(attempts).toMatchObject([{ status: 403 }]);
    context.expect(JSON.parse(attempts[0]?.responseBody ?? '')).toEqual({
      error: 'A delivery to a webhook may not call /__mock.',
      code: 'DELIVERY_REFUSED',
    });
  }
});

test.for(['Webhook-Id: x', 'webhook-timestamp: 1', 'webhook-signature: v1,x', 'User-Agent: agent-mailbox-mock'])(
  'the control plane refuses a request with %s',
  async (header, { expect }) => {
    await using server = await startServer({ port: 0 });
    const [name = '', value = ''] = header.split(': ');
    const refused = await send(`${server.control}/health`, 'GET', { headers: { [name]: value } });
    expect([refused.status, refused.json.code]).toEqual([403, 'DELIVERY_REFUSED']);
    const elsewhere = await send(`${server.url}/health`, 'GET', { headers: { [name]: value } });
    expect(elsewhere.status).toBe(200);
  },
);
