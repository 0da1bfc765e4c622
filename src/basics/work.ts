/** Work that pauses at each `yield`, so that whoever runs it can do other work in between. */
export type Work<Result> = Generator<undefined, Result, undefined>;

/** Does work without a pause, and returns its result. */
export function finish<Result>(work: Work<Result>): Result {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}
