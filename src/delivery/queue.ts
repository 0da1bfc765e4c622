import type { Clock } from '../clock/clock.ts';
import type { Choices } from '../contract/behaviours.ts';
import type { EventKind } from '../contract/events.ts';
import type { DeliveryFaultKind } from '../faults/fault.ts';
import type { Delivery } from './delivery.ts';

/** A delivery that is not over yet. */
export interface Job {
  readonly id: string;
  readonly webhookId: string;
  readonly event: EventKind;
  /** Its number in the order in which the jobs were opened. */
  readonly order: number;
  /** Whether it was sent by hand, and so also to a webhook that is not active. */
  readonly isByHand: boolean;
  /** The payload as JSON, which every attempt sends. */
  readonly content: string;
  /** The fault to put into its next attempt. */
  fault: DeliveryFaultKind | undefined;
  /** How many attempts in a row have failed. */
  failures: number;
  /** Cancels what is scheduled for it. */
  cancel(): void;
}

/** The deliveries of a tenant that are not over, by their ids. */
export class Jobs {
  readonly #jobs = new Map<string, Job>();
  readonly #waitingForNext = new Set<Job>();
  #opened = 0;

  /** Opens a delivery, or opens it again. */
  open({ id, webhookId, event }: Delivery, how: Pick<Job, 'isByHand' | 'content' | 'fault'>): Job {
    this.end(id);
    this.#opened += 1;
    const job: Job = { id, webhookId, event, order: this.#opened, ...how, failures: 0, cancel: () => {} };
    this.#jobs.set(id, job);
    return job;
  }

  /** Says whether a job is neither over nor replaced by a later one for the same delivery. */
  has(job: Job): boolean {
    return this.#jobs.get(job.id) === job;
  }

  /** Says whether a later job for the same delivery has replaced this one. */
  isReplaced(job: Job): boolean {
    return (this.#jobs.get(job.id) ?? job) !== job;
  }

  /** Every job, oldest first. */
  all(): Job[] {
    return [...this.#jobs.values()];
  }

  /** Makes a job wait for the next delivery to the same webhook. */
  waitForNext(job: Job): void {
    this.#waitingForNext.add(job);
  }

  /** Makes a job wait for the next delivery no longer. */
  stopWaiting(job: Job): void {
    this.#waitingForNext.delete(job);
  }

  /** Takes out the older jobs that wait for this one, the latest first. */
  takeWaiting({ webhookId, order }: Job): Job[] {
    const taken = [...this.#waitingForNext].filter((job) => job.webhookId === webhookId && job.order < order);
    for (const job of taken) this.#waitingForNext.delete(job);
    return taken.reverse();
  }

  /** Ends a job and cancels what is scheduled for it. */
  end(id: string): void {
    const job = this.#jobs.get(id);
    if (!job) return;
    job.cancel();
    this.#jobs.delete(id);
    this.#waitingForNext.delete(job);
  }

  endAll(): void {
    for (const id of [...this.#jobs.keys()]) this.end(id);
  }
}

type Task = () => Promise<void>;

interface Queue {
  readonly tasks: Task[];
  running: number;
}

const QUEUE_WIDTHS: Record<Choices['deliveries.order'], number> = { 'one-by-one': 1, parallel: 10 };

/** A queue for each webhook to which something is being sent: tasks run in the order in which they come. */
export class Queues {
  readonly #width: number;
  readonly #clock: Clock;
  readonly #queues = new Map<string, Queue>();

  constructor(clock: Clock, choices: Choices) {
    this.#clock = clock;
    this.#width = QUEUE_WIDTHS[choices['deliveries.order']];
  }

  /** How many tasks wait for their turn. */
  get waiting(): number {
    return [...this.#queues.values()].reduce((sum, { tasks }) => sum + tasks.length, 0);
  }

  /** Runs a task when its turn comes; the clock waits for it. A task that fails does not hold up the others. */
  run(webhookId: string, task: Task): void {
    const queue = this.#queues.get(webhookId) ?? { tasks: [], running: 0 };
    this.#queues.set(webhookId, queue);
    queue.tasks.push(task);
    if (queue.running === this.#width) return;
    queue.running += 1;
    this.#clock.track(this.#runTasks(webhookId, queue));
  }

  async #runTasks(webhookId: string, queue: Queue): Promise<void> {
    // Whoever adds the first task must not have to run it.
    await null;
    for (let task = queue.tasks.shift(); task; task = queue.tasks.shift()) {
      try {
        await task();
      } catch (error) {
        this.#clock.fail(`a delivery to webhook ${webhookId}`, error);
      }
    }
    queue.running -= 1;
    if (queue.running === 0) this.#queues.delete(webhookId);
  }
}
