import type { Duration } from '../clock/duration.ts';
import type { EventKind } from '../contract/events.ts';
import type { ComposedMessage } from '../contract/incoming-message.ts';
import type { IncomingSample } from '../contract/incoming-sample.ts';
import type { MailFilter, WaitOptions } from '../control/mail-filter.ts';
import type { SandboxOptions, SandboxSummary } from '../control/sandbox.ts';
import type { Settled, SettledOptions } from '../control/settled.ts';
import type { TriggerOptions } from '../control/trigger.ts';
import type { Correspondent, CorrespondentOptions, ReplyFunction } from '../correspondents/correspondent.ts';
import type { Delivery } from '../delivery/delivery.ts';
import type { DeliveryFilter } from '../delivery/delivery-filter.ts';
import type { Fault, FaultOptions } from '../faults/fault.ts';
import type { DefaultIds } from '../fixture/fixture-ids.ts';
import type { DefaultKeys } from '../fixture/fixture-keys.ts';
import type { FixtureInput } from '../fixture/parse-fixture.ts';
import type { RequestEntry } from '../journal/request-entry.ts';
import type { RequestFilter } from '../journal/request-filter.ts';
import type { ReceivedMessage } from '../mail/accept-message.ts';
import type { Mail } from '../mail/show-mail.ts';
import type { Checkpoint } from '../state/checkpoints.ts';

/** Where a client finds an emulator. */
export interface EmulatorAddress {
  /** The URL at which pages call the service. */
  readonly baseUrl: string;
  /** The URL of the control plane. */
  readonly control: string;
  /** The token of the control plane; undefined if it needs none. */
  readonly token: string | undefined;
}

/** Options without a regular expression, which cannot be sent. */
type WithTextSubject<Options> = Omit<Options, 'subject'> & {
  /** Only mail whose subject contains this text. */
  readonly subject?: string | undefined;
};

/** Options of a correspondent without a function, which cannot be sent. */
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
  /** Stops the clock, now or at the given time, such as `2026-03-01T09:00:00Z`. */
  freeze(at?: Date | string): Promise<void>;
  /** Lets a frozen clock run again, from the time that it shows. */
  resume(): Promise<void>;
  /** Advances the clock, such as by `5m`, and resolves when everything that became due on the way is done. */
  advance(duration: Duration): Promise<void>;
}

/**
 * Controls an emulator over HTTP, as the methods of a mailbox do in process.
 *
 * @throws {Error} from each method: the message of the emulator, or that it cannot be reached.
 */
export class MailboxClient {
  /** The URL at which pages call the service. */
  readonly baseUrl: string;
  /** The time: freeze, advance or resume it. */
  readonly clock: ClockClient;
  /** The address of the emulator. */
  protected readonly address: EmulatorAddress;
  /** The id of the sandbox to which each call applies; undefined for the whole emulator. */
  readonly #sandboxId: string | undefined;

  /** Creates a client of the whole emulator, or of one sandbox. */
  constructor(address: EmulatorAddress, sandboxId?: string) {
    this.baseUrl = address.baseUrl;
    this.address = address;
    this.#sandboxId = sandboxId;
    this.clock = this.#createClock();
  }

  /** Resolves with the requests that the service has handled, oldest first. */
  async requests(filter: RequestFilter = {}): Promise<RequestEntry[]> {
    const { requests } = await this.#call<{ requests: RequestEntry[] }>('GET', '/requests', filter);
    return requests;
  }

  /** Resolves with the webhook deliveries, oldest first. */
  async deliveries(filter: DeliveryFilter = {}): Promise<Delivery[]> {
    const { deliveries } = await this.#call<{ deliveries: Delivery[] }>('GET', '/deliveries', filter);
    return deliveries;
  }

  /** Resolves with the mail that arrived or was sent since the start, oldest first. */
  async messages(filter: WithTextSubject<MailFilter> = {}): Promise<Mail[]> {
    const { messages } = await this.#call<{ messages: Mail[] }>('GET', '/messages', filter);
    return messages;
  }

  /** Resolves with a mail that has arrived or that arrives; rejects after 4 seconds or the given `timeout`. */
  waitForMessage(options: WithTextSubject<Omit<WaitOptions, 'sandbox'>>): Promise<Mail> {
    return this.#call('GET', '/messages/wait', options);
  }

  /** Delivers an inbound mail, or each mail of a sample, and resolves with the messages that it created. */
  async receiveMessage(message: ComposedMessage | IncomingSample): Promise<ReceivedMessage[]> {
    const { messages } = await this.#call<{ messages: ReceivedMessage[] }>('POST', '/messages', {}, message);
    return messages;
  }

  /** Adds a fault. */
  addFault(options: FaultOptions): Promise<Fault> {
    return this.#call('POST', '/faults', {}, options);
  }

  /** Adds somebody outside the service who answers the mail to an address. */
  addCorrespondent(options: WithListedReplies<CorrespondentOptions>): Promise<Correspondent> {
    return this.#call('POST', '/correspondents', {}, options);
  }

  /** Triggers a webhook event by hand and resolves with the deliveries that it created. */
  async trigger(event: EventKind, options: TriggerOptions = {}): Promise<Delivery[]> {
    const { deliveries } = await this.#call<{ deliveries: Delivery[] }>('POST', '/events', {}, { event, ...options });
    return deliveries;
  }

  /** Saves the present state under a name. */
  checkpoint(name: string): Promise<Checkpoint> {
    return this.#call('POST', '/checkpoints', {}, { name });
  }

  /** Restores the state of a checkpoint. */
  async restore(name: string): Promise<void> {
    await this.#call('POST', `/checkpoints/${encodeURIComponent(name)}/restore`);
  }

  /** Resolves with all data as a fixture. */
  export(): Promise<FixtureInput> {
    return this.#call('GET', '/export');
  }

  /** Resolves when no work is due or running. */
  settled(options: SettledOptions = {}): Promise<Settled> {
    return this.#call('POST', '/settle', {}, options);
  }

  /** Restores the initial state. That of the whole emulator also closes every sandbox. */
  async reset(): Promise<void> {
    await this.#call('POST', '/reset');
  }

  /** Creates the controls of the clock. */
  #createClock(): ClockClient {
    const show = () => this.#call<{ now: string; frozen: boolean }>('GET', '/clock');
    const change = async (body: object) => void (await this.#call('POST', '/clock', {}, body));
    return {
      now: async () => new Date((await show()).now),
      isFrozen: async () => (await show()).frozen,
      freeze: (at) => change({ freeze: at ?? true }),
      resume: () => change({ resume: true }),
      advance: (duration) => change({ advance: duration }),
    };
  }

  /** Calls the control plane and returns the JSON of its reply. */
  #call<Reply>(method: string, path: string, query: object = {}, body?: object): Promise<Reply> {
    return callControl(this.address, `${method} ${path}`, { ...query, sandbox: this.#sandboxId }, body);
  }
}

/** A sandbox, controlled over HTTP. */
export class SandboxClient extends MailboxClient implements SandboxSummary<DefaultKeys['acme'], DefaultIds['acme']> {
  /** Its id, which is also the id of its tenant. */
  readonly id: string;
  /** Its name; null without one. */
  readonly name: string | null;
  /** Its domain, to which mail is addressed: `helpdesk@<domain>`. */
  readonly domain: string;
  /** Its API keys, by handle: `keys.inboxes.helpdesk`. */
  readonly keys: DefaultKeys['acme'];
  /** The ids of its tenant, workspaces, inboxes and webhooks, by handle. */
  readonly ids: DefaultIds['acme'];

  private constructor(address: EmulatorAddress, summary: SandboxSummary<DefaultKeys['acme'], DefaultIds['acme']>) {
    super(address, summary.id);
    this.id = summary.id;
    this.name = summary.name;
    this.domain = summary.domain;
    this.keys = summary.keys;
    this.ids = summary.ids;
  }

  /** Creates a sandbox. */
  static async create(address: EmulatorAddress, options: Omit<SandboxOptions, 'fixture'> = {}): Promise<SandboxClient> {
    return new SandboxClient(address, await callControl(address, 'POST /sandboxes', {}, options));
  }

  /** Closes the sandbox: its keys become invalid. */
  async close(): Promise<void> {
    await callControl(this.address, `DELETE /sandboxes/${this.id}`);
  }
}

/** Calls the control plane, such as `POST /sandboxes`. */
async function callControl<Reply>(
  { control, token }: EmulatorAddress,
  call: string,
  query: object = {},
  body?: object,
): Promise<Reply> {
  const [method = '', path] = call.split(' ');
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const headers = { 'Content-Type': 'application/json', ...(token !== undefined && { 'X-Mock-Token': token }) };
  const toText = (value: unknown) => (value instanceof Date ? value.toISOString() : String(value));
  const url = `${control}${path}?${new URLSearchParams(given.map(([name, value]) => [name, toText(value)]))}`;
  const reply = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) }).catch((cause) => {
    throw new Error(`There is no emulator at ${control}; start one, or unset AGENT_MAILBOX_URL.`, { cause });
  });
  const json: unknown = await reply.json();
  if (reply.ok) return json as Reply;
  throw new Error((json as { readonly error: string }).error);
}
