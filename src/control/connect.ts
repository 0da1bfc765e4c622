import { z } from 'zod';
import { describeValue } from '../basics/check-options.ts';
import { type InputOf, lazy } from '../basics/lazy-schema.ts';
import { isUrlWithScheme } from '../basics/text.ts';
import type { ServiceClient } from '../contract/client/client-types.ts';
import { ApiError, createResetError, parseOrRefuse } from '../contract/errors.ts';
import type { ComposedMessage, RawMessage } from '../contract/incoming-message.ts';
import type { HandleRequest } from '../service/delivery/connected-handlers.ts';
import type { ReceivedMessage } from '../service/mail/incoming/accept-message.ts';
import { type Mail, showMail } from '../service/mail/show-mail.ts';
import { primaryAddress } from '../world/store/world.ts';
import { addedWebhook, addWebhook } from './add-webhook.ts';
import { type ControlScope, findStoredRow } from './control-scope.ts';
import { showWebhook, type WebhookSettings } from './delivery-controls.ts';
import type { IncomingSample } from './samples/incoming-sample.ts';
import type { Receivable } from './samples/receive-sample.ts';
import type { Sample } from './samples/sample.ts';
import type { Settled, SettledOptions } from './settled.ts';

/**
 * A handler of webhooks in this process: a function from a `Request` to its `Response`, or an object with such a
 * function as its `fetch`, such as a Hono app or the export of a worker. Its second argument is the connection, which has
 * the secret; frameworks call it the environment or the bindings. The third has `waitUntil`.
 */
export type ConnectedHandler =
  | HandleRequest<Connection>
  | {
      /** Answers a request. */
      readonly fetch: HandleRequest<Connection>;
    };

const connectFields = () => ({
  /** The address or the id of the inbox that the agent looks after, to which `receive` delivers mail. */
  inbox: z.string('must be the address or the id of an inbox'),
  /** The kinds of event that the webhook gets, of every inbox of the workspace. Default: `message.received`. */
  events: addedWebhook().shape.events,
  /**
   * The URL of the webhook, which the handler finds in its request; nothing is called there. Default: a URL such as
   * `https://agent-1.test/`. A tenant can connect each URL once.
   */
  url: z
    .string('must be a URL')
    .refine((url) => isUrlWithScheme(url, /^https?$/), 'must be an absolute http or https URL')
    .optional(),
});

const connectOptions = lazy(() => z.strictObject(connectFields(), 'must be an object with inbox'));

/** The options of `connect`. */
export type ConnectOptions = InputOf<ReturnType<typeof connectFields>>;

/** A mail for the inbox of a connection: as `receiveMessage` takes it, but without a recipient. */
export type ConnectionMail =
  | (Omit<ComposedMessage, 'to'> & Partial<Pick<ComposedMessage, 'to'>>)
  | RawMessage
  | (Omit<IncomingSample, 'to'> & Partial<Pick<IncomingSample, 'to'>>)
  | Pick<Sample, 'mails'>;

/** A handler that is connected with an inbox: its webhook with the secret, and what a test needs. */
export interface Connection extends WebhookSettings {
  /** The id of the inbox. */
  readonly inboxId: string;
  /** The address from which the inbox sends. */
  readonly address: string;
  /** A client with the key that the inbox had when it was connected. */
  readonly client: ServiceClient;
  /**
   * Delivers a mail from outside to the inbox, waits as `settled` does, which is until the handler has answered its
   * webhook, and resolves with the mail as it is then. Of a sample with several mails it resolves with the last one.
   *
   * @throws {ApiError} as `receiveMessage` and `settled` do; VALIDATION_ERROR if the mail does not go to this inbox;
   *   CONFLICT if the connection has ended, because the mailbox was reset.
   * @example
   * expect(mailbox).toHaveAnswered(await helpdesk.receive({ from: 'dana@customer.test', subject: 'Where is it?' }));
   */
  receive(mail: ConnectionMail, options?: SettledOptions): Promise<Mail>;
}

/** The control method that connects an agent in the same process. */
export interface ConnectControls {
  /**
   * Connects an agent in this process with an inbox: adds a webhook for the workspace of the inbox, and calls the handler
   * with each delivery, without a network. What the handler throws becomes the reason of a failed attempt. A reset undoes
   * it. As in the service, the webhook also gets the events of the other inboxes of the workspace.
   *
   * @throws {ApiError} VALIDATION_ERROR for an invalid handler or option; NOT_FOUND for an unknown inbox; CONFLICT if the
   *   URL has a handler already. After an error nothing has changed.
   * @example
   * const helpdesk = mailbox.connect(app, { inbox: 'helpdesk@acme.test' });
   * const mail = await helpdesk.receive({ from: 'dana@customer.test', subject: 'Where is it?' });
   */
  connect(handler: ConnectedHandler, options: ConnectOptions): Connection;
}

/** The methods of the mailbox that a connection uses. */
interface ReceiveMethods {
  receiveMessage(message: Receivable): Promise<ReceivedMessage[]>;
  settled(options?: SettledOptions): Promise<Settled>;
}

/** Creates the method that connects an agent. */
export function createConnectControls(scope: ControlScope, methods: ReceiveMethods): ConnectControls {
  const { worlds, handlersOf, createClient } = scope;

  return {
    connect(handler, options) {
      const handle = parseHandler(handler);
      const { inbox: name, events, url: given } = parseOrRefuse('The connection', connectOptions(), options);
      const id = name.includes('@') ? scope.findInbox(name)?.inbox.id : name.toLowerCase();
      const found = findStoredRow(worlds, 'inboxes', id ?? '');
      if (!found || found.row.deletedAt !== null) throw new ApiError('NOT_FOUND', `There is no inbox ${name}.`);
      const { world, row: inbox } = found;

      const handlers = handlersOf(world);
      const url = new URL(given ?? handlers.freeUrl()).href;
      if (handlers.bindingsAt(url) !== undefined) {
        throw new ApiError('CONFLICT', `A handler is connected with ${url} already; give another url.`);
      }
      const webhook = showWebhook(world, addWebhook(scope, { url, events, workspaceOf: inbox.id }).row);
      const connection: Connection = {
        ...webhook,
        inboxId: inbox.id,
        address: primaryAddress(world, inbox),
        client: createClient(world.apiKeys.by('ownerId', inbox.id)[0]?.key ?? ''),
        async receive(mail, settling) {
          const current = worlds.get(world.id);
          if (!current || handlersOf(current).bindingsAt(url) !== connection) {
            throw new ApiError(
              'CONFLICT',
              'The connection has ended, because the mailbox was reset; call connect again.',
            );
          }
          // A sample that `createSample` has made has its recipients, and methods that a copy would not have.
          const isAddressed = typeof mail !== 'object' || mail === null || 'mails' in mail;
          const addressed = isAddressed ? mail : { ...mail, to: mail.to ?? connection.address };
          const received = await methods.receiveMessage(addressed as Receivable);
          const last = received.findLast(({ inboxId }) => inboxId === inbox.id);
          if (!last) throw new ApiError('VALIDATION_ERROR', `The mail did not go to ${connection.address}.`);
          const arrived = current.messages.get(last.id);
          await methods.settled(settling);
          const message = current.messages.get(last.id) ?? arrived;
          if (!message) throw createResetError();
          return showMail(current, message);
        },
      };
      handlers.add(url, handle, connection);
      return connection;
    },
  };
}

/** Returns the function that answers a request. @throws {ApiError} VALIDATION_ERROR if there is none */
function parseHandler(handler: ConnectedHandler): HandleRequest<Connection> {
  if (typeof handler === 'function') return handler;
  if (typeof handler?.fetch === 'function') return (...input) => handler.fetch(...input);
  const rule = 'a function that answers a Request, or an object with such a function as its fetch';
  throw new ApiError('VALIDATION_ERROR', `The handler must be ${rule}, not ${describeValue(handler)}.`);
}
