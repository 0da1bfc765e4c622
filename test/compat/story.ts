import { createMailbox, type Mailbox } from 'agent-mailbox-mock';
import { createReceiver, type Receiver } from 'agent-mailbox-mock/receiver';
import { startServer } from 'agent-mailbox-mock/server';
import { HttpResponse, http } from 'msw';
import { setupServer } from 'msw/node';

const BASE_URL = 'https://api.example.test';
const HOOK = 'https://agent.example.test/hook';

/** The story in process: msw intercepts the calls of the agent and the deliveries; what it does not is refused. */
export async function tellInProcess(): Promise<void> {
  await intercept(async (parts) => {
    await tellStory(parts);
    await expectRefusal(parts);
  });
}

/** The event stream in process: msw intercepts the global `WebSocket`. */
export async function streamInProcess(): Promise<void> {
  await intercept(({ mailbox }) => readStream(mailbox, BASE_URL));
}

/** The story over HTTP, and the end of the server. */
export async function tellOverHttp(): Promise<void> {
  const server = await startServer({ port: 0 });
  const receiver = createReceiver();
  const hook = await receiver.listen();
  // msw intercepts the requests of the test, but not the deliveries of a server in the same process.
  const interception = setupServer(http.post(hook, () => HttpResponse.error()));
  interception.listen();
  try {
    await tellStory({ mailbox: server.mailbox, url: server.url, receiver, hook });
  } finally {
    interception.close();
    await receiver.close();
    await server.close();
  }
  const isClosed = await fetch(server.url).then(
    () => false,
    () => true,
  );
  expectEqual('the server is closed', isClosed, true);
}

/** The event stream of a server. */
export async function streamOverHttp(): Promise<void> {
  const server = await startServer({ port: 0 });
  try {
    await readStream(server.mailbox, server.url);
  } finally {
    await server.close();
  }
}

interface Parts {
  readonly mailbox: Mailbox;
  readonly url: string;
  readonly receiver: Receiver;
  readonly hook: string;
}

async function intercept(act: (parts: Parts) => Promise<void>): Promise<void> {
  const mailbox = createMailbox({ baseUrl: BASE_URL });
  const receiver = createReceiver();
  const server = setupServer(
    ...mailbox.handlers,
    http.post(HOOK, ({ request }) => receiver.fetch(request)),
  );
  server.listen();
  try {
    await act({ mailbox, url: BASE_URL, receiver, hook: HOOK });
  } finally {
    server.close();
  }
}

async function tellStory({ mailbox, url, receiver, hook }: Parts): Promise<void> {
  const { keys, ids } = mailbox;
  const call = createCaller(url);
  const countWebhooks = async () => (await read(await call('GET', '/v1/webhooks', keys.acme.tenant))).webhooks.length;
  const before = await countWebhooks();

  const created = await call('POST', '/v1/webhooks', keys.acme.tenant, { url: hook, events: ['message.received'] });
  expectEqual('the status of a created webhook', created.status, 201);
  const { id, secret } = await read(created);
  receiver.secret = secret;
  expectEqual('the number of webhooks', await countWebhooks(), before + 1);

  const { helpdesk } = keys.acme.inboxes;
  const rotated = await call('POST', `/v1/inboxes/${ids.acme.inboxes.helpdesk}/keys`, keys.acme.tenant);
  expectEqual('the status of a rotation', rotated.status, 201);
  expectEqual('the status with the old key', (await call('GET', '/v1/me', helpdesk)).status, 401);

  await mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: 'dana@customer.test', subject: 'Order 1042' });
  await mailbox.settled();
  const deliveries = receiver.requests.map(({ verified, json }) => [verified, json.subject]);
  expectEqual('the deliveries', deliveries, [[true, 'Order 1042']]);

  expectEqual('the status of a deletion', (await call('DELETE', `/v1/webhooks/${id}`, keys.acme.tenant)).status, 200);
  expectEqual('the number of webhooks', await countWebhooks(), before);
  mailbox.reset();
  expectEqual('the status after the reset', (await call('GET', '/v1/me', helpdesk)).status, 200);
}

async function expectRefusal({ mailbox, url }: Parts): Promise<void> {
  const webhook = { url: 'https://nobody.example.test/hook', events: ['message.received'] };
  await createCaller(url)('POST', '/v1/webhooks', mailbox.keys.acme.tenant, webhook);
  await mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: 'dana@customer.test' });
  await mailbox.settled();
  const delivery = mailbox.deliveries().find((each) => each.attempts[0]?.url === webhook.url);
  expectEqual('the state of a delivery that is not intercepted', delivery?.state, 'refused');
}

function createCaller(url: string) {
  return (method: string, path: string, key: string, body?: object) =>
    fetch(url + path, {
      method,
      headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
}

async function readStream(mailbox: Mailbox, url: string): Promise<void> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/ws?api_key=${mailbox.keys.acme.tenant}`);
  const frames: { readonly type: string; readonly thread?: { readonly subject: string } }[] = [];
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('error', () => reject(new Error('The event stream failed.')));
    socket.addEventListener('close', () => reject(new Error('The event stream was closed too early.')));
    socket.addEventListener('message', ({ data }) => {
      const frame = JSON.parse(data);
      frames.push(frame);
      if (frame.type === 'connected') socket.send(JSON.stringify({ type: 'subscribe' }));
      if (frame.type === 'event') resolve();
      if (frame.type !== 'subscribed') return;
      mailbox
        .receiveMessage({ to: 'helpdesk@acme.test', from: 'dana@customer.test', subject: 'Order 1043' })
        .catch(reject);
    });
  });
  socket.close();
  expectEqual(
    'the frames of the event stream',
    frames.map(({ type }) => type),
    ['connected', 'subscribed', 'event'],
  );
  expectEqual('the subject in the event', frames[2]?.thread?.subject, 'Order 1043');
}

// biome-ignore lint/suspicious/noExplicitAny: the story reads fields without a type check, as a test does.
async function read(response: Response): Promise<any> {
  return response.json();
}

function expectEqual(what: string, actual: unknown, expected: unknown): void {
  const [shown, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (shown !== wanted) throw new Error(`Expected ${what} to be ${wanted}, but it is ${shown}.`);
}
