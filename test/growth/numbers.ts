import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Sandbox } from '../../src/control/controllable-mailbox.ts';
import { createMailbox } from '../../src/mailbox/index.ts';
import { buildMailbox } from '../../src/mailbox/mailbox.ts';
import { startServer } from '../../src/server/index.ts';
import type { GrowthRow } from './rows.ts';

const mailTo = ({ domain }: Sandbox) => ({ to: `helpdesk@${domain}`, from: 'dana@customer.test', plainBody: 'Hi' });

/** So many sandboxes, each with what `prepare` adds. */
async function sandboxes(count: number, prepare: (sandbox: Sandbox) => unknown = () => {}, mailbox = createMailbox()) {
  const all = Array.from({ length: count }, () => mailbox.createSandbox());
  for (const sandbox of all) await prepare(sandbox);
  return all;
}

/** Sends a request to each sandbox. */
async function call(mailbox: { fetch(request: Request): Promise<unknown> }, { keys }: Sandbox) {
  await mailbox.fetch(new Request('https://mailbox.test/v1/me', { headers: { 'X-API-Key': keys.tenant } }));
}

function fixtureWithInboxes(count: number) {
  const names = Array.from({ length: count }, (_, at) => `desk${at}`);
  const inboxes = Object.fromEntries(names.map((name) => [name, {}]));
  return { tenants: { acme: { domains: { 'acme.test': {} }, workspaces: { main: { inboxes } } } } };
}

/** A server that has so many sandboxes, each with an open feed that somebody reads. */
async function withFeeds(count: number) {
  const server = await startServer({ port: 0 });
  const feeds: Promise<unknown>[] = [];
  for (const { id } of await sandboxes(count, undefined, server.mailbox as never)) {
    const response = await fetch(`${server.control}/feed?sandbox=${id}`);
    feeds.push(response.text().catch(() => undefined));
  }
  return { server, feeds };
}

/** A server that has so many sandboxes, each with a delivery to a receiver that never answers. */
async function withHangingDeliveries(count: number) {
  const receiver = createServer(() => {}).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const server = await startServer({ port: 0 });
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const arrived = new Promise<void>((resolve) => {
    let calls = 0;
    receiver.on('request', () => {
      calls += 1;
      if (calls === count) resolve();
    });
  });
  await sandboxes(
    count,
    async (sandbox) => {
      const headers = { 'X-API-Key': sandbox.keys.tenant, 'Content-Type': 'application/json' };
      const body = JSON.stringify({ url, events: ['message.received'] });
      await server.mailbox.fetch('https://mailbox.test/v1/webhooks', { method: 'POST', headers, body });
      await sandbox.receiveMessage(mailTo(sandbox));
    },
    server.mailbox as never,
  );
  await arrived;
  return { server, receiver };
}

/** A row whose input is a number of things. */
function row<Made>(
  most: number,
  input: (count: number) => Made | Promise<Made>,
  run: (made: Made) => unknown,
): GrowthRow {
  return { most, input, run: (made) => run(made) };
}

/** Work whose growth is measured by the number of things, by what it is. */
export const NUMBERS: Readonly<Record<string, GrowthRow>> = {
  'the creation of sandboxes': row(
    2000,
    (count) => ({ count, mailbox: createMailbox() }),
    ({ count, mailbox }) => sandboxes(count, undefined, mailbox),
  ),
  'the end of sandboxes with a fault and a request each': row(
    2000,
    async (count) => {
      const mailbox = createMailbox();
      const prepare = async (sandbox: Sandbox) => {
        sandbox.addFault({ on: 'request', status: 503 });
        await call(mailbox, sandbox);
        sandbox.addFault({ on: 'request', status: 503 });
      };
      return sandboxes(count, prepare, mailbox);
    },
    (all) => all.forEach((sandbox) => void sandbox.close()),
  ),
  'mail to sandboxes with a checkpoint each': row(
    2000,
    (count) => sandboxes(count, (sandbox) => sandbox.checkpoint('start')),
    (all) => Promise.all(all.map((sandbox) => sandbox.receiveMessage(mailTo(sandbox)))),
  ),
  'mail to sandboxes with a stream each': row(
    2000,
    async (count) => {
      const { mailbox, admit } = buildMailbox({});
      const connection = { send() {}, close() {}, bufferedBytes: 0 };
      const open = ({ keys }: Sandbox) => {
        const query = new URLSearchParams({ api_key: keys.tenant });
        admit({ path: '/v1/ws', query, headers: new Headers() as never })(connection);
      };
      return sandboxes(count, open, mailbox as never);
    },
    async (all) => {
      for (const sandbox of all) await sandbox.receiveMessage(mailTo(sandbox));
      for (const sandbox of all) sandbox.close();
    },
  ),
  'the exposure of inboxes with a key each': row(
    2000,
    (count) => createMailbox({ fixtures: fixtureWithInboxes(count) }),
    (mailbox) => mailbox.exposures(),
  ),
  'the end of a server with open feeds': row(200, withFeeds, async ({ server, feeds }) => {
    await server.close();
    await Promise.all(feeds);
  }),
  'the end of a server with deliveries that hang': row(200, withHangingDeliveries, async ({ server, receiver }) => {
    await server.close();
    receiver.closeAllConnections();
    receiver.close();
  }),
};
