/** Does tasks in the order in which they come, so many at a time. */
export interface Lane {
  /** Does a task when its turn comes. One that fails holds up none of the others. */
  run(task: () => Promise<void>): void;
  /** How many tasks wait for their turn. */
  readonly waiting: number;
}

/**
 * Creates a lane in which nothing is done yet. `onWork` gets the work of doing what there is, each time that it begins;
 * `onIdle` is called each time that nothing is done any more.
 */
export function createLane(width: number, onWork: (work: Promise<void>) => void, onIdle: () => void): Lane {
  const tasks: (() => Promise<void>)[] = [];
  let working = 0;

  async function work(): Promise<void> {
    // Never at once: who brings the first task must not have to do it.
    await null;
    for (let task = tasks.shift(); task; task = tasks.shift()) {
      try {
        await task();
      } catch {}
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
