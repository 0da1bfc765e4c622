import { describeValue } from '../../basics/check-options.ts';
import { trimEndSlashes } from '../../basics/text.ts';
import type { ServiceClient } from '../../contract/client/client-types.ts';
import { createClient as createServiceClient } from '../../contract/client/create-client.ts';
import { type ControlClient, createControlClient, type InputTo } from '../../control/table/client.ts';
import { CONTROL_PATH } from '../../control/table/control-path.ts';
import { chooseUrl, urlOfSandbox } from '../../control/table/emulator-urls.ts';
import { type AddWebhookOptions, addWebhookWith } from '../../control/webhook-receiver.ts';
import type {
  Checkpoint,
  ComposedMessage,
  Correspondent,
  CorrespondentOptions,
  DefaultIds,
  DefaultKeys,
  Delivery,
  DeliveryFilter,
  Duration,
  EventKind,
  Fault,
  FaultName,
  FaultOptions,
  FixtureInput,
  FoundMail,
  IncomingSample,
  Mail,
  MailFilter,
  MailStory,
  NamedFault,
  NamedFaultOptions,
  ReceivedMessage,
  ReplyFunction,
  RequestEntry,
  RequestFilter,
  SandboxOptions,
  SandboxSummary,
  Settled,
  SettledOptions,
  TraceOptions,
  TriggerOptions,
  WaitOptions,
  WebhookSettings,
} from '../../mailbox/without-msw.ts';

/** Where a client finds an emulator. */
export interface EmulatorAddress {
  /** The URL at which pages call the service. */
  readonly baseUrl: string;
  /** The URL of the control plane. */
  readonly control: string;
  /** The token of the control plane; undefined if it needs none. */
  readonly token: string | undefined;
}

/**
 * Reads the address of the running emulator of this worker from the environment variables; undefined without them, as in
 * a web page.
 */
export function readEmulatorAddress(): EmulatorAddress | undefined {
  const env = globalThis.process?.env ?? {};
  const { AGENT_MAILBOX_URL, AGENT_MAILBOX_TOKEN: token } = env;
  const url = chooseUrl(env) ?? (AGENT_MAILBOX_URL && trimEndSlashes(AGENT_MAILBOX_URL));
  return url ? addressOf(url, token) : undefined;
}

function addressOf(url: string, token: string | undefined): EmulatorAddress {
  return { baseUrl: url, control: url + CONTROL_PATH, token };
}

/** Options whose `subject` is a text, because JSON cannot contain a regular expression. */
type WithTextSubject<Options> = Omit<Options, 'subject'> & {
  /** Only mail whose subject contains this text. */
  readonly subject?: string | undefined;
};

/** Options of a correspondent whose `replies` is not a function, because JSON cannot contain a function. */
type WithListedReplies<Options> = Options extends { readonly replies: infer Replies }
  ? Omit<Options, 'replies'> & { readonly replies: Exclude<Replies, ReplyFunction> }
  : Options extends { readonly replies?: infer Replies }
    ? Omit<Options, 'replies'> & { readonly replies?: Exclude<Replies, ReplyFunction> }
    : Options;

/** The time of an emulator or of a sandbox. */
export interface ClockClient {
  /** Resolves with the current time. */
  now(): Promise<Date>;
  /** Resolves with whether the clock is frozen. */
  isFrozen(): Promise<boolean>;
  /** Stops the clock at its current time or, with `at`, at this time, such as `2026-03-01T09:00:00Z`. */
  freeze(at?: Date | string): Promise<void>;
  /** Lets a frozen clock run again, from the time that it shows. */
  resume(): Promise<void>;
  /** Advances the clock, such as by `5m`, and resolves when everything that became due in this time is done. */
  advance(duration: Duration): Promise<void>;
}

/**
 * Controls an emulator over HTTP, as the methods of a mailbox do in process.
 *
 * @throws {Error} from each method: with the message of the emulator, or if the emulator cannot be reached.
 */
export class MailboxClient {
  /** The URL at which pages call the service. */
  readonly baseUrl: string;
  /** The time: freeze, advance or resume it. */
  readonly clock: ClockClient;
  /** The address of the emulator. */
  protected readonly address: EmulatorAddress;
  /** The client of the control plane. */
  readonly #client: ControlClient;

  /** Creates a client of the whole emulator, or of one sandbox. */
  constructor(address: EmulatorAddress, sandboxId?: string) {
    this.#client = createClient(address, sandboxId);
    this.baseUrl = address.baseUrl;
    this.address = address;
    this.clock = this.#createClock();
  }

  /**
   * Creates a client with this API key: a method for each operation of the service.
   *
   * @example
   * const helpdesk = emulator.client('ak_acme_helpdesk_key');
   * const { messages } = await helpdesk.listMessages(inboxId);
   */
  client(key: string): ServiceClient {
    const { control } = this.address;
    // Pages may call the service at another URL, which only they can reach.
    return createServiceClient({ baseUrl: control.slice(0, -CONTROL_PATH.length), key });
  }

  /** Resolves with the requests that the service has handled, oldest first. */
  async requests(filter: RequestFilter = {}): Promise<RequestEntry[]> {
    const { requests } = (await this.#client.listRequests(filter)) as { requests: RequestEntry[] };
    return requests;
  }

  /** Resolves with the webhook deliveries, oldest first. */
  async deliveries(filter: DeliveryFilter = {}): Promise<Delivery[]> {
    return (await this.#client.listDeliveries(filter)).deliveries;
  }

  /** Resolves with the mail that arrived or was sent since the start, oldest first. */
  async messages(filter: WithTextSubject<MailFilter> = {}): Promise<Mail[]> {
    return (await this.#client.listMail(filter)).messages;
  }

  /**
   * Resolves with a mail that has already arrived or that arrives later; rejects after 4 seconds or the given
   * `timeout`.
   */
  waitForMessage(options: WithTextSubject<Omit<WaitOptions, 'sandbox'>>): Promise<FoundMail> {
    return this.#client.waitForMessage(options);
  }

  /** Delivers an inbound mail, or each mail of a sample, and resolves with the messages that it created. */
  async receiveMessage(message: ComposedMessage | IncomingSample): Promise<ReceivedMessage[]> {
    return (await this.#client.receiveMessage(message)).messages;
  }

  /** Tells what became of a mail: whom it was told to, who read it, what was sent because of it, and what is due. */
  async explain(mail: { readonly id: string } | string): Promise<MailStory> {
    const id = typeof mail === 'string' ? mail : mail?.id;
    if (typeof id === 'string') return this.#client.explainMail({ id });
    throw new TypeError('The method explain takes a mail with an id, or the id of a mail.');
  }

  /** Resolves with a trace: what has happened since the start or the latest reset, as JSON Lines. */
  async trace(options: TraceOptions = {}): Promise<string> {
    return (await this.#client.readTrace(options)).text();
  }

  /** Adds a fault by its name, such as `lost-reply`; the options say to what it applies, and how often. */
  addFault<Name extends FaultName>(name: Name, options?: NamedFaultOptions<Name>): Promise<Fault>;
  /** Adds a fault. */
  addFault(options: FaultOptions | NamedFault): Promise<Fault>;
  addFault(fault: FaultName | FaultOptions | NamedFault, options?: object): Promise<Fault> {
    return this.#client.addFault(typeof fault === 'string' ? { ...options, name: fault } : fault);
  }

  /** Adds somebody outside the service who answers the mail to an address. */
  addCorrespondent(options: WithListedReplies<CorrespondentOptions>): Promise<Correspondent> {
    return this.#client.addCorrespondent(options);
  }

  /** Adds a webhook, and resolves with the webhook and its secret. `receiver` starts to listen, and gets the secret. */
  addWebhook(options: AddWebhookOptions): Promise<WebhookSettings> {
    return addWebhookWith(options, (webhook) => this.#client.addWebhook(webhook));
  }

  /** Triggers a webhook event by hand and resolves with the deliveries that it created, oldest first. */
  async trigger(event: EventKind, options: TriggerOptions = {}): Promise<Delivery[]> {
    return (await this.#client.triggerEvent({ event, ...options })).deliveries;
  }

  /** Saves the present state under a name. */
  checkpoint(name: string): Promise<Checkpoint> {
    return this.#client.addCheckpoint({ name });
  }

  /** Restores the state of a checkpoint. */
  async restore(name: string): Promise<void> {
    await this.#client.restoreCheckpoint({ name });
  }

  /** Resolves with all data as a fixture. */
  export(): Promise<FixtureInput> {
    return this.#client.exportState();
  }

  /** Resolves when no work is due or running. */
  settled(options: SettledOptions = {}): Promise<Settled> {
    return this.#client.settle(options);
  }

  /** Restores the initial state. A reset of the whole emulator also closes every sandbox. */
  async reset(): Promise<void> {
    await this.#client.reset();
  }

  /** Creates the controls of the clock. */
  #createClock(): ClockClient {
    const client = this.#client;
    const change = async (body: InputTo<'changeClock'>) => void (await client.changeClock(body));
    return {
      now: async () => new Date((await client.getClock()).now),
      isFrozen: async () => (await client.getClock()).frozen,
      freeze: (at) => change({ freeze: at instanceof Date ? at.toISOString() : (at ?? true) }),
      resume: () => change({ resume: true }),
      advance: (duration) => change({ advance: duration }),
    };
  }
}

/** A sandbox, controlled over HTTP. */
export class SandboxClient extends MailboxClient implements SandboxSummary<DefaultKeys['acme'], DefaultIds['acme']> {
  /** The id of the sandbox, which is also the id of its tenant. */
  readonly id: string;
  /** The name of the sandbox; null if it has none. */
  readonly name: string | null;
  /** The domain of the inboxes: `helpdesk@<domain>`. */
  readonly domain: string;
  /** The API keys of the sandbox, by handle: `keys.inboxes.helpdesk`. */
  readonly keys: DefaultKeys['acme'];
  /** The ids of the tenant, workspaces, inboxes and webhooks of the sandbox, by handle. */
  readonly ids: DefaultIds['acme'];
  /** The logins of the inboxes for IMAP and SMTP, by handle: `logins.helpdesk`. */
  readonly logins: SandboxSummary<DefaultKeys['acme'], DefaultIds['acme']>['logins'];

  private constructor(address: EmulatorAddress, summary: SandboxSummary<DefaultKeys['acme'], DefaultIds['acme']>) {
    super(address, summary.id);
    this.id = summary.id;
    this.name = summary.name;
    this.domain = summary.domain;
    this.keys = summary.keys;
    this.ids = summary.ids;
    this.logins = summary.logins;
  }

  /** Creates a sandbox. */
  static async create(address: EmulatorAddress, options: Omit<SandboxOptions, 'fixture'> = {}): Promise<SandboxClient> {
    const created = await createClient(address).createSandbox(options);
    const { baseUrl, token } = address;
    const url = urlOfSandbox(baseUrl, created, globalThis.process?.env ?? {});
    // If the worker has started the emulator, pages call `https://mailbox.test` and not the URL of the emulator, so the
    // address stays as it is.
    const ownAddress = address.control === baseUrl + CONTROL_PATH ? addressOf(url, token) : address;
    return new SandboxClient(ownAddress, created as object as SandboxSummary<DefaultKeys['acme'], DefaultIds['acme']>);
  }

  /** Creates a client with the tenant key of the sandbox, or with another API key. */
  override client(key: string = this.keys.tenant): ServiceClient {
    return super.client(key);
  }

  /** Closes the sandbox: its keys become invalid. */
  async close(): Promise<void> {
    await createClient(this.address).closeSandbox({ id: this.id });
  }
}

/** Where a running emulator is. */
export interface EmulatorOptions {
  /** Its URL, such as `http://127.0.0.1:4025`. Default: the variable `AGENT_MAILBOX_URL`, which `exec` sets. */
  readonly url?: string | undefined;
  /** The token of its control plane. Default: the variable `AGENT_MAILBOX_TOKEN`, if `url` is not given; otherwise none. */
  readonly token?: string | undefined;
}

/** A whole emulator, controlled over HTTP. */
export class EmulatorClient extends MailboxClient {
  /** Creates a sandbox: a copy of the first tenant with keys, ids and a domain of its own. */
  createSandbox(options: Omit<SandboxOptions, 'fixture'> = {}): Promise<SandboxClient> {
    return SandboxClient.create(this.address, options);
  }
}

/**
 * Creates a client of a running emulator for tests in another process: its methods control the emulator as those of a
 * mailbox do, and `client(key)` calls the operations of the service. Nothing is sent before a method is called.
 *
 * @throws {TypeError} if there is neither `url` nor the variable, or if it is not a URL.
 * @example
 * const emulator = connectEmulator({ url: 'http://127.0.0.1:4025' });
 * await emulator.receiveMessage({ to: 'helpdesk@acme.test', from: 'dana@customer.test', subject: 'Order 7' });
 */
export function connectEmulator({ url, token }: EmulatorOptions = {}): EmulatorClient {
  if (url === undefined) {
    const address = readEmulatorAddress();
    if (address) return new EmulatorClient(token === undefined ? address : { ...address, token });
    throw new TypeError(
      'The function connectEmulator needs url, or the variable AGENT_MAILBOX_URL, which npx agent-mailbox-mock exec sets.',
    );
  }
  if (typeof url === 'string' && /^https?:\/\//.test(url) && URL.canParse(url)) {
    return new EmulatorClient(addressOf(trimEndSlashes(url), token));
  }
  throw new TypeError(`The url of connectEmulator must be an http or https URL, not ${describeValue(url)}.`);
}

/** Creates the client of an emulator, or of one sandbox. */
function createClient(address: EmulatorAddress, sandbox?: string): ControlClient {
  if (typeof address?.control !== 'string') {
    throw new TypeError('The address of an emulator must be an object with baseUrl, control and token.');
  }
  const { control, token } = address;
  const send = (url: string, init: RequestInit) =>
    fetch(url, init).catch((cause) => {
      throw new Error(`There is no emulator at ${control}; start one, or unset AGENT_MAILBOX_URL.`, { cause });
    });
  return createControlClient({ control, token, sandbox, send });
}
