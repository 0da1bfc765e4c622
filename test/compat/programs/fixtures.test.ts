import { createMailboxTest, test } from 'agent-mailbox-mock/vitest';
import { expect } from 'vitest';

const otherTest = createMailboxTest({
  baseUrl: 'https://api.example.test',
  fixtures: { tenants: { initech: { workspaces: { main: { inboxes: { orders: {} } } } } } },
});

for (const order of ['Order 7', 'Order 8', 'Order 9']) {
  test.concurrent(`the mail about ${order} is sent once`, async ({ mailbox, sandbox, expect }) => {
    const headers = { 'X-API-Key': sandbox.keys.inboxes.helpdesk, 'Content-Type': 'application/json' };
    const body = JSON.stringify({ to: 'dana@customer.test', subject: order, plainBody: 'Sent.', verified: true });
    const url = `${mailbox.baseUrl}/v1/inboxes/${sandbox.ids.inboxes.helpdesk}/send`;
    expect((await fetch(url, { method: 'POST', headers, body })).ok).toBe(true);
    expect(sandbox).toHaveSentMail({ to: 'dana@customer.test', subject: order, times: 1 });
    expect(mailbox).toHaveNoUnexpectedRefusals();
  });
}

otherTest('another test has a mailbox at another base URL', async ({ mailbox }) => {
  const headers = { 'X-API-Key': mailbox.keys.initech.inboxes.orders };
  const reply = await fetch('https://api.example.test/v1/me', { headers });
  expect(await reply.json()).toMatchObject({ tier: 'inbox', email: 'orders@initech.test' });
});

test.skipIf(typeof WebSocket === 'undefined')('the event stream is intercepted', async ({ mailbox, sandbox }) => {
  const url = mailbox.baseUrl.replace('http', 'ws');
  const socket = new WebSocket(`${url}/v1/ws?api_key=${sandbox.keys.tenant}`);
  const first = await new Promise((resolve, reject) => {
    socket.addEventListener('message', ({ data }) => resolve(JSON.parse(data).type));
    socket.addEventListener('error', () => reject(new Error('The event stream failed.')));
  });
  socket.close();
  expect(first).toBe('connected');
});
