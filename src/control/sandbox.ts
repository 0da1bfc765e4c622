import { z } from 'zod';
import { lazy } from '../basics/lazy.ts';
import { parseNumber, ruleOf } from '../basics/number-options.ts';
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
import type { ControllableMailbox } from './controllable-mailbox.ts';

/** The schema of the options of `createSandbox`. */
export const sandboxOptions = lazy(() =>
  z.strictObject(
    {
      fixture: z.record(z.string(), z.unknown(), 'must be a fixture').optional(),
      seed: z
        .custom<number>((value) => parseNumber('seed', value) !== undefined, `must be ${ruleOf('seed')}`)
        .meta({ type: 'integer', minimum: 0 })
        .optional(),
      name: name(200).nullable().optional(),
    },
    'must be an object',
  ),
);

/** What identifies a sandbox. */
export interface SandboxSummary<Keys = TenantKeys, Ids = TenantIds> {
  /** Its id, which is also the id of its tenant: `?sandbox=<id>` selects it in a control call. */
  readonly id: string;
  /** The name that its creator gave it; null without one. */
  readonly name: string | null;
  /** Its domain, such as `3f9c2a71b04d.sandbox.test`. The addresses of the fixture's first domain are moved to it. */
  readonly domain: string;
  /** Its API keys, by the handles in the fixture: `keys.inboxes.helpdesk`. */
  readonly keys: Keys;
  /** The ids of its tenant, workspaces, inboxes and webhooks, by handle: `ids.inboxes.helpdesk`. */
  readonly ids: Ids;
}

/**
 * A tenant for one test, with everything that a test can do with a mailbox. Its clients, mail, deliveries, faults,
 * requests and time are its own: it neither sees other sandboxes and tenants, nor do they see it. After its end, each
 * method except `close` fails with the {@link ApiError} NOT_FOUND.
 *
 * @example
 * using sandbox = mailbox.createSandbox();
 * const agent = createAgent({ apiKey: sandbox.keys.inboxes.helpdesk });
 * await sandbox.receiveMessage({ to: `helpdesk@${sandbox.domain}`, from: 'dana@customer.test', text: 'Hello!' });
 */
export interface Sandbox<Keys = TenantKeys, Ids = TenantIds> extends SandboxSummary<Keys, Ids>, ControllableMailbox {
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
   * A whole number from 0 to 2^53 - 1. With the same seed, the first sandbox of a mailbox has the same ids and keys in
   * each run, the second has the same, and so on. Default: ids and keys are random.
   */
  readonly seed?: number | undefined;
  /** A name that lists show, up to 200 characters. Default: null. */
  readonly name?: string | null | undefined;
}

/** The keys of a sandbox of a mailbox with these keys; with several tenants, those of any of them. */
export type SandboxKeys<Keys> = Keys extends DefaultKeys ? Keys['acme'] : Keys[Exclude<keyof Keys, 'operator'>];

/** The ids of a sandbox of a mailbox with these ids; with several tenants, those of any of them. */
export type SandboxIds<Ids> = Ids extends DefaultIds ? Ids['acme'] : Ids[keyof Ids];

/** The control methods for sandboxes. */
export interface SandboxControls<Keys = DefaultKeys['acme'], Ids = DefaultIds['acme']> {
  /**
   * Creates a sandbox: a copy of one tenant with ids, keys and a domain of its own.
   *
   * @throws {ApiError} VALIDATION_ERROR for invalid options, or a fixture that is invalid or does not have one tenant;
   *   CONFLICT if there are 10,000 sandboxes; STORAGE_FULL if its mail does not fit.
   */
  createSandbox(options?: Omit<SandboxOptions, 'fixture'>): Sandbox<Keys, Ids>;
  /** Creates a sandbox with a custom fixture; its `keys` and `ids` have the handles of that fixture. */
  createSandbox<const F extends NamedFixture>(
    options: SandboxOptions<F> & { readonly fixture: F | undefined },
  ): Sandbox<SandboxKeys<FixtureKeys<F>>, SandboxIds<FixtureIds<F>>>;
  /** Returns the sandbox with this id. @throws {ApiError} NOT_FOUND if it does not exist, was closed or has expired. */
  sandbox(id: string): Sandbox;
  /** Returns every sandbox, the one that was used least recently first. */
  sandboxes(): Sandbox[];
}
