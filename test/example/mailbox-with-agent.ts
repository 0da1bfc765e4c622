import { createMailbox, type Mailbox } from 'agent-mailbox-mock';
import { type AgentOptions, createAgent } from './agent.ts';

export const DANA = 'dana@customer.test';
export const HELPDESK = 'helpdesk@acme.test';
export const CHAIR = { from: DANA, to: HELPDESK, subject: 'A chair', plainBody: 'I would like to buy a chair.' };

/** Creates a mailbox that calls the agent as its webhook. Both are in this process, without a network. */
export async function createMailboxWithAgent(options: Partial<AgentOptions> = {}) {
  const mailbox = createMailbox({ environment: { fetch: (url, init) => agent(new Request(url, init)) } });
  const events = ['message.received', 'message.bounced'] as const;
  const { secret } = await mailbox.addWebhook({ url: 'https://agent.test/hook', events, workspaceOf: HELPDESK });
  const agent = createAgent({ client: mailbox.client(mailbox.keys.acme.inboxes.helpdesk), secret, ...options });
  return mailbox;
}

/** Delivers a mail, and waits until the agent has answered its webhook. */
export async function receive(
  mailbox: Pick<Mailbox, 'receiveMessage' | 'settled'>,
  mail: Parameters<Mailbox['receiveMessage']>[0],
) {
  const [received] = await mailbox.receiveMessage(mail);
  await mailbox.settled();
  if (received === undefined) throw new Error('No inbox has this address.');
  return received;
}
