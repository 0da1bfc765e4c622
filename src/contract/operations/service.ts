import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { moment } from '../query.ts';
import { idInRequest, text } from '../schemas.ts';
import { TIER_SETS, TIERS, TIERS_WITH_INBOX_ACCESS } from '../tiers.ts';

/** The reasons why an e-mail address is not valid. */
export const REASONS = ['syntax', 'bounces', 'no-such-inbox'] as const;

export const serviceOperations = {
  getMe: defineOperation('GET /v1/me', 'Show the tier and the scope of the key', {
    origin: 'reference',
    tiers: () => TIERS,
    assumes: ['me.reply'],
  }),
  getMetrics: defineOperation('GET /v1/metrics', 'Count sent, received and bounced messages', {
    origin: 'reference',
    tiers: () => TIERS_WITH_INBOX_ACCESS,
    query: () =>
      z.object({
        from: moment('begin').optional(),
        to: moment('end').optional(),
        workspace: idInRequest().optional(),
        inbox: idInRequest().optional(),
      }),
    assumes: ['metrics.reply', 'metrics.window', 'metrics.counts'],
    errors: ['FORBIDDEN', 'NOT_FOUND'],
  }),
  verifyEmail: defineOperation('POST /v1/verify-email', 'Check whether mail to an address would arrive', {
    tiers: () => TIER_SETS['tenant-workspace-and-inbox'],
    body: () => z.object({ email: text(254) }),
    assumes: ['verify.tiers', 'verify.reply'],
  }),
  getHealth: defineOperation('GET /health', 'Check that the service is up', { origin: 'reference', tiers: 'public' }),
};
