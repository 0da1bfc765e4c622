import { z } from 'zod';

/** An id assigned by the service (service document, section 2). */
export const uuid = z.uuid();

/** ISO 8601 UTC with milliseconds, such as `2026-01-05T09:00:00.000Z` (service document, section 2). */
export const timestamp = z.iso.datetime({ precision: 3 });

/** The id in a path. Ids compare in lower case, so an upper-case spelling finds the same thing. */
export const pathId = z
  .guid('must be a UUID')
  .transform((id) => id.toLowerCase())
  .meta({ type: 'string', format: 'uuid' });

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

/** The body of every error reply; `code` is absent under `errors.shape=error-only`. */
export const errorBody = z.strictObject({
  error: z.string().describe('One sentence for a person.'),
  code: z.string().optional().describe('The error in upper snake case, for a program.'),
});

/** What a sibling delete answers, such as a webhook's or a tenant's (reference). */
export const deletedReply = z.strictObject({ deleted: z.literal(true), id: uuid });

/** An empty object, where a choice says that a reply carries nothing. */
export const emptyReply = z.strictObject({});
