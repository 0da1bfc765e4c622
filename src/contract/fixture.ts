import { z } from 'zod';
import { EVENT_KINDS } from './events.ts';
import { type FixtureProblem, findReferenceProblems } from './fixture-references.ts';
import { toJsonPath } from './json-path.ts';
import { expected, isUrlWithProtocol, timestamp, uuid } from './schemas.ts';
import { isKeyOfTier, TIER_PREFIX, type Tier } from './tiers.ts';

/** Ids compare in lower case, as in a path. */
const id = uuid.transform((text) => text.toLowerCase());

/** The name by which a fixture and `mailbox.keys` refer to a tenant, a workspace, an inbox or a webhook. */
const handle = z
  .string()
  .regex(/^[a-z][a-zA-Z0-9-]*$/, 'must start with a lower-case letter, then letters, digits or -');

const keyText = (tier: Tier) =>
  z.string().refine((text) => isKeyOfTier(text, tier), {
    error: `must be ${TIER_PREFIX[tier]} and at least ten letters, digits, _ or -`,
  });

const key = (tier: Tier) =>
  z.strictObject({
    id,
    key: keyText(tier),
    name: z.string().nullable().default(null),
    createdAt: timestamp,
  });

/** Standard Webhooks form, because the libraries that verify signatures refuse anything else (DESIGN: decisions). */
const webhookSecret = z
  .string()
  .regex(/^whsec_(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/, 'must be whsec_ and base64')
  .refine((secret) => holdsBytes(secret.slice('whsec_'.length), 24, 64), 'must hold 24 to 64 bytes');

function holdsBytes(base64: string, least: number, most: number): boolean {
  const length = (base64.replaceAll('=', '').length * 3) / 4;
  return length >= least && length < most + 1;
}

const message = z.strictObject({
  id,
  threadId: id,
  direction: z.enum(['inbound', 'outbound']),
  from: z.string(),
  to: z.array(z.string()).min(1),
  subject: z.string(),
  plainBody: z.string(),
  htmlBody: z.string().nullable().default(null),
  isRead: z.boolean().default(false),
  messageIdHeader: z.string(),
  inReplyTo: z.string().nullable().default(null),
  receivedAt: timestamp,
});

const inbox = z.strictObject({
  id,
  username: z.string().regex(/^[a-z0-9._-]+$/, 'must be lower-case letters, digits or . - _'),
  domain: z.hostname(),
  displayName: z.string().nullable().default(null),
  createdAt: timestamp,
  key: key('inbox'),
  messages: z.array(message).default([]),
});

const workspace = z.strictObject({
  id,
  name: z.string().min(1),
  slug: z.string().min(1),
  isDefault: z.boolean().default(false),
  createdAt: timestamp,
  key: key('workspace'),
  inboxes: z.record(handle, inbox).default({}),
});

const webhook = z.strictObject({
  id,
  workspace: handle.nullable().default(null).describe('The workspace it belongs to; null for the whole tenant.'),
  url: z
    .string({ error: expected('an absolute http or https URL') })
    .refine((url) => isUrlWithProtocol(url, /^https?$/), 'must be an absolute http or https URL'),
  events: z.array(z.enum(EVENT_KINDS)).min(1),
  secret: webhookSecret,
  isActive: z.boolean().default(true),
  createdAt: timestamp,
});

const tenant = z.strictObject({
  id,
  name: z.string().min(1),
  createdAt: timestamp,
  key: key('tenant'),
  workspaces: z.record(handle, workspace).default({}),
  webhooks: z.record(handle, webhook).default({}),
});

/** What a fixture file holds: the service's hierarchy, each thing under a handle of the author's choice. */
export const fixtureSchema = z.strictObject({
  operator: z.strictObject({ key: keyText('operator') }),
  tenants: z.record(
    handle.refine((name) => name !== 'operator', 'must not be "operator", which names the operator key'),
    tenant,
  ),
});

/** A fixture as its author writes it. */
export type FixtureInput = z.input<typeof fixtureSchema>;

/** A checked fixture with its defaults filled in. */
export type Fixture = z.output<typeof fixtureSchema>;

/** One tenant of a checked fixture. */
export type FixtureTenant = Fixture['tenants'][string];

/** Thrown for a fixture that cannot be loaded; it has every problem, and the message lists them. */
export class FixtureError extends Error {
  override readonly name = 'FixtureError';

  constructor(readonly problems: readonly FixtureProblem[]) {
    super(['The fixture is not valid:', ...problems.map(({ path, message }) => `  ${path} ${message}`)].join('\n'));
  }
}

/**
 * Checks a fixture: each value, and that what it refers to is there and what must be unique is.
 *
 * @throws {FixtureError} with one problem for each thing that is wrong.
 */
export function parseFixture(fixture: unknown): Fixture {
  const parsed = fixtureSchema.safeParse(fixture, { error: describeIssue });
  const problems = [...(parsed.error?.issues.flatMap(toProblems) ?? []), ...findReferenceProblems(fixture)];
  if (problems.length > 0 || !parsed.success) throw new FixtureError(problems);
  return parsed.data;
}

const NOUNS: Record<string, string> = {
  object: 'an object',
  array: 'an array',
  record: 'an object',
  string: 'a string',
};

const FORMATS: Record<string, string> = { datetime: 'a time such as 2026-01-05T09:00:00.000Z', uuid: 'a UUID' };

/** The message of a problem whose schema does not word it itself. */
function describeIssue(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined) return 'is required';
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${NOUNS[issue.expected] ?? `a ${issue.expected}`}`;
    case 'invalid_value':
      return `must be one of ${issue.values.join(', ')}`;
    case 'invalid_format':
      return `must be ${FORMATS[issue.format] ?? `a ${issue.format}`}`;
    case 'too_small':
      return 'must not be empty';
    default:
      return undefined;
  }
}

function toProblems(issue: z.core.$ZodIssue): FixtureProblem[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((name) => ({ path: toJsonPath([...issue.path, name]), message: 'is not a field here' }));
  }
  if (issue.code === 'invalid_key') {
    return issue.issues.map(({ message }) => ({ path: toJsonPath(issue.path), message: `as a handle ${message}` }));
  }
  return [{ path: toJsonPath(issue.path), message: issue.message }];
}
