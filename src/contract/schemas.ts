import { z } from 'zod';

/** An id assigned by the service (service document, section 2). */
export const uuid = z.uuid();

/** ISO 8601 UTC with milliseconds, such as `2026-01-05T09:00:00.000Z` (service document, section 2). */
export const timestamp = z.iso.datetime({ precision: 3 });

/** An id by which a client looks something up. Ids compare in lower case: an upper-case spelling finds the same. */
export const lookupId = z
  .guid('must be a UUID')
  .transform((id) => id.toLowerCase())
  .meta({ type: 'string', format: 'uuid' });

/** The path parameter of a resource. */
export const idParams = z.object({ id: lookupId });

/** The message for a value of the wrong type, with a plainer one where it is missing. */
export function expected(what: string) {
  return (issue: { readonly input?: unknown }) => (issue.input === undefined ? 'is required' : `must be ${what}`);
}

/** A text with a most length, as request bodies have them. */
export function text(maxLength: number) {
  return z.string({ error: expected('a string') }).max(maxLength, `must be at most ${maxLength} characters long`);
}

/** Says whether a text is an absolute URL as it stands: with its slashes, and nothing a parser would trim. */
export function isUrlWithProtocol(url: string, protocol: RegExp): boolean {
  const scheme = /^([a-z]+):\/\/[^\s/\\]+[^\s\\]*$/i.exec(url)?.[1];
  return scheme !== undefined && protocol.test(scheme.toLowerCase()) && URL.canParse(url);
}

/** A text on one line, with a most length: it may go into the head of a mail. */
export function line(maxLength: number) {
  return text(maxLength).refine((value) => !/[\r\n\0]/.test(value), 'must be a single line');
}

/** A text that must say something; white space around it is dropped. */
export function name(maxLength: number) {
  return line(maxLength).trim().min(1, 'must not be empty');
}

/** A yes or no. */
export const flag = z.boolean({ error: expected('true or false') });

const MAX_METADATA_LENGTH = 16_384;
const MAX_METADATA_DEPTH = 10;

/** A JSON object of the client's own, kept as it is. */
export const metadata = z
  .record(z.string(), z.unknown(), { error: expected('an object') })
  .refine((value) => isShallow(value, MAX_METADATA_DEPTH), `must be nested at most ${MAX_METADATA_DEPTH} levels deep`)
  .check(({ value, issues }) => {
    if (!isShallow(value, MAX_METADATA_DEPTH) || JSON.stringify(value).length <= MAX_METADATA_LENGTH) return;
    const message = `must be at most ${MAX_METADATA_LENGTH} characters of JSON`;
    issues.push({ code: 'too_big', origin: 'string', maximum: MAX_METADATA_LENGTH, input: value, message });
  });

function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((part) => isShallow(part, levels - 1));
}

/** A domain name; it is kept in lower case. */
export const domainName = z
  .string({ error: expected('a string') })
  .max(253, { error: 'must be at most 253 characters long', abort: true })
  .refine((value) => isDomainName(value), 'must be a domain name such as example.com')
  .transform((value) => value.toLowerCase())
  .meta({ type: 'string', format: 'hostname' });

/** How far a domain is: whether its DNS records were found to be in place. */
export const domainStatus = z.enum(['pending', 'verifying', 'verified', 'failed', 'unknown']);

/** Which way a message went: into its inbox or out of it. */
export const direction = z.enum(['inbound', 'outbound']);

/** Says whether a text is a domain name of two labels or more. */
export function isDomainName(value: string): boolean {
  return /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/i.test(value);
}

/** The user name of an inbox (reference, "Inboxes"), such that mail can be sent to it. */
export const username = text(64).regex(
  /^[a-z0-9](?:[a-z0-9_-]|\.(?!\.|$))*$/,
  'must be lower-case letters, digits, dots, hyphens or underscores, start with a letter or a digit, and have no dot at its end or next to another dot',
);

/** A name by which a client looks something up; it is compared in lower case. */
export const lookupName = z
  .string()
  .transform((value) => value.toLowerCase())
  .meta({ type: 'string' });
