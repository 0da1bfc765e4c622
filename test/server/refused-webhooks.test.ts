import { startServer } from 'agent-mailbox-mock/server';
import { expect, test } from 'vitest';
import { senderTo } from '../support/send.ts';
import { createWebhook } from '../support/webhooks.ts';

const REASON = 'hooks.example is not a loopback address; start with --deliver-to hooks.example to allow it.';

test('a webhook that may not be called is logged when it is created or changed, and told by settled()', async () => {
  const lines: string[] = [];
  await using server = await startServer({ port: 0, log: (line) => lines.push(line) });
  const { mailbox } = server;
  const send = senderTo(mailbox);
  const service = { mailbox, send };
  const told = () => lines.filter((line) => line.includes(`!   the webhook will get no deliveries: ${REASON}`)).length;
  const local = await createWebhook(service, 'http://127.0.0.1:9/in', { events: ['message.bounced'] });
  expect([told(), await mailbox.settled()]).toEqual([0, { losses: { dropped: 0, forgotten: 0 } }]);

  const { id: webhookId } = await createWebhook(service, 'https://hooks.example./in');
  expect(told()).toBe(1);
  const key = mailbox.keys.acme.tenant;
  await send('PATCH', `/v1/webhooks/${local.id}`, { key, json: { events: ['message.sent'] } });
  expect(told()).toBe(1);
  await send('PATCH', `/v1/webhooks/${local.id}`, { key, json: { url: 'https://hooks.example/' } });
  expect(told()).toBe(2);

  await mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: 'kim@visitor.test' });
  await mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: 'kim@visitor.test' });
  expect((await mailbox.settled()).refused).toEqual([{ webhookId, url: 'https://hooks.example./in', reason: REASON }]);
});

test('a webhook that may be called after a look-up is not logged', async () => {
  const lines: string[] = [];
  await using server = await startServer({ port: 0, deliverTo: ['10.0.0.0/8'], log: (line) => lines.push(line) });
  const { mailbox } = server;
  await createWebhook({ mailbox, send: senderTo(mailbox) }, 'https://hooks.example/in');
  expect(lines.join()).not.toContain('will get nothing');
});
