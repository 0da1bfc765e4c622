/** Does tasks in the order in which they come, so many at a time. */
export interface Lane {
  /** Resolves when the task is done. A task that fails holds up none of the others. */
  run(task: () => Promise<void>): Promise<void>;
}

/** Creates a lane in which nothing is done yet. */
export function createLane(width: number): Lane {
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
      }
    },
  };
}
