import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { startServer } from 'agent-mailbox-mock/server';
import { expect, test } from 'vitest';
import { fire } from '../../support/deliveries.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { senderTo } from '../../support/send.ts';
import { after, hook, startReceiver } from '../../support/webhooks.ts';

test('a client that disconnects stops its advance', async () => {
  await using server = await startServer({ port: 0 });
  const { mailbox, control } = server;
  await using receiver = startReceiver({ mailbox }, 500, 'timeout');
  const { id } = await hook({ mailbox, send: senderTo(mailbox) }, receiver);
  const delivery = await fire({ mailbox }, id);
  const controller = new AbortController();
  const advanced = fetch(`${control}/clock`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ advance: '10000d' }),
    signal: controller.signal,
  });
  await receiver.received(2, PATIENCE_MS);
  const events = mailbox.feed()[Symbol.asyncIterator]();
  controller.abort();
  await expect(advanced).rejects.toThrow(/aborted/);
  // The feed says when the advance has stopped.
  for (let event = await events.next(); event.value?.data?.action !== 'advance'; ) event = await events.next();
  await receiver.close();
  await mailbox.settled({ timeout: '20s' });
  expect(mailbox.clock.now().toISOString()).toBe(after(5_000));
  expect(mailbox.delivery(delivery.id)).toMatchObject({ state: 'pending', nextAttemptAt: after(305_000) });
});

test('a client that has only ended its side of the connection still gets its reply', async () => {
  await using server = await startServer({ port: 0 });
  const { mailbox, port } = server;
  await using receiver = startReceiver({ mailbox }, 500, 'timeout');
  const { id } = await hook({ mailbox, send: senderTo(mailbox) }, receiver);
  const delivery = await fire({ mailbox }, id);
  const body = JSON.stringify({ advance: '10d' });
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.end(
    'POST /__mock/clock HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n' +
      `Content-Length: ${body.length}\r\n\r\n${body}`,
  );
  const reply = text(socket);
  await receiver.received(2, PATIENCE_MS);
  // The first probe comes before the receiver is given up.
  await once(socket, 'data');
  await receiver.close();
  expect(await reply).toMatch(/^(?:HTTP\/1\.1 102 Processing\r\n\r\n)+HTTP\/1\.1 200 OK\r\n/);
  expect(mailbox.clock.now().toISOString()).toBe(after(10 * 86_400_000));
  expect(mailbox.delivery(delivery.id).attempts.length).toBeGreaterThan(2);
});
