import { type OptionRow, wholeNumber } from '../basics/check-options.ts';
import { parseSize } from '../basics/size.ts';
import type { BehaviourOptions } from '../contract/behaviours.ts';
import { MailLimitError } from '../contract/mail-limits.ts';
import type { Profile } from '../contract/profile.ts';
import type { InitialFault } from '../control/faults/mailbox-faults.ts';
import type { Persistence } from '../control/state/page-storage.ts';
import type { NamedFixture } from '../fixture/keys-and-ids.ts';
import type { FixtureInput } from '../fixture/parse-fixture.ts';
import type { EnvironmentOverrides } from '../world/environment.ts';
import { SEED } from '../world/seeded-randomness.ts';

/** Options of `createMailbox`; each has a default. */
export interface MailboxOptions<F extends NamedFixture = FixtureInput> {
  /** The URL at which agent code calls the service. Default: `https://mailbox.test`. */
  readonly baseUrl?: string | undefined;
  /** The initial data. Default: the tenants Acme and Globex, as in `fixtures/default.json`. */
  readonly fixtures?: F | undefined;
  /** The values of behaviours to change, by behaviour id. All other behaviours have their default values. */
  readonly behaviours?: BehaviourOptions | undefined;
  /**
   * The behaviours that a real service was found to have, as `agent-mailbox-mock verify --write-profile` writes them.
   * `behaviours` has priority. Default: none.
   */
  readonly profile?: Profile | undefined;
  /**
   * The maximum size of all stored mail of all tenants, attachments included, in bytes. Mail that does not fit is
   * refused. Default: 256 MiB. In Node, the default is at most a quarter of the heap and an eighth of the memory that
   * the process may use.
   */
  readonly maxMailBytes?: number | undefined;
  /** Faults to add, as by `addFault`, at the start and again after each reset. Default: none. */
  readonly faults?: readonly InitialFault[] | undefined;
  /**
   * How many requests of each tenant the journal keeps, from 0 to 100,000; with 0, requests are not recorded.
   * Default: 1,000.
   */
  readonly journalSize?: number | undefined;
  /**
   * How many mails two addresses may exchange within a minute by the mailbox's clock, from 1 to 1,000,000. If they
   * exchange more, the mailbox assumes a loop and holds their further mail. Default: 50.
   */
  readonly loopLimit?: number | undefined;
  /**
   * Makes ids, keys and secrets the same in every run with the same seed, a whole number from 0 to 2^53 - 1. With a
   * frozen clock, the same requests then get the same replies, byte by byte. `seed` replaces `environment.randomBytes`.
   * Default: random.
   *
   * @example
   * const mailbox = createMailbox({ seed: 42 });
   * mailbox.clock.freeze('2026-03-01T09:00:00Z');
   */
  readonly seed?: number | undefined;
  /**
   * Keeps the data when the page is reloaded: `session` for one tab, in its `sessionStorage`; `local` for all tabs of
   * the origin, in `localStorage`. Data that cannot be read back are dropped with a warning. `reset()` restores the
   * fixture. Default: the data are lost with the page.
   */
  readonly persist?: Persistence | undefined;
  /** Replacements for the clock, randomness, `fetch` or error report. Default: those of the platform. */
  readonly environment?: EnvironmentOverrides | undefined;
}

/** The options of a mailbox that the command can set by one value. */
export const MAILBOX_OPTIONS = {
  maxMailBytes: {
    flag: 'max-mail',
    value: '<size>',
    help: 'Limit for stored mail, such as 512MiB or 1GiB (default 256MiB, less if there is little memory)',
    default: 256 * 1024 * 1024,
    expected: 'a size such as 512MiB or 1GiB',
    expectedInCode: 'a whole number of bytes above 0',
    fromText: parseSize,
    parse: (value: unknown) => (Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : undefined),
    errorType: MailLimitError,
  },
  journalSize: {
    ...wholeNumber(0, 100_000),
    flag: 'journal-size',
    value: '<requests>',
    help: 'Requests that the journal keeps of each tenant; 0 for none (default 1000)',
    default: 1_000,
  },
  loopLimit: {
    ...wholeNumber(1, 1_000_000),
    flag: 'loop-limit',
    value: '<mails>',
    help: 'Mails that two addresses may exchange within a minute; more are held (default 50)',
    default: 50,
  },
  seed: {
    ...SEED,
    flag: 'seed',
    value: '<number>',
    help: 'Make ids, keys and secrets the same in every run with this number',
  },
} as const satisfies { [Name in keyof MailboxOptions]?: OptionRow<NonNullable<MailboxOptions[Name]>> };

/** The other options that every mailbox has. The types check that each option has a row above or stands here. */
const OTHER_OPTIONS: Readonly<
  Record<Exclude<keyof MailboxOptions, 'baseUrl' | 'persist' | keyof typeof MAILBOX_OPTIONS>, true>
> = {
  fixtures: true,
  behaviours: true,
  profile: true,
  faults: true,
  environment: true,
};

/** The names of the options that every mailbox has, including the mailbox of a server. */
export const SHARED_OPTION_NAMES: readonly string[] = [...Object.keys(OTHER_OPTIONS), ...Object.keys(MAILBOX_OPTIONS)];
