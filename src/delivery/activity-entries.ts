import type { AttemptActivity, DeliveryActivity, EndedDeliveryActivity } from '../events/activity.ts';
import type { Job } from './jobs.ts';
import type { MadeAttempt } from './make-attempt.ts';

/** Where a delivery stands. */
type Standing = Pick<DeliveryActivity, 'state' | 'reason'>;

/** Says that an attempt was made, and what came of it. */
export function attemptEntry(
  tenantId: string,
  job: Job,
  { at, status, error, durationMs }: MadeAttempt,
  { nextAt, ...standing }: Standing & { readonly nextAt?: Date },
): AttemptActivity {
  const retryInMs = nextAt ? nextAt.getTime() - Date.parse(at) : null;
  return { kind: 'attempt', ...describe(tenantId, job, standing), status, error, durationMs, retryInMs };
}

/** Says that a delivery ended without another attempt. */
export function endEntry(tenantId: string, job: Job, standing: Standing): EndedDeliveryActivity {
  return { kind: 'delivery-ended', ...describe(tenantId, job, standing) };
}

function describe(tenantId: string, { id, webhookId, event }: Job, { state, reason }: Standing): DeliveryActivity {
  return { deliveryId: id, tenantId, webhookId, event, state, reason };
}
