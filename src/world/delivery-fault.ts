import { z } from 'zod';
import type { InputOf, OutputOf } from '../basics/input-of.ts';
import { lazy } from '../basics/lazy.ts';
import { durationField, parseDuration } from './clock.ts';
import { type FaultIdentity, type ParsedOptions, planFields, standingFields, webhookField } from './target-fields.ts';

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
  unreachable: 'The first attempt fails as if no program listened at the URL.',
  'oversize-body': 'Its body has 1 MiB of extra padding, and the signature is valid.',
} as const;

/** The kind of a delivery fault. */
export type DeliveryFaultKind = keyof typeof DELIVERY_FAULTS;

/** Every kind of delivery fault. */
export const DELIVERY_FAULT_KINDS = Object.keys(DELIVERY_FAULTS) as DeliveryFaultKind[];

// Without the fields that every fault has: comments of fields that are spread are lost in declaration files.
const ownOptions = () => ({
  /** What the fault applies to: deliveries to webhooks. */
  on: z.literal('delivery'),
  /** The kind of the fault. */
  kind: z.enum(DELIVERY_FAULT_KINDS, `must be one of ${DELIVERY_FAULT_KINDS.join(', ')}`),
  /** The id of the webhook that it applies to. Default: any webhook. */
  webhookId: webhookField().optional(),
  /** Only for `delay`: the length of the delay. Default: one minute. */
  delay: durationField().default('1m'),
});

/** The options of a fault of deliveries to webhooks. */
export type DeliveryFaultOptions = InputOf<ReturnType<typeof ownOptions> & ReturnType<typeof planFields>>;

const ownFields = () => ({
  /** What the fault happens to: `delivery`. */
  on: z.literal('delivery'),
  /** What goes wrong. */
  kind: z.enum(DELIVERY_FAULT_KINDS),
  /** The id of the only webhook that it applies to; null for any. */
  webhookId: z.string().nullable().describe('The only webhook to which it applies; null for any.'),
  /** The delay in milliseconds; 0 unless the kind is `delay`. */
  delayMs: z.number().describe('The delay in milliseconds, for the kind delay.'),
});

/** A fault of deliveries that is set. */
export type DeliveryFault = OutputOf<ReturnType<typeof ownFields> & ReturnType<typeof standingFields>>;

/** The schemas of a fault of deliveries, and what creates one. */
export const DELIVERY = {
  options: lazy(() => z.strictObject({ ...ownOptions(), ...planFields() })),
  listed: lazy(() => z.strictObject({ ...ownFields(), ...standingFields() })),
  create(
    { on, kind, webhookId, after = 0, times = 1, delay }: ParsedOptions<typeof ownOptions>,
    identity: FaultIdentity,
  ): DeliveryFault {
    const delayMs = kind === 'delay' ? parseDuration(delay) : 0;
    return { ...identity, on, kind, webhookId: webhookId ?? null, after, times, delayMs };
  },
};
