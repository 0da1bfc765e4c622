import type { Delivery } from './delivery.ts';
import type { HostilePlanName } from './hostile.ts';

/** A delivery that is not over yet. */
export interface Job {
  readonly id: string;
  readonly webhookId: string;
  /** Its place among all that were opened. */
  readonly order: number;
  /** Whether it was sent by hand, and so also to a webhook that is not active. */
  readonly isByHand: boolean;
  /** Whether it is to come after the next delivery to the same webhook. */
  isReordered: boolean;
  /** What is to be wrong with its next attempt. */
  plan: HostilePlanName | undefined;
  /** How many attempts in a row have failed. */
  failures: number;
  /** Takes back what is scheduled for it. */
  cancel(): void;
}

/** The deliveries of a tenant that are not over, by their ids. */
export interface Jobs {
  /** Opens a delivery, or opens it again. */
  open(delivery: Delivery, how: Pick<Job, 'isByHand' | 'plan'>): Job;
  /** Says whether it is still what its delivery does: neither over nor replaced. */
  has(job: Job): boolean;
  /** Every job, oldest first. */
  all(): Job[];
  /** What was to come after this one to the same webhook, the latest first. */
  reorderedBefore(job: Job): Job[];
  /** Ends a job, and what is scheduled for it. */
  end(id: string): void;
  endAll(): void;
}

/** Creates a set of jobs without any. */
export function createJobs(): Jobs {
  const jobs = new Map<string, Job>();
  let opened = 0;

  function end(id: string): void {
    jobs.get(id)?.cancel();
    jobs.delete(id);
  }

  return {
    open({ id, webhookId }, how) {
      end(id);
      opened += 1;
      const job: Job = { id, webhookId, order: opened, ...how, isReordered: false, failures: 0, cancel: () => {} };
      jobs.set(id, job);
      return job;
    },
    has: (job) => jobs.get(job.id) === job,
    all: () => [...jobs.values()],
    reorderedBefore: ({ webhookId, order }) =>
      [...jobs.values()].filter((job) => job.isReordered && job.webhookId === webhookId && job.order < order).reverse(),
    end,
    endAll() {
      for (const id of [...jobs.keys()]) end(id);
    },
  };
}
