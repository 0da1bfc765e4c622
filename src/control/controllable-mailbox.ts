import { z } from 'zod';
import { lazy } from '../basics/lazy-schema.ts';
import type { BehaviourValues } from '../contract/behaviours.ts';
import type { ServiceClient } from '../contract/client/client-types.ts';
import type { OpenApiDocument } from '../contract/openapi/document.ts';
import { name } from '../contract/schemas.ts';
import type {
  DefaultIds,
  DefaultKeys,
  FixtureIds,
  FixtureKeys,
  NamedFixture,
  TenantIds,
  TenantKeys,
} from '../fixture/keys-and-ids.ts';
import type { ReceivedMessage } from '../service/mail/incoming/accept-message.ts';
import { SEED } from '../world/seeded-randomness.ts';
import type { MailServersThatListen } from '../world/store/reachable-worlds.ts';
import type { ConnectControls } from './connect.ts';
import type { DeliveryControls, WebhookControls } from './delivery-controls.ts';
import type { MailboxFaults } from './faults/mailbox-faults.ts';
import type { JournalControls } from './journal-controls.ts';
import type { KeyControls } from './key-controls.ts';
import type { MailInspection } from './mail/mail-inspection.ts';
import type { MessageControls } from './mail/message-controls.ts';
import type { MailboxClock } from './mailbox-clock.ts';
import type { MailboxCorrespondents } from './mailbox-correspondents.ts';
import type { DeliveredSample } from './samples/delivered-samples.ts';
import type { Receivable } from './samples/receive-sample.ts';
import type { Settled, SettledOptions } from './settled.ts';
import type { StateControls } from './state/state-controls.ts';

/** What a test can do with a whole mailbox, or with one sandbox. */
export interface ControllableMailbox
  extends DeliveryControls,
    KeyControls,
    MailboxFaults,
    MailboxCorrespondents,
    MessageControls,
    MailInspection,
    JournalControls,
    WebhookControls,
    ConnectControls,
    StateControls {
  /** The origin and path that `handlers` intercept, without a final slash; set by the option `baseUrl`. */
  readonly baseUrl: string;
  /** The current value of each changeable behaviour. */
  readonly behaviours: BehaviourValues;
  /**
   * Delivers an inbound mail, which is given as separate fields or as a raw `eml`, or delivers each mail of a sample.
   * Resolves with the messages that were created.
   *
   * @throws {ApiError} if the mail is invalid or larger than 10 MiB, if a recipient is not an inbox of this emulator,
   *   or if the mail does not fit into the storage. If a mail of a sample fails, the mails before it have arrived.
   */
  receiveMessage(message: Receivable): Promise<ReceivedMessage[]>;
  /**
   * Returns the samples that were delivered, oldest first, with their messages: at most the latest 20 of each tenant
   * since the start, a reset or a restore. A mailbox does not return the samples of its sandboxes.
   *
   * @example
   * const obeyed = mailbox.samples().filter(({ sample }) => sample.breached(mailbox));
   */
  samples(): readonly DeliveredSample[];
  /** The time of the mailbox: freeze, advance or resume it. */
  readonly clock: MailboxClock;
  /**
   * Resolves when no work is due or running. It does not wait for retries and answers that are due later. The result
   * contains the number of deliveries that were removed because a delivery log was full, and the mail that is held.
   *
   * @throws {ApiError} CONFLICT after 4 seconds or the given `timeout`, with the pending deliveries; CONFLICT if a
   *   correspondent could not answer; INTERNAL_ERROR if a bug in the emulator has stopped some work. The last two
   *   errors are thrown only once, and have the original error as their `cause`.
   */
  settled(options?: SettledOptions): Promise<Settled>;
  /** Returns a copy of the OpenAPI 3.1 document of the emulated API, with the current behaviours of this mailbox. */
  openApi(): OpenApiDocument;
  /** The SMTP and IMAP servers that are listening. A mailbox that runs in process has none. */
  readonly mailServers: MailServersThatListen;
}

/** The schema of the options of `createSandbox`. */
export const sandboxOptions = lazy(() =>
  z.strictObject(
    {
      fixture: z.record(z.string(), z.unknown(), 'must be a fixture').optional(),
      seed: z
        .custom<number>((value) => SEED.parse(value) !== undefined, `must be ${SEED.expected}`)
        .meta({ type: 'integer', minimum: 0 })
        .optional(),
      secrets: z
        .enum(['seed', 'random'], 'must be seed or random')
        .meta({ description: 'Whether its keys, passwords and secrets follow the seed, too.' })
        .optional(),
      journal: z
        .enum(['since-reset', 'since-start'], 'must be since-reset or since-start')
        .meta({ description: 'Whether its journal has what happened before a reset or a restore, too.' })
        .optional(),
      name: name(200).nullable().optional(),
      refusals: z
        .enum(['named', 'all'], 'must be named or all')
        .meta({ description: 'Which refused requests without a key of the sandbox it is told of.' })
        .optional(),
    },
    'must be an object',
  ),
);

/** The login of an inbox for IMAP and SMTP. */
export interface MailLogin {
  /** Its canonical address. */
  readonly user: string;
  /** Its password. */
  readonly password: string;
}

/** The logins of the inboxes that have ids here, by handle. */
export type MailLogins<Ids> = {
  readonly [Handle in Ids extends { readonly inboxes: infer Inboxes } ? keyof Inboxes : never]: MailLogin;
};

/** What identifies a sandbox. */
export interface SandboxSummary<Keys = TenantKeys, Ids = TenantIds> {
  /** Its id, which is also the id of its tenant: `?sandbox=<id>` selects it in a control call. */
  readonly id: string;
  /** The name that its creator gave it; null if it has none. */
  readonly name: string | null;
  /** Its domain, such as `3f9c2a71b04d.sandbox.test`. It replaces the first domain of the fixture in all addresses. */
  readonly domain: string;
  /** Its API keys, by the handles in the fixture: `keys.inboxes.helpdesk`. */
  readonly keys: Keys;
  /** The ids of its tenant, workspaces, inboxes and webhooks, by handle: `ids.inboxes.helpdesk`. */
  readonly ids: Ids;
  /**
   * The logins of its inboxes for IMAP and SMTP, by handle: `logins.helpdesk`. The passwords are new in each sandbox.
   */
  readonly logins: MailLogins<Ids>;
}

/**
 * A tenant for one test, with the methods of a mailbox. It has its own clients, mail, deliveries, faults, requests and
 * time. A sandbox and the other sandboxes and tenants cannot see each other. After the sandbox was closed or has
 * expired, each method except `close` fails with the {@link ApiError} NOT_FOUND.
 *
 * @example
 * using sandbox = mailbox.createSandbox();
 * const agent = createAgent({ apiKey: sandbox.keys.inboxes.helpdesk });
 * await sandbox.receiveMessage({ to: `helpdesk@${sandbox.domain}`, from: 'dana@customer.test', plainBody: 'Hello!' });
 */
export interface Sandbox<Keys = TenantKeys, Ids = TenantIds> extends SandboxSummary<Keys, Ids>, ControllableMailbox {
  /** Creates a client with an API key, in the process of the mailbox. Default: the tenant key of the sandbox. */
  client(key?: string): ServiceClient;
  /** Removes the sandbox: its keys become invalid, and its streams and deliveries end. A second call does nothing. */
  close(): void;
  /** Closes the sandbox at the end of a `using` block. */
  [Symbol.dispose](): void;
}

/** Options of `createSandbox`; each has a default. */
export interface SandboxOptions<F = NamedFixture> {
  /** A fixture with one tenant, which the sandbox copies. Default: the first tenant of the mailbox's fixture. */
  readonly fixture?: F | undefined;
  /**
   * A whole number from 0 to 2^53 - 1. With the same seed, the sandboxes of a mailbox get the same ids and keys in each
   * run, in the order in which they are created. Default: ids and keys are random.
   */
  readonly seed?: number | undefined;
  /**
   * Whether the keys, passwords and webhook secrets follow the seed, too (`seed`, the default), or cannot be guessed
   * (`random`). Ids and the domain always follow the seed.
   */
  readonly secrets?: 'seed' | 'random' | undefined;
  /**
   * What the journal, and so every assertion, tells of: what happened since the latest reset or restore (`since-reset`, the
   * default), or everything since the sandbox was created (`since-start`).
   */
  readonly journal?: 'since-reset' | 'since-start' | undefined;
  /** A name that lists show, up to 200 characters. Default: null. */
  readonly name?: string | null | undefined;
  /**
   * Which refused requests the sandbox is told of although they did not have one of its keys, so that
   * `toHaveNoUnexpectedRefusals` knows of them. `named`: those that name one of its objects or addresses, and those with
   * a key that it once had; of those that name nobody, nobody can tell whose they are. `all`: every one, for an emulator that only one test uses. Default: `named`.
   */
  readonly refusals?: 'named' | 'all' | undefined;
}

/** The type of the keys of a sandbox. It is the type of the keys of one tenant of the mailbox. */
export type SandboxKeys<Keys> = Keys extends DefaultKeys ? Keys['acme'] : Keys[Exclude<keyof Keys, 'operator'>];

/** The type of the ids of a sandbox. It is the type of the ids of one tenant of the mailbox. */
export type SandboxIds<Ids> = Ids extends DefaultIds ? Ids['acme'] : Ids[keyof Ids];

/** The control methods for sandboxes. */
export interface SandboxControls<Keys = DefaultKeys['acme'], Ids = DefaultIds['acme']> {
  /**
   * Creates a sandbox: a copy of one tenant with ids, keys and a domain of its own.
   *
   * @throws {ApiError} VALIDATION_ERROR for invalid options, or a fixture that is invalid or does not have exactly one
   *   tenant; CONFLICT if there are already 10,000 sandboxes; STORAGE_FULL if the mail of the sandbox does not fit into
   *   the storage.
   */
  createSandbox(options?: Omit<SandboxOptions, 'fixture'>): Sandbox<Keys, Ids>;
  /** Creates a sandbox with a custom fixture; its `keys` and `ids` have the handles of that fixture. */
  createSandbox<const F extends NamedFixture>(
    options: SandboxOptions<F> & { readonly fixture: F | undefined },
  ): Sandbox<SandboxKeys<FixtureKeys<F>>, SandboxIds<FixtureIds<F>>>;
  /** Returns the sandbox with this id. @throws {ApiError} NOT_FOUND if it does not exist, was closed or has expired. */
  sandbox(id: string): Sandbox;
  /** Returns every sandbox; the sandbox that was used least recently comes first. */
  sandboxes(): Sandbox[];
}
