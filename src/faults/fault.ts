import { z } from 'zod';
import { durationField, parseDuration } from '../clock/duration.ts';
import type { InputOf } from '../contract/input-of.ts';
import { tenantField, webhookField } from '../contract/target-fields.ts';

/** What each delivery fault does. A fault that changes the request affects the first attempt only. */
export const DELIVERY_FAULTS = {
  duplicate: 'It is sent twice.',
  reorder: 'It is sent after the next delivery to the same webhook, or a minute later if there is none.',
  hold: 'It waits until it is released.',
  drop: 'It is never sent.',
  delay: 'It is sent after the time in `delay`.',
  'stale-timestamp': 'Its timestamp is an hour old, and the signature is valid.',
  'wrong-secret': 'It is signed with another secret.',
  'two-signatures': 'It has two signatures, as during a rotation of the secret; only the second is valid.',
  'truncated-body': 'Half of its body is missing, but the signature is for the whole body.',
  'oversize-body': 'Its body has 1 MiB of extra padding, and the signature is valid.',
} as const;

/** The kind of a delivery fault. */
export type DeliveryFaultKind = keyof typeof DELIVERY_FAULTS;

/** Every kind of delivery fault. */
export const DELIVERY_FAULT_KINDS = Object.keys(DELIVERY_FAULTS) as DeliveryFaultKind[];

const TIMES_RULE = 'must be a whole number from 1 to 1000000';

const faultFields = {
  /** What the fault applies to: deliveries to webhooks. */
  on: z.literal('delivery', 'must be delivery'),
  /** The kind of the fault. */
  kind: z.enum(DELIVERY_FAULT_KINDS, `must be one of ${DELIVERY_FAULT_KINDS.join(', ')}`),
  /** The id of the tenant that it applies to. Default: any tenant. */
  tenant: tenantField.optional(),
  /** The id of the webhook that it applies to. Default: any webhook. */
  webhookId: webhookField.optional(),
  /** How many deliveries it applies to, from 1 to 1,000,000. Default: 1, the next delivery. */
  times: z.int(TIMES_RULE).min(1, TIMES_RULE).max(1_000_000, TIMES_RULE).default(1),
  /** Only for `delay`: the length of the delay. Default: one minute. */
  delay: durationField.default('1m'),
};

/** The schema of the options of `addFault`. */
export const faultOptions = z.strictObject(faultFields, 'must be an object');

/** The options of `addFault`: the kind of the fault, what it applies to, and how often. */
export type FaultOptions = InputOf<typeof faultFields>;

/** What a fault applies to. */
export type FaultTarget = FaultOptions['on'];

/** A fault that is set, with the number of times that it still applies. */
export interface Fault {
  /** The id of the fault, a UUID, for `removeFault`. */
  readonly id: string;
  /** What the fault happens to: always `delivery`. */
  readonly on: FaultTarget;
  /** What goes wrong. */
  readonly kind: DeliveryFaultKind;
  /** The id of the tenant that it applies to; null for any. */
  readonly tenantId: string | null;
  /** The id of the webhook that it applies to; null for any. */
  readonly webhookId: string | null;
  /** How many times it still applies. */
  readonly times: number;
  /** The delay in milliseconds; 0 unless the kind is `delay`. */
  readonly delayMs: number;
}

/** Creates a fault from its options; `tenantId` is the tenant of the webhook, if the options name a webhook. */
export function createFault(
  { on, kind, webhookId, times, delay }: z.output<typeof faultOptions>,
  { id, tenantId }: Pick<Fault, 'id' | 'tenantId'>,
): Fault {
  return {
    id,
    on,
    kind,
    tenantId,
    webhookId: webhookId ?? null,
    times,
    delayMs: kind === 'delay' ? parseDuration(delay) : 0,
  };
}
