import { useState } from 'preact/hooks';

/** The result of what a person did on the page. */
export interface Action {
  /** Runs something and keeps its error. Resolves to whether it succeeded. */
  run(work: () => Promise<unknown>): Promise<boolean>;
  /** Why the latest one failed; `undefined` if it succeeded. */
  readonly error: string | undefined;
  /** Whether one is running. */
  readonly isRunning: boolean;
}

/** Runs what buttons and forms do. */
export function useAction(): Action {
  const [state, setState] = useState<{ error?: string; isRunning: boolean }>({ isRunning: false });
  const run = async (work: () => Promise<unknown>) => {
    setState({ isRunning: true });
    try {
      await work();
      setState({ isRunning: false });
      return true;
    } catch (error) {
      setState({ isRunning: false, error: (error as Error).message });
      return false;
    }
  };
  return { run, error: state.error, isRunning: state.isRunning };
}
