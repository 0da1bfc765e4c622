import { z } from 'zod';
import { defineReplies } from '../../operation.ts';
import { timestamp, uuid } from '../../schemas.ts';
import { TIERS } from '../../tiers.ts';
import { REASONS } from '../service.ts';
import { emptyReply } from './common.ts';

const healthReplies = () => ({ status: z.strictObject({ status: z.literal('ok') }), empty: emptyReply() });

const identity = () =>
  z.strictObject({
    tier: z.enum(TIERS),
    tenantId: uuid().nullable(),
    workspaceId: uuid().nullable(),
    inboxId: uuid().nullable(),
    email: z.string().nullable().describe('For an ak_ key, the primary address of its inbox.'),
  });

const metrics = () =>
  z.strictObject({
    window: z.strictObject({ from: timestamp(), to: timestamp() }),
    scope: z.strictObject({ tenantId: uuid(), workspaceId: uuid().nullable(), inboxId: uuid().nullable() }),
    counts: z.strictObject({ sent: z.int(), received: z.int(), bounced: z.int() }),
    resources: z.strictObject({ inboxes: z.int(), domains: z.int() }),
  });

const verdict = () => z.strictObject({ email: z.string(), valid: z.boolean(), reason: z.enum(REASONS).nullable() });

/** The bodies of the successful replies of these operations. */
export const serviceReplies = defineReplies({
  getMe: identity,
  getMetrics: metrics,
  verifyEmail: verdict,
  getHealth: (readBehaviour) => healthReplies()[readBehaviour('health.body')],
});
