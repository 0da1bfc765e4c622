import { z } from 'zod';
import { isBytes } from '../basics/base64.ts';
import { foldAddress, isDomainName, toAsciiDomain } from '../basics/domain-name.ts';
import { lazy } from '../basics/lazy-schema.ts';
import { isUrlWithScheme, MAX_URL_LENGTH } from '../basics/text.ts';

/** An id assigned by the service (service document, section 2). */
export const uuid = lazy(() => z.uuid());

/** ISO 8601 UTC with milliseconds, such as `2026-01-05T09:00:00.000Z` (service document, section 2). */
export const timestamp = lazy(() => z.iso.datetime({ precision: 3 }));

/** An id in a request. Ids are compared in lower case. */
export const idInRequest = lazy(() =>
  z
    .guid('must be a UUID')
    .transform((id) => id.toLowerCase())
    .meta({ type: 'string', format: 'uuid' }),
);

/** Creates the message for a value that is missing or has the wrong type. */
export function expected(what: string) {
  return (issue: { readonly input?: unknown }) => (issue.input === undefined ? 'is required' : `must be ${what}`);
}

/** A text in a request body, with a maximum length. If it is longer, no other check runs. */
export function text(maxLength: number) {
  const tooLong = { error: `must be at most ${maxLength} characters long`, abort: true };
  return z.string({ error: expected('a string') }).max(maxLength, tooLong);
}

/** A URL in a request body; `protocol` matches the protocols that are allowed. */
export function url(protocol: RegExp, message: string) {
  return text(MAX_URL_LENGTH)
    .refine((value) => isUrlWithScheme(value, protocol), message)
    .meta({ format: 'uri' });
}

const ONE_LINE = 'must be a single line';

const isOneLine = (value: string) => !/[\r\n\0]/.test(value);

/** A text on one line, with a maximum length, which is safe in a mail header. */
export function line(maxLength: number) {
  return text(maxLength).refine(isOneLine, ONE_LINE);
}

/** The name of a person beside an address. Surrounding white space is removed; an empty name becomes null. */
export const displayName = lazy(() =>
  line(200)
    .trim()
    .transform((name) => (name === '' ? null : name))
    .nullish(),
);

/** A text that is not empty; surrounding white space is removed. */
export function name(maxLength: number) {
  return line(maxLength).trim().min(1, 'must not be empty');
}

/** A boolean in a request body. */
export const flag = lazy(() => z.boolean({ error: expected('true or false') }));

const MAX_METADATA_LENGTH = 16_384;
const MAX_METADATA_DEPTH = 10;

/** A JSON object that a client stores with a resource. The service does not change it. */
export const metadata = lazy(() =>
  z
    .record(z.string(), z.unknown(), { error: expected('an object') })
    .refine((value) => isShallow(value, MAX_METADATA_DEPTH), `must be nested at most ${MAX_METADATA_DEPTH} levels deep`)
    .check(({ value, issues }) => {
      if (!isShallow(value, MAX_METADATA_DEPTH) || JSON.stringify(value).length <= MAX_METADATA_LENGTH) return;
      const message = `must be at most ${MAX_METADATA_LENGTH} characters of JSON`;
      issues.push({ code: 'too_big', origin: 'string', maximum: MAX_METADATA_LENGTH, input: value, message });
    }),
);

function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((part) => isShallow(part, levels - 1));
}

/** A domain name; parsing converts it to lower case and to its ASCII form (IDNA). */
export const domainName = lazy(() =>
  z
    .string({ error: expected('a string') })
    .max(253, { error: 'must be at most 253 characters long', abort: true })
    .refine((value) => isDomainName(value), 'must be a domain name such as example.com')
    .transform(toAsciiDomain)
    .meta({ type: 'string', format: 'hostname' }),
);

/** The verification status of a domain. */
export const domainStatus = lazy(() => z.enum(['pending', 'verifying', 'verified', 'failed', 'unknown']));

/** The direction of a message, as seen from its inbox. */
export const direction = lazy(() => z.enum(['inbound', 'outbound']));

/** The user name of an inbox (reference, "Inboxes"); it is always a valid local part of an address. */
export const username = lazy(() =>
  text(64).regex(
    /^[a-z0-9](?:[a-z0-9_-]|\.(?!\.|$))*$/,
    'must be lower-case letters, digits, dots, hyphens or underscores, start with a letter or a digit, and have no ' +
      'dot at its end or next to another dot',
  ),
);

/** A domain or an address in a request path. It is compared in lower case, with the domain in its ASCII form. */
export const nameInRequest = lazy(() =>
  z
    .string()
    .transform((value) => (value.includes('@') ? foldAddress(value) : toAsciiDomain(value)))
    .meta({ type: 'string' }),
);

/** A body of a mail. */
export const mailBody = lazy(() => text(500_000));

/** Maximum length of a subject: the characters that a line of a mail may have (RFC 5322, section 2.1.1). */
export const MAX_SUBJECT_LENGTH = 998;

/** The subject of a mail, on one line. */
export const subject = lazy(() => text(MAX_SUBJECT_LENGTH).refine(isOneLine, ONE_LINE));

/** The body of every error reply. With the behaviour `errors.shape=error-only`, it has no `code`. */
export const errorBody = lazy(() =>
  z.strictObject({
    error: z.string().describe('A description in one sentence.'),
    code: z.string().optional().describe('The error code in upper snake case.'),
  }),
);

/** The reply to deleting most kinds of resource (reference). */
const deletedReply = () => z.strictObject({ deleted: z.literal(true), id: uuid() });

/** Creates several fields that have the same schema. */
export function fieldsOf<Schema extends z.ZodType, Name extends string>(create: () => Schema, ...names: Name[]) {
  return Object.fromEntries(names.map((field) => [field, create()])) as Record<Name, Schema>;
}

/** A text that may be null. */
export const nullableText = () => z.string().nullable();

/** A list of texts. */
export const texts = () => z.array(z.string());

/** Creates the schema of an object in replies. The OpenAPI document describes it once, under the name `id`. */
export function object<const Fields extends z.ZodRawShape>(id: string, fields: Fields) {
  return z.strictObject(fields).meta({ id });
}

/** An empty object, which is the reply if a behaviour has the value `empty`. */
export const emptyReply = () => z.strictObject({});

/** The bodies that the reply to deleting any resource can have, by the value of the behaviour. */
export const deleteReplies = () => ({ 'deleted-and-id': deletedReply(), empty: emptyReply() });

/** The reply to an update, if it does not return the resource (reference). */
export const updatedReply = () => z.strictObject({ updated: z.literal(true), id: uuid() });

/** A reply body of raw bytes. */
export const bytesReply = () => z.custom<Uint8Array>(isBytes);
