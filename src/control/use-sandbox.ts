import type { ControllableMailbox } from './controllable-mailbox.ts';
import { notFound } from './find-worlds.ts';
import type { MailboxClock } from './mailbox-clock.ts';
import type { Sandbox } from './sandbox.ts';

type PromiseMethod<Type> = {
  [Name in keyof Type]: Type[Name] extends (...input: never) => Promise<unknown> ? Name : never;
}[keyof Type];

/** The methods that reject instead of throwing. */
const REJECTS: Readonly<Record<PromiseMethod<ControllableMailbox> | PromiseMethod<MailboxClock>, true>> = {
  receiveMessage: true,
  settled: true,
  waitForMessage: true,
  advance: true,
};

/**
 * Makes each method of a sandbox but `close` a use of it. `use` returns whether the sandbox exists; if not, the method
 * fails.
 */
export function useSandbox(sandbox: Sandbox, use: () => boolean): Sandbox {
  return useOnCall({ ...sandbox, clock: useOnCall(sandbox.clock, use) }, use);
}

/** A proxy, because a function for each method of each of many sandboxes would take much memory. */
function useOnCall<Methods extends object>(methods: Methods, use: () => boolean): Methods {
  return new Proxy(methods, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== 'function' || CLOSES.has(name)) return method;
      return (...input: unknown[]) => {
        if (use()) return method(...input);
        if (Object.hasOwn(REJECTS, name)) return Promise.reject(notFound('sandbox'));
        throw notFound('sandbox');
      };
    },
  });
}

const CLOSES: ReadonlySet<string | symbol> = new Set(['close', Symbol.dispose]);
