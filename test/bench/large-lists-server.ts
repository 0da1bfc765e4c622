// A child process: a server with an inbox whose list of mails has about 12 MB.
import { startServer } from 'agent-mailbox-mock/server';

const TEXT = 'Thank you for your order. It leaves our house tomorrow morning.\n'.repeat(1_900);

const server = await startServer({ port: 0 });
const { keys, ids } = server.mailbox;
for (let number = 0; number < 100; number += 1) {
  const mail = { to: 'helpdesk@acme.test', from: 'dana@customer.test', subject: `Order ${number}`, plainBody: TEXT };
  await server.mailbox.receiveMessage(mail);
}
process.once('disconnect', () => process.exit());
const list = `/v1/inboxes/${ids.acme.inboxes.helpdesk}/messages?limit=100`;
process.send?.({ url: server.url, key: keys.acme.inboxes.helpdesk, list });
