/** What breaks off one call. */
export interface Breaker {
  /** For what is called. */
  readonly signal: AbortSignal;
  /** Rejects when the call is broken off, also where what is called takes no notice. */
  readonly broken: Promise<never>;
  breakOff(reason: Error): void;
}

/** Creates what breaks off one call. */
export function createBreaker(): Breaker {
  const controller = new AbortController();
  let reject = (_: Error) => {};
  const broken = new Promise<never>((_, refuse) => {
    reject = refuse;
  });
  broken.catch(() => {});
  return {
    signal: controller.signal,
    broken,
    breakOff(reason) {
      reject(reason);
      controller.abort(reason);
    },
  };
}
