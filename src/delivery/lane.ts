/** Does tasks in the order in which they come, so many at a time. */
export interface Lane {
  /** Settles as the task does. A task that fails holds up none of the others. */
  run(task: () => Promise<void>): Promise<void>;
}

/** Creates a lane in which nothing is done yet; `onIdle` is called each time that nothing is done any more. */
export function createLane(width: number, onIdle: () => void): Lane {
  const waiting: (() => void)[] = [];
  let free = width;

  return {
    async run(task) {
      if (free > 0) free -= 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        await task();
      } finally {
        const next = waiting.shift();
        if (next) next();
        else free += 1;
        if (free === width) onIdle();
      }
    },
  };
}
