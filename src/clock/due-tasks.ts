import { PriorityQueue } from './priority-queue.ts';

/** Work that runs at a scheduled time; `advance` waits for it. */
export type Task = () => Promise<void> | void;

/** A task and the time at which it is due. */
export interface Scheduled {
  readonly atMs: number;
  readonly task: Task;
}

/** Scheduled tasks, sorted by due time; tasks of the same time keep the order in which they were added. */
export class DueTasks {
  #waiting = new PriorityQueue<Scheduled>();

  /** The task that is due first. */
  get first(): Scheduled | undefined {
    return this.#waiting.first;
  }

  add(scheduled: Scheduled): void {
    this.#waiting.add(scheduled, scheduled.atMs);
  }

  /** Removes a task and returns whether it was still there. */
  remove(scheduled: Scheduled): boolean {
    return this.#waiting.remove(scheduled);
  }

  /** Removes and returns the first task if it is due at `untilMs`. */
  takeDue(untilMs: number): Scheduled | undefined {
    const { first } = this;
    return first && first.atMs <= untilMs ? this.#waiting.take() : undefined;
  }

  clear(): void {
    this.#waiting = new PriorityQueue();
  }
}
