/** What breaks off one call. */
export interface Breaker {
  /** For what is called. */
  readonly signal: AbortSignal;
  /** Resolves with the reason when the call is broken off, also where what is called takes no notice. */
  readonly broken: Promise<Error>;
  breakOff(reason: Error): void;
  /** Says that the call has ended. */
  end(): void;
}

/** For how many calls a signal is used: making one takes long, but each call leaves a listener on it for a while. */
const CALLS_PER_SIGNAL = 5;

/** Creates what makes breakers: each has its signal to itself until its call has ended, and then another may. */
export function createBreakers(): () => Breaker {
  const free: { readonly controller: AbortController; readonly callsLeft: number }[] = [];

  return () => {
    const { controller, callsLeft } = free.pop() ?? {
      controller: new AbortController(),
      callsLeft: CALLS_PER_SIGNAL,
    };
    let resolve = (_: Error) => {};
    const broken = new Promise<Error>((settle) => {
      resolve = settle;
    });
    return {
      signal: controller.signal,
      broken,
      breakOff(reason) {
        resolve(reason);
        controller.abort(reason);
      },
      end() {
        if (callsLeft > 1 && !controller.signal.aborted) free.push({ controller, callsLeft: callsLeft - 1 });
      },
    };
  };
}
