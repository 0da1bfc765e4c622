import 'agent-mailbox-mock/matchers';
import { expect, test } from 'bun:test';
import { createMailbox } from 'agent-mailbox-mock';

test('the import alone adds the assertions', async () => {
  const mailbox = createMailbox();
  const { baseUrl, keys, ids } = mailbox;
  await mailbox.fetch(`${baseUrl}/v1/inboxes/${ids.acme.inboxes.helpdesk}/send`, {
    method: 'POST',
    headers: { 'X-API-Key': keys.acme.inboxes.helpdesk, 'Content-Type': 'application/json' },
    body: JSON.stringify({ to: 'dana@customer.test', subject: 'Hi', plainBody: 'Hello' }),
  });
  expect(mailbox).toHaveSentMail({ to: 'dana@customer.test' });
});
