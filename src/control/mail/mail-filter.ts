import { z } from 'zod';
import { foldAddress } from '../../basics/domain-name.ts';
import { type InputOf, lazy } from '../../basics/lazy-schema.ts';
import { isIncomingAddress, toAddressKey } from '../../contract/addresses/email-address.ts';
import { ApiError } from '../../contract/errors.ts';
import type { LocalRecipient } from '../../service/mail/route.ts';
import { dateField, tenantField, timeoutField } from '../call-fields.ts';
import type { LoggedMail } from './mail-log.ts';

const SUBJECT_RULE = 'must be a text, or in code a regular expression';
const SINCE_RULE = 'must be a time such as 2026-01-05T09:00:00.000Z or the id of a message';

const sinceTexts = () => [z.iso.datetime({ offset: true }), z.guid().toLowerCase()] as const;

const filterFields = () => ({
  /** Only mail that arrived at this address: the address of an inbox, or of somebody outside. */
  to: z
    .string('must be an e-mail address')
    .refine((address) => isIncomingAddress(address), 'must be an e-mail address without a name')
    .transform(foldAddress)
    .optional(),
  /** Only mail whose subject contains this text, or matches this regular expression. */
  subject: z.union([z.string(), z.instanceof(RegExp)], SUBJECT_RULE).optional(),
  /** Only mail that an inbox received (`inbound`) or sent (`outbound`). */
  direction: z.enum(['inbound', 'outbound'], 'must be inbound or outbound').optional(),
  /**
   * Only mail since this time, by the clock of the tenant (ISO 8601, or in code a `Date`), or after the message with
   * this id.
   */
  since: z.union([...sinceTexts(), dateField()], SINCE_RULE).optional(),
  /** Only mail of the tenant with this id. */
  tenant: tenantField().optional(),
});

const waitFields = () => ({
  ...filterFields(),
  /** The address at which the mail arrives: the address of an inbox, or of somebody outside. */
  to: filterFields().to.unwrap(),
  /** Only mail of the sandbox with this id. */
  sandbox: z.guid('must be the id of a sandbox').toLowerCase().optional(),
  /** Maximum waiting time, in real time, up to 1h. Default: 4 seconds. */
  timeout: timeoutField().optional(),
});

/** The schema of a mail filter. */
export const mailFilter = lazy(() => z.strictObject(filterFields(), 'must be an object'));

/** The schema of the options of `waitForMessage`. */
export const waitOptions = lazy(() => z.strictObject(waitFields(), 'must be an object with to'));

const queryFields = () => ({
  subject: z.string().describe('A text that the subject contains.').optional(),
  since: z.union(sinceTexts(), SINCE_RULE).optional(),
});

/** The schema of a mail filter in a query. */
export const mailQuery = () => mailFilter().extend(queryFields());

/** The schema of the options of `waitForMessage` in a query. */
export const waitQuery = () => waitOptions().omit({ sandbox: true }).extend(queryFields());

/** Selects mail. A mail must match every field that is given; without fields, all mail matches. */
export type MailFilter = InputOf<ReturnType<typeof filterFields>>;

/** The options of `waitForMessage`: which mail, and how long to wait. */
export type WaitOptions = InputOf<ReturnType<typeof waitFields>>;

/** A mail filter that has been parsed. */
export type ParsedMailFilter = z.output<ReturnType<typeof mailFilter>>;

/** Finds the inbox of an address in lower case. */
export type FindInbox = (address: string) => LocalRecipient | undefined;

/** Selects the mail that matches a filter. @throws {ApiError} NOT_FOUND if `since` is an unknown message. */
export function selectMail(logged: readonly LoggedMail[], filter: ParsedMailFilter, find: FindInbox): LoggedMail[] {
  const { since } = filter;
  const isMessage = since !== undefined && !isTime(since);
  const start = isMessage ? logged.findIndex(({ message }) => message.id === since) : -1;
  if (isMessage && start < 0) throw new ApiError('NOT_FOUND', 'There is no message with the id in since.');
  return logged.slice(start + 1).filter((mail) => isSelected(mail, filter, find));
}

/** Returns whether a mail matches all fields of a filter, except the id of a message in `since`. */
export function isSelected({ message, world }: LoggedMail, filter: ParsedMailFilter, find: FindInbox): boolean {
  const { to, subject, direction, since, tenant } = filter;
  return (
    (tenant === undefined || world.id === tenant) &&
    (direction === undefined || message.direction === direction) &&
    (since === undefined || !isTime(since) || Date.parse(message.receivedAt) >= Date.parse(since)) &&
    (subject === undefined || hasSubject(message.subject, subject)) &&
    (to === undefined || isReceivedAt({ message, world }, to, find))
  );
}

/** Returns whether `since` is a time and not the id of a message. */
function isTime(since: string): boolean {
  return since.includes(':');
}

function hasSubject(subject: string, wanted: string | RegExp): boolean {
  return typeof wanted === 'string' ? subject.includes(wanted) : subject.search(wanted) >= 0;
}

/**
 * Returns whether a message counts as mail that arrived at an address. A mail between two inboxes is stored as two
 * messages, of which only the received message counts. For an address without an inbox, the sent message counts.
 */
function isReceivedAt({ message, world }: Pick<LoggedMail, 'message' | 'world'>, to: string, find: FindInbox): boolean {
  const found = find(to);
  const isRecipient = [...message.to, ...message.cc, ...message.bcc].some((each) => toAddressKey(each) === to);
  if (message.direction === 'outbound') return isRecipient && !found;
  if (found?.inbox.id !== message.inboxId) return false;
  return isRecipient || world.addresses.by('inboxId', message.inboxId).some(({ address }) => address === to);
}
