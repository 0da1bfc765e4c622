import type { BehaviourValues } from '../../contract/behaviours.ts';
import type { EventKind } from '../../contract/events.ts';
import type { Clock } from '../../world/clock.ts';
import type { DeliveryFaultKind } from '../../world/fault.ts';
import type { Origin } from '../../world/journal/entry.ts';
import { PriorityQueue } from '../../world/priority-queue.ts';
import type { Delivery } from './delivery.ts';

/** A delivery that has not ended yet. */
export interface Job {
  readonly id: string;
  readonly webhookId: string;
  readonly event: EventKind;
  /** A sequence number: a job that was created later has a higher number. */
  readonly order: number;
  /** Whether a test requested the delivery. If so, it is sent even if the webhook is not active. */
  readonly isRequested: boolean;
  /** The payload as JSON, which every attempt sends. */
  readonly content: string;
  /** The fault to apply to the next attempt. */
  fault: DeliveryFaultKind | undefined;
  /** The id of this fault. */
  readonly faultId?: string | undefined;
  /** How many attempts in a row have failed. */
  failures: number;
  /** The entry of the delivery, which is the origin of its attempts. */
  origin?: Origin;
  /** Cancels what is scheduled for this job: an attempt, or the end of its wait for the next delivery. */
  cancel(): void;
}

/** The fields of a job that the caller of `create` sets. */
type JobOptions = Pick<Job, 'isRequested' | 'content' | 'fault' | 'faultId'>;

/** The deliveries of a tenant that have not ended, by id. */
export class Jobs {
  readonly #jobs = new Map<string, Job>();
  /** The jobs that wait for the next delivery to the same webhook, by the id of the webhook. */
  readonly #waitingForNext = new Map<string, Set<Job>>();
  readonly #waitingForAttempt = new PriorityQueue<Job>();
  #createdCount = 0;

  /** Creates the job of a delivery. The new job replaces an earlier job of the same delivery. */
  create({ id, webhookId, event, attempts }: Delivery, options: JobOptions): Job {
    this.end(id);
    this.#createdCount += 1;
    const job: Job = { id, webhookId, event, order: this.#createdCount, ...options, failures: 0, cancel: () => {} };
    this.#jobs.set(id, job);
    if (attempts.length > 0) this.setWaitsForAttempt(job, true);
    return job;
  }

  /** Returns whether a job has neither ended nor been replaced by a later job of the same delivery. */
  has(job: Job): boolean {
    return this.#jobs.get(job.id) === job;
  }

  /** Returns whether a later job of the same delivery has replaced this job. */
  isReplaced(job: Job): boolean {
    return (this.#jobs.get(job.id) ?? job) !== job;
  }

  /** Returns every job, oldest first. */
  all(): Job[] {
    return [...this.#jobs.values()];
  }

  /** Makes a job wait for the next delivery to the same webhook. */
  waitForNext(job: Job): void {
    const waiting = this.#waitingForNext.get(job.webhookId) ?? new Set();
    this.#waitingForNext.set(job.webhookId, waiting.add(job));
  }

  /** Makes a job no longer wait for the next delivery to the same webhook. */
  stopWaitingForNext(job: Job): void {
    this.#waitingForNext.get(job.webhookId)?.delete(job);
  }

  /** Records whether a job waits for a further attempt. */
  setWaitsForAttempt(job: Job, isWaiting: boolean): void {
    if (isWaiting && this.has(job)) this.#waitingForAttempt.add(job, job.order);
    else this.#waitingForAttempt.remove(job);
  }

  /** Returns the oldest job that waits for a further attempt, other than the job of the delivery `exceptId`. */
  findOldestWaitingForAttempt(exceptId: string): Job | undefined {
    const oldest = this.#waitingForAttempt.first;
    if (oldest?.id !== exceptId) return oldest;
    this.#waitingForAttempt.remove(oldest);
    const next = this.#waitingForAttempt.first;
    this.#waitingForAttempt.add(oldest, oldest.order);
    return next;
  }

  /** Returns the older jobs that wait for this job, the latest first. They no longer wait. */
  takeJobsWaitingFor({ webhookId, order }: Job): Job[] {
    const waiting = [...(this.#waitingForNext.get(webhookId) ?? [])].filter((job) => job.order < order);
    for (const job of waiting) this.stopWaitingForNext(job);
    return waiting.reverse();
  }

  /** Ends a job and cancels what is scheduled for it. */
  end(id: string): void {
    const job = this.#jobs.get(id);
    if (!job) return;
    job.cancel();
    this.#jobs.delete(id);
    this.stopWaitingForNext(job);
    this.#waitingForAttempt.remove(job);
  }
}

type Task = () => Promise<void>;

interface Queue {
  readonly tasks: PriorityQueue<Task>;
  runningCount: number;
}

/** How many tasks of one queue may run at the same time. */
const MAX_RUNNING: Record<BehaviourValues['deliveries.order'], number> = { 'one-by-one': 1, parallel: 10 };

/** The queues of a tenant, one for each webhook that has tasks. Tasks start in the order in which they were added. */
export class Queues {
  readonly #queues = new Map<string, Queue>();

  constructor(
    readonly clock: Clock,
    readonly behaviours: BehaviourValues,
  ) {}

  /** How many tasks have not started yet. */
  get waitingCount(): number {
    return [...this.#queues.values()].reduce((sum, { tasks }) => sum + tasks.size, 0);
  }

  /** Adds a task to the queue of a webhook, and makes the clock wait for it. If it fails, the other tasks still run. */
  add(webhookId: string, task: Task): void {
    const queue = this.#queues.get(webhookId) ?? { tasks: new PriorityQueue(), runningCount: 0 };
    this.#queues.set(webhookId, queue);
    // Each task is work of its own: a queue that always gets new tasks never ends.
    this.clock.track(new Promise((resolve) => queue.tasks.add(() => task().finally(resolve))));
    if (queue.runningCount >= MAX_RUNNING[this.behaviours['deliveries.order']]) return;
    queue.runningCount += 1;
    void this.#runTasks(webhookId, queue);
  }

  async #runTasks(webhookId: string, queue: Queue): Promise<void> {
    // The first task must not run synchronously in the caller of `add`.
    await null;
    for (let task = queue.tasks.take(); task; task = queue.tasks.take()) {
      try {
        await task();
      } catch (error) {
        this.clock.reportFailure(`a delivery to webhook ${webhookId}`, error);
      }
    }
    queue.runningCount -= 1;
    if (queue.runningCount === 0) this.#queues.delete(webhookId);
  }
}
