import { z } from 'zod';
import { chooseBy, defineOperation } from '../operation.ts';
import { moment } from '../query.ts';
import { emptyReply, fieldsOf, idInRequest, object, text, timestamp, uuid } from '../schemas.ts';
import { TIERS, TIERS_WITH_INBOX_ACCESS } from '../tiers.ts';

/** The reasons why an e-mail address is not valid. */
export const REASONS = ['syntax', 'bounces', 'no-such-inbox'] as const;

export const serviceOperations = {
  getMe: defineOperation('GET /v1/me', 'Show the tier and the scope of the key', {
    origin: 'reference',
    tiers: TIERS,
    reply: () =>
      object('Identity', {
        tier: z.enum(TIERS),
        ...fieldsOf(() => uuid().nullable(), 'tenantId', 'workspaceId', 'inboxId'),
        email: z.string().nullable().describe('The primary address of the inbox; null unless the key is an ak_ key.'),
      }),
  }),
  getMetrics: defineOperation('GET /v1/metrics', 'Count sent, received and bounced messages', {
    origin: 'reference',
    tiers: TIERS_WITH_INBOX_ACCESS,
    query: () =>
      z.object({
        from: moment('begin').optional(),
        to: moment('end').optional(),
        workspace: idInRequest().optional(),
        inbox: idInRequest().optional(),
      }),
    reply: () =>
      object('Metrics', {
        window: z.strictObject({ from: timestamp(), to: timestamp() }),
        scope: z.strictObject({ tenantId: uuid(), workspaceId: uuid().nullable(), inboxId: uuid().nullable() }),
        counts: z.strictObject({ sent: z.int(), received: z.int(), bounced: z.int() }),
        resources: z.strictObject({ inboxes: z.int(), domains: z.int() }),
      }),
    errors: ['FORBIDDEN', 'NOT_FOUND'],
  }),
  verifyEmail: defineOperation('POST /v1/verify-email', 'Check whether mail to an address would arrive', {
    tiers: TIERS_WITH_INBOX_ACCESS,
    body: () => z.object({ email: text(254).overwrite((email) => email.trim().toLowerCase()) }),
    reply: () => z.strictObject({ email: z.string(), valid: z.boolean(), reason: z.enum(REASONS).nullable() }),
  }),
  getHealth: defineOperation('GET /health', 'Check that the service is up', {
    origin: 'reference',
    tiers: 'public',
    reply: chooseBy('health.body', () => ({
      status: z.strictObject({ status: z.literal('ok') }),
      empty: emptyReply(),
    })),
  }),
};
