import { createMailbox, type Mailbox, type MailboxOptions } from 'agent-mailbox-mock';
import { setupWorker } from 'msw/browser';

export { driveEveryOperation } from './drive-every-operation.ts';
export { createRepeatableEnvironment } from './repeatable-environment.ts';
export { sendUnusualRequests } from './send-unusual-requests.ts';
export { createMailbox };

/** Starts one worker for these mailboxes. */
export async function startWorker(...mailboxes: Mailbox[]): Promise<void> {
  await setupWorker(...mailboxes.flatMap(({ handlers }) => handlers)).start({ quiet: true });
}

/** Creates a mailbox and starts a worker for it. */
export async function startMailbox(options?: Omit<MailboxOptions, 'fixtures'>): Promise<Mailbox> {
  const mailbox = createMailbox(options);
  await startWorker(mailbox);
  return mailbox;
}

/** Creates a tenant-wide webhook of Acme by a request. */
export async function createWebhook({ baseUrl, keys }: Mailbox, url: string): Promise<void> {
  const body = JSON.stringify({ url, events: ['message.received'] });
  await fetch(`${baseUrl}/v1/webhooks`, { method: 'POST', headers: { 'X-API-Key': keys.acme.tenant }, body });
}

/** Lists the webhooks of Acme by a request. */
export async function listWebhookUrls({ baseUrl, keys }: Mailbox): Promise<string[]> {
  const response = await fetch(`${baseUrl}/v1/webhooks`, { headers: { 'X-API-Key': keys.acme.tenant } });
  const { webhooks }: { webhooks: { url: string }[] } = await response.json();
  return webhooks.map(({ url }) => url);
}
