import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { moment } from '../query.ts';
import { emptyReply } from '../replies.ts';
import { idInRequest, text, timestamp, uuid } from '../schemas.ts';
import { TIER_SETS, TIERS, TIERS_WITH_INBOX_ACCESS } from '../tiers.ts';

const HEALTH_REPLIES = { status: z.strictObject({ status: z.literal('ok') }), empty: emptyReply };

const identity = z.strictObject({
  tier: z.enum(TIERS),
  tenantId: uuid.nullable(),
  workspaceId: uuid.nullable(),
  inboxId: uuid.nullable(),
  email: z.string().nullable().describe('For an ak_ key, the primary address of its inbox.'),
});

const metrics = z.strictObject({
  window: z.strictObject({ from: timestamp, to: timestamp }),
  scope: z.strictObject({ tenantId: uuid, workspaceId: uuid.nullable(), inboxId: uuid.nullable() }),
  counts: z.strictObject({ sent: z.int(), received: z.int(), bounced: z.int() }),
  resources: z.strictObject({ inboxes: z.int(), domains: z.int() }),
});

/** The reasons why an e-mail address is not valid. */
export const REASONS = ['syntax', 'bounces', 'no-such-inbox'] as const;

const verdict = z.strictObject({ email: z.string(), valid: z.boolean(), reason: z.enum(REASONS).nullable() });

export const serviceOperations = {
  getMe: defineOperation({
    method: 'GET',
    path: '/v1/me',
    summary: 'Show the tier and the scope of the key',
    origin: 'reference',
    tiers: () => TIERS,
    status: 200,
    assumes: ['me.reply'],
    reply: () => identity,
  }),
  getMetrics: defineOperation({
    method: 'GET',
    path: '/v1/metrics',
    summary: 'Count sent, received and bounced messages',
    origin: 'reference',
    tiers: () => TIERS_WITH_INBOX_ACCESS,
    query: () =>
      z.object({
        from: moment('begin').optional(),
        to: moment('end').optional(),
        workspace: idInRequest.optional(),
        inbox: idInRequest.optional(),
      }),
    status: 200,
    assumes: ['metrics.reply', 'metrics.counts'],
    reply: () => metrics,
    errors: ['FORBIDDEN', 'NOT_FOUND'],
  }),
  verifyEmail: defineOperation({
    method: 'POST',
    path: '/v1/verify-email',
    summary: 'Check whether mail to an address would arrive',
    origin: 'assumed',
    tiers: () => TIER_SETS['tenant-workspace-and-inbox'],
    body: () => z.object({ email: text(254) }),
    status: 200,
    assumes: ['verify.tiers', 'verify.reply'],
    reply: () => verdict,
  }),
  getHealth: defineOperation({
    method: 'GET',
    path: '/health',
    summary: 'Check that the service is up',
    origin: 'reference',
    tiers: 'public',
    status: 200,
    reply: (readBehaviour) => HEALTH_REPLIES[readBehaviour('health.body')],
  }),
};
