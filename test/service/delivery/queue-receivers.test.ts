import { once } from 'node:events';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { expect, test } from 'vitest';
import { fire, startCalling, stateOf } from '../../support/deliveries.ts';
import { everywhere, interceptRequests } from '../../support/everywhere.ts';
import { serve } from '../../support/serve.ts';
import { createWebhook, hook, startReceiver } from '../../support/webhooks.ts';

interceptRequests();

everywhere('a redirect is a failure, and is not followed', async (service) => {
  await using target = startReceiver(service);
  await using receiver = startReceiver(service);
  const location = await target.listen();
  const { id } = await hook(service, receiver);
  for (const status of [301, 302, 303, 307, 308]) {
    receiver.answer({ status, headers: { Location: location } });
    const { state, attempts } = await fire(service, id);
    const error = `The receiver answered ${status}, and redirects are not followed.`;
    expect([state, attempts]).toMatchObject(['pending', [{ status, error, responseHeaders: { location } }]]);
  }
  expect(target.requests).toEqual([]);
});

everywhere(
  'a receiver that does not answer in time fails the attempt, which is retried',
  { behaviours: { 'deliveries.timeout': '1s' } },
  async (service) => {
    await using receiver = startReceiver(service, 'timeout', 200);
    const { id } = await hook(service, receiver);
    const delivery = await fire(service, id);
    expect(delivery).toMatchObject({
      state: 'pending',
      attempts: [
        { status: null, error: 'The receiver did not respond within 1 s.', responseHeaders: {}, responseBody: '' },
      ],
    });
    await service.mailbox.clock.advance('5s');
    expect(stateOf(service, delivery)).toBe('delivered');
    expect(receiver.requests).toHaveLength(2);
  },
);

everywhere(
  'a receiver that never finishes its response fails the attempt too',
  { behaviours: { 'deliveries.timeout': '100ms' } },
  async (service) => {
    await using server = await serve((_request, response) => void response.writeHead(200).write('x'));
    const { id } = await createWebhook(service, server.url);
    expect(await fire(service, id)).toMatchObject({
      state: 'pending',
      attempts: [{ status: null, error: 'The receiver did not respond within 0.1 s.' }],
    });
  },
);

test('a receiver that ignores the abort fails the attempt too, and delays nothing', async () => {
  let calls = 0;
  const fetch = () => {
    calls += 1;
    return calls === 1 ? new Promise<Response>(() => {}) : Promise.resolve(new Response());
  };
  const { mailbox } = await startCalling(fetch, 1, { 'deliveries.timeout': '100ms' });
  for (let count = 0; count < 2; count += 1) mailbox.trigger('message.sent');
  await mailbox.settled();
  expect(mailbox.deliveries()).toMatchObject([
    { state: 'pending', attempts: [{ status: null, error: 'The receiver did not respond within 0.1 s.' }] },
    { state: 'delivered' },
  ]);
});

everywhere('a login in the URL of a webhook is sent as a header', async (service) => {
  await using receiver = startReceiver(service);
  const url = (await receiver.listen()).replace('//', '//kim:p%C3%A4ss%40@');
  const { id } = await hook(service, receiver, { url: `${url}/in` });
  expect((await fire(service, id)).state).toBe('delivered');
  const authorization = `Basic ${Buffer.from('kim:päss@').toString('base64')}`;
  expect(receiver.requests).toMatchObject([{ path: '/in', verified: true, headers: { authorization } }]);
  expect(service.mailbox.deliveries().at(-1)?.attempts[0]?.requestHeaders).toMatchObject({ authorization });
});

everywhere('a receiver that cannot be reached fails the attempt', async (service) => {
  await using receiver = startReceiver(service);
  const { id } = await hook(service, receiver);
  await receiver.close();
  const { state, attempts } = await fire(service, id);
  expect([state, attempts]).toMatchObject([
    'pending',
    [{ status: null, error: expect.stringMatching(/ECONNREFUSED/) }],
  ]);
});

everywhere('a receiver that closes the connection fails the attempt', async (service) => {
  await using server = await serve(({ socket }) => socket.destroy());
  const { id } = await createWebhook(service, server.url);
  const { state, attempts } = await fire(service, id);
  expect([state, attempts]).toMatchObject(['pending', [{ status: null, error: expect.stringMatching(/\S/) }]]);
});

everywhere('a response is read up to 16 KiB', async (service) => {
  await using receiver = startReceiver(
    service,
    { status: 200, body: 'é'.repeat(20_000) },
    { status: 500, body: 'x'.repeat(16_384) },
    { status: 200, body: `${'x'.repeat(16_383)}é` },
  );
  const { id } = await hook(service, receiver);
  const bodies = [];
  for (let count = 0; count < 3; count += 1) bodies.push((await fire(service, id)).attempts[0]?.responseBody);
  expect(bodies).toEqual(['é'.repeat(8_192), 'x'.repeat(16_384), 'x'.repeat(16_383)]);
});

everywhere('an endless response is aborted', async (service) => {
  await using server = await serve((_request, response) => {
    const pour = () => {
      while (!response.destroyed && response.write('x'.repeat(1_000)));
    };
    response.on('drain', pour);
    pour();
  });
  const { id } = await createWebhook(service, server.url);
  const { state, attempts } = await fire(service, id);
  expect([state, attempts[0]?.responseBody.length]).toEqual(['delivered', 16_384]);
});

everywhere('a response without a valid HTTP status fails the attempt, with an error in words', async (service) => {
  for (const status of ['000', '099']) {
    const server = createTcpServer((socket) => {
      socket.once('data', () => socket.end(`HTTP/1.1 ${status} X\r\nContent-Length: 0\r\n\r\n`));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const { id } = await createWebhook(service, `http://127.0.0.1:${port}/in`);
    const { state, attempts } = await fire(service, id);
    server.close();
    const error = "The receiver's response is not valid HTTP.";
    expect([state, attempts]).toMatchObject(['pending', [{ status: null, error }]]);
  }
});
