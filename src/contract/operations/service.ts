import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { emptyReply } from '../schemas.ts';

const HEALTH_REPLIES = { status: z.strictObject({ status: z.literal('ok') }), empty: emptyReply };

export const serviceOperations = {
  getHealth: defineOperation({
    method: 'GET',
    path: '/health',
    summary: 'Say whether the service is up',
    origin: 'reference',
    tiers: 'public',
    status: 200,
    reply: (choose) => HEALTH_REPLIES[choose('health.body')],
  }),
};
