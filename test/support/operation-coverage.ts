import type { TaskMeta } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    /** The operations that succeeded in a test of `everywhere`. */
    succeeded?: string[];
  }
}

/** Notes for the reporter that an operation succeeded in this test. */
export function noteSuccess(meta: TaskMeta, id: string | undefined): void {
  if (id === undefined) return;
  meta.succeeded ??= [];
  if (!meta.succeeded.includes(id)) meta.succeeded.push(id);
}
