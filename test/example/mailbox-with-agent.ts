import { createMailbox, type Mailbox } from 'agent-mailbox-mock';
import { type AgentOptions, createAgent } from './agent.ts';

export const DANA = 'dana@customer.test';
export const HELPDESK = 'helpdesk@acme.test';
export const CHAIR = { from: DANA, subject: 'A chair', plainBody: 'I would like to buy a chair.' };

/** Connects the agent with the helpdesk of a mailbox, as its webhook. Both are in this process, without a network. */
export function connectAgent(mailbox: Pick<Mailbox, 'connect'>, options: Partial<AgentOptions> = {}) {
  const events = ['message.received', 'message.bounced'] as const;
  return mailbox.connect((request, { client, secret }) => createAgent({ client, secret, ...options })(request), {
    inbox: HELPDESK,
    events,
  });
}

/** Creates a mailbox with an agent. `receive` delivers a mail, and waits until the agent has handled it. */
export function createMailboxWithAgent(options: Partial<AgentOptions> = {}) {
  const mailbox = createMailbox();
  return { mailbox, receive: connectAgent(mailbox, options).receive };
}
