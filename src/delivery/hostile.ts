/** What can be made to go wrong with a delivery; what is wrong with a request is so on its first attempt only. */
export const HOSTILE_PLANS = {
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

/** The name of a hostile plan. */
export type HostilePlanName = keyof typeof HOSTILE_PLANS;

/** The names of the hostile plans. */
export const HOSTILE_PLAN_NAMES = Object.keys(HOSTILE_PLANS) as HostilePlanName[];

/** Something that is to go wrong with deliveries to come. */
export interface HostilePlan {
  readonly plan: HostilePlanName;
  readonly tenantId: string;
  /** The webhook whose deliveries it is for; null for every one of the tenant. */
  readonly webhookId: string | null;
  /** For how many deliveries it still is. */
  readonly count: number;
  /** For `delay`: by how many milliseconds. */
  readonly delayMs: number;
}

/** The plans of one tenant: those for a webhook count before those for all, the older before the newer. */
export interface HostilePlans {
  add(planned: HostilePlan): void;
  list(): HostilePlan[];
  /** Takes the plan for the next delivery to a webhook, if there is one. */
  take(webhookId: string): HostilePlan | undefined;
  /** Ends the plans of one webhook, or all. */
  clear(webhookId?: string): void;
}

/** Creates plans for nothing. */
export function createHostilePlans(): HostilePlans {
  let plans: readonly HostilePlan[] = [];

  return {
    add(planned) {
      plans = [...plans, planned];
    },
    list: () => [...plans],
    take(webhookId) {
      const isFor = (id: string | null) => (planned: HostilePlan) => planned.webhookId === id;
      const taken = plans.find(isFor(webhookId)) ?? plans.find(isFor(null));
      if (taken) plans = plans.flatMap((planned) => (planned === taken ? oneLess(planned) : [planned]));
      return taken;
    },
    clear(webhookId) {
      plans = webhookId === undefined ? [] : plans.filter((planned) => planned.webhookId !== webhookId);
    },
  };
}

function oneLess(planned: HostilePlan): HostilePlan[] {
  return planned.count > 1 ? [{ ...planned, count: planned.count - 1 }] : [];
}
