import { http, ws } from 'msw';
import type { FixtureIds, FixtureKeys, NamedFixture } from '../fixture/keys-and-ids.ts';
import type { FixtureInput } from '../fixture/parse-fixture.ts';
import { createMailboxWith, type Mailbox } from './mailbox.ts';
import type { MailboxOptions } from './mailbox-options.ts';

/**
 * Creates a mailbox with the default fixture: the tenants Acme and Globex.
 *
 * @example
 * const mailbox = createMailbox();
 * const server = setupServer(...mailbox.handlers);
 * await fetch('https://mailbox.test/v1/webhooks', { headers: { 'X-API-Key': mailbox.keys.acme.tenant } });
 *
 * @throws {FixtureError} when the fixture is invalid; the error lists every problem with its JSON path.
 * @throws {BehaviourError} on an unknown behaviour or value; the error suggests a similar name.
 * @throws {RangeError} when `maxMailBytes` is not a whole number above 0, or is less than the mail of the fixture
 *   needs; when `journalSize`, `loopLimit` or `seed` is not a whole number in the range that {@link MailboxOptions}
 *   gives for it.
 * @throws {ApiError} when one of `faults` is invalid, as `addFault` does.
 * @throws {TypeError} when `baseUrl` is not an absolute http or https URL; for an unknown option; when `persist` is set
 *   outside of a web page.
 */
export function createMailbox(options?: Omit<MailboxOptions, 'fixtures'>): Mailbox;
/** Creates a mailbox with a custom fixture. Its `keys` and `ids` have the handles of this fixture. */
export function createMailbox<const F extends FixtureInput | NamedFixture>(
  options: MailboxOptions<F> & { readonly fixtures: F | undefined },
): Mailbox<FixtureKeys<F>, FixtureIds<F>>;
export function createMailbox(options?: MailboxOptions<NamedFixture>): Mailbox<never, never> {
  return createMailboxWith(options, () => ({ http, ws }));
}
