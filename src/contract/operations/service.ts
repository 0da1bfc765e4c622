import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { moment } from '../query.ts';
import { idInRequest, text } from '../schemas.ts';
import { TIER_SETS, TIERS, TIERS_WITH_INBOX_ACCESS } from '../tiers.ts';

/** The reasons why an e-mail address is not valid. */
export const REASONS = ['syntax', 'bounces', 'no-such-inbox'] as const;

export const serviceOperations = {
  getMe: defineOperation({
    method: 'GET',
    path: '/v1/me',
    summary: 'Show the tier and the scope of the key',
    origin: 'reference',
    tiers: () => TIERS,
    status: 200,
    assumes: ['me.reply'],
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
    assumes: ['metrics.reply', 'metrics.window', 'metrics.counts'],
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
  }),
  getHealth: defineOperation({
    method: 'GET',
    path: '/health',
    summary: 'Check that the service is up',
    origin: 'reference',
    tiers: 'public',
    status: 200,
  }),
};
