/** Does tasks in the order in which they come, so many at a time. */
export interface Lane {
  /** Does a task when its turn comes. One that fails holds up none of the others. */
  run(task: () => Promise<void>): void;
  /** How many tasks wait for their turn. */
  readonly waiting: number;
}

/** Who is told what a lane does. */
export interface LaneListeners {
  /** Gets the work of doing what there is, each time that it begins. */
  onWork(work: Promise<void>): void;
  /** Gets what a task throws. */
  onFailure(error: unknown): void;
  /** Is called each time that nothing is done any more. */
  onIdle(): void;
}

/** Creates a lane in which nothing is done yet. */
export function createLane(width: number, { onWork, onFailure, onIdle }: LaneListeners): Lane {
  const tasks: (() => Promise<void>)[] = [];
  let working = 0;

  async function work(): Promise<void> {
    // Never at once: who brings the first task must not have to do it.
    await null;
    for (let task = tasks.shift(); task; task = tasks.shift()) {
      try {
        await task();
      } catch (error) {
        onFailure(error);
      }
    }
    working -= 1;
    if (working === 0) onIdle();
  }

  return {
    run(task) {
      tasks.push(task);
      if (working === width) return;
      working += 1;
      onWork(work());
    },
    get waiting() {
      return tasks.length;
    },
  };
}
