import { test } from 'agent-mailbox-mock/vitest';
import { expect } from 'vitest';

test('fails', async ({ mailbox }) => {
  await mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: 'dana@customer.test', subject: 'Hello' });
  expect(mailbox).toHaveSentMail({ to: 'dana@customer.test' });
});

test('passes', async ({ mailbox }) => {
  await mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: 'dana@customer.test', subject: 'Hello' });
  expect(mailbox).not.toHaveSentMail();
});
