import type { EventKind } from '../contract/events.ts';
import type { DeliveryFaultKind } from '../faults/fault.ts';
import type { Delivery } from './delivery.ts';

/** A delivery that is not over yet. */
export interface Job {
  readonly id: string;
  readonly webhookId: string;
  readonly event: EventKind;
  /** Its place among all that were opened. */
  readonly order: number;
  /** Whether it was sent by hand, and so also to a webhook that is not active. */
  readonly isByHand: boolean;
  /** The payload as JSON: what is sent, time and again. */
  readonly content: string;
  /** What is to be wrong with its next attempt. */
  fault: DeliveryFaultKind | undefined;
  /** How many attempts in a row have failed. */
  failures: number;
  /** Takes back what is scheduled for it. */
  cancel(): void;
}

/** The deliveries of a tenant that are not over, by their ids. */
export interface Jobs {
  /** Opens a delivery, or opens it again. */
  open(delivery: Delivery, how: Pick<Job, 'isByHand' | 'content' | 'fault'>): Job;
  /** Says whether it is still what its delivery does: neither over nor replaced. */
  has(job: Job): boolean;
  /** Says whether its delivery was opened again. */
  isReplaced(job: Job): boolean;
  /** Every job, oldest first. */
  all(): Job[];
  /** Notes that a job is to come after the next delivery to the same webhook. */
  putBehindNext(job: Job): void;
  /** Notes that a job does not wait for the next one any more. */
  takeFromBehind(job: Job): void;
  /** Takes what was to come after this one to the same webhook, the latest first. */
  takeBehind(job: Job): Job[];
  /** Ends a job, and what is scheduled for it. */
  end(id: string): void;
  endAll(): void;
}

/** Creates a set of jobs without any. */
export function createJobs(): Jobs {
  const jobs = new Map<string, Job>();
  const behindNext = new Set<Job>();
  let opened = 0;

  function end(id: string): void {
    const job = jobs.get(id);
    if (!job) return;
    job.cancel();
    jobs.delete(id);
    behindNext.delete(job);
  }

  return {
    open({ id, webhookId, event }, how) {
      end(id);
      opened += 1;
      const job: Job = { id, webhookId, event, order: opened, ...how, failures: 0, cancel: () => {} };
      jobs.set(id, job);
      return job;
    },
    has: (job) => jobs.get(job.id) === job,
    isReplaced: (job) => (jobs.get(job.id) ?? job) !== job,
    all: () => [...jobs.values()],
    putBehindNext: (job) => void behindNext.add(job),
    takeFromBehind: (job) => void behindNext.delete(job),
    takeBehind({ webhookId, order }) {
      const taken = [...behindNext].filter((job) => job.webhookId === webhookId && job.order < order);
      for (const job of taken) behindNext.delete(job);
      return taken.reverse();
    },
    end,
    endAll() {
      for (const id of [...jobs.keys()]) end(id);
    },
  };
}
