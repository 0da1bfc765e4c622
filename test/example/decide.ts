import type { ServiceClient } from 'agent-mailbox-mock/client';

/** What the service sends to a webhook; these are the fields that the agent uses, as below. */
export interface MailEvent {
  readonly event: 'message.received' | 'message.bounced';
  readonly inboxId: string;
  readonly messageId: string;
  /** Of a bounce: the address that the mail did not reach. */
  readonly recipient?: string;
}

/** A mail as the service shows it. */
export type Mail = Awaited<ReturnType<ServiceClient['getMessage']>>;

/** What to do with a mail: answer it, or leave a draft for a person, who checks and sends it. */
export interface Decision {
  readonly action: 'reply' | 'draft';
  readonly text: string;
}

/** Decides what to do with a mail; `thread` is its conversation, oldest first. */
export type Decide = (mail: Mail, thread: readonly Mail[]) => Decision | Promise<Decision>;

/** Decides without a model. */
export const decideByRules: Decide = ({ plainBody }) => {
  if (/\bopen\b/i.test(plainBody)) return { action: 'reply', text: 'We are open from Monday to Friday.' };
  const size = /\bsize ([SML])\b/i.exec(plainBody)?.[1];
  if (size) return { action: 'reply', text: `Your chair in size ${size} is on its way.` };
  if (/\bchair\b/i.test(plainBody)) return { action: 'reply', text: 'Which size would you like: S, M or L?' };
  return { action: 'draft', text: 'Thank you for your mail.' };
};
