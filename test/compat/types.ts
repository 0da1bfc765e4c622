import { BehaviourError, createMailbox, type Environment, type Mailbox, type MailboxOptions } from 'agent-mailbox-mock';
import { createReceiver, type Receiver, type ReceiverOptions } from 'agent-mailbox-mock/receiver';
import { type MailboxServer, type ServerOptions, startServer } from 'agent-mailbox-mock/server';
import { http } from 'msw';
import { setupServer } from 'msw/node';

/** An object whose optional members are `undefined` where they are left out, as zod and many options have it. */
type Loose<T> = { [K in keyof T]?: T[K] | undefined };

/** What a strict project may write; it is compiled and never runs. */
export async function useTypes(
  options: Loose<MailboxOptions>,
  serverOptions: Loose<ServerOptions>,
  receiverOptions: Loose<ReceiverOptions>,
  environment: Loose<Environment>,
) {
  const mailbox: Mailbox = createMailbox({ environment, baseUrl: undefined, behaviours: options.behaviours });
  setupServer(
    ...mailbox.handlers,
    http.get('https://agent.example.test/', () => undefined),
  ).close();
  const server: MailboxServer = await startServer({
    port: serverOptions.port,
    handlers: serverOptions.handlers,
    deliverTo: serverOptions.deliverTo,
    log: undefined,
    environment,
  });
  const receiver: Receiver = createReceiver(receiverOptions);
  const { tenants } = createMailbox({ fixtures: options.fixtures }).snapshot();
  await mailbox.receiveMessage({ to: 'a@acme.test', from: 'b@acme.test', subject: undefined, attachments: undefined });
  mailbox.deliveries({ webhookId: undefined });
  await mailbox.settled({ timeout: undefined });
  // @ts-expect-error: the default fixture has no such inbox.
  mailbox.keys.acme.inboxes.nowhere;
  // @ts-expect-error: the behaviour has no such value.
  createMailbox({ behaviours: { 'webhooks.list.secret': 'hidden' } });
  const key: string = server.mailbox.keys.globex.workspaces.main;
  return { key, tenants, receiver, isOurs: (error: unknown) => error instanceof BehaviourError };
}
