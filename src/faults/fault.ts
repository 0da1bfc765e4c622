import { z } from 'zod';
import { durationField, parseDuration } from '../clock/duration.ts';
import type { InputOf } from '../contract/input-of.ts';
import { tenantField, webhookField } from '../contract/target-fields.ts';

/** What can go wrong with a delivery; what is wrong with its request is wrong in the first attempt only. */
export const DELIVERY_FAULTS = {
  duplicate: 'It is sent twice.',
  reorder: 'It is sent after the next delivery to the same webhook, or a minute later if there is none.',
  hold: 'It waits until it is released.',
  drop: 'It is never sent.',
  delay: 'It is sent later, by `delay`.',
  'stale-timestamp': 'Its timestamp is an hour old, and signed so.',
  'wrong-secret': 'It is signed with another secret.',
  'two-signatures': 'It has two signatures, as while a secret rotates; the second one is right.',
  'truncated-body': 'Half of its body is missing; the signature is that of the whole.',
  'oversize-body': 'Its body has 1 MiB of padding more, and is signed so.',
} as const;

/** What goes wrong with a delivery. */
export type DeliveryFaultKind = keyof typeof DELIVERY_FAULTS;

/** Everything that can go wrong with a delivery. */
export const DELIVERY_FAULT_KINDS = Object.keys(DELIVERY_FAULTS) as DeliveryFaultKind[];

const TIMES_RULE = 'must be a whole number from 1 to 1000000';

const faultFields = {
  /** What the fault happens to: deliveries to webhooks. */
  on: z.literal('delivery', 'must be delivery'),
  /** What goes wrong. */
  kind: z.enum(DELIVERY_FAULT_KINDS, `must be one of ${DELIVERY_FAULT_KINDS.join(', ')}`),
  /** The id of the only tenant that it happens to; if left out, it happens to any. */
  tenant: tenantField.optional(),
  /** The id of the only webhook whose deliveries it happens to; if left out, it happens to any. */
  webhookId: webhookField.optional(),
  /** How often it happens: to the next delivery only (1) if left out. */
  times: z.int(TIMES_RULE).min(1, TIMES_RULE).max(1_000_000, TIMES_RULE).default(1),
  /** For `delay`: by how much; a minute if left out. */
  delay: durationField.default('1m'),
};

/** What `addFault` takes. */
export const faultOptions = z.strictObject(faultFields, 'must be an object');

/** What is to go wrong, and how often. */
export type FaultOptions = InputOf<typeof faultFields>;

/** What a fault happens to. */
export type FaultTarget = FaultOptions['on'];

/** Something that goes wrong as many times as it says. */
export interface Fault {
  /** The id of the fault, a UUID, for `removeFault`. */
  readonly id: string;
  /** What the fault happens to: always `delivery`. */
  readonly on: FaultTarget;
  /** What goes wrong. */
  readonly kind: DeliveryFaultKind;
  /** The only tenant that it happens to; null for any. */
  readonly tenantId: string | null;
  /** The only webhook that it happens to; null for any. */
  readonly webhookId: string | null;
  /** How many times are left. */
  readonly times: number;
  /** For `delay`: by how many milliseconds. */
  readonly delayMs: number;
}

/** Creates the fault that the options describe; a fault for one webhook is for the tenant of that webhook too. */
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
