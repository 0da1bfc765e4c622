/** Work that runs at a scheduled time; `advance` waits for it. */
export type Task = () => Promise<void> | void;

/** A task and the time at which it is due. */
export interface Scheduled {
  readonly atMs: number;
  readonly task: Task;
}

/** Scheduled tasks, sorted by due time; tasks of the same time keep the order in which they were added. */
export class DueTasks {
  readonly #waiting: Scheduled[] = [];

  /** The task that is due first. */
  get first(): Scheduled | undefined {
    return this.#waiting[0];
  }

  add(scheduled: Scheduled): void {
    let [low, high] = [0, this.#waiting.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#waiting[middle]?.atMs ?? 0) <= scheduled.atMs) low = middle + 1;
      else high = middle;
    }
    this.#waiting.splice(low, 0, scheduled);
  }

  /** Removes a task and returns whether it was still there. */
  remove(scheduled: Scheduled): boolean {
    const index = this.#waiting.indexOf(scheduled);
    if (index >= 0) this.#waiting.splice(index, 1);
    return index >= 0;
  }

  /** Removes and returns the first task if it is due at `untilMs`. */
  takeDue(untilMs: number): Scheduled | undefined {
    const { first } = this;
    return first && first.atMs <= untilMs ? this.#waiting.shift() : undefined;
  }

  clear(): void {
    this.#waiting.length = 0;
  }
}
