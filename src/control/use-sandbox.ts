import type { ControllableMailbox } from './controllable-mailbox.ts';
import { notFound } from './find-worlds.ts';
import type { MailboxClock } from './mailbox-clock.ts';

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

/** Makes each method of a sandbox a use of it. `use` returns whether the sandbox exists; if not, the method fails. */
export function useSandbox(controls: ControllableMailbox, use: () => boolean): ControllableMailbox {
  return { ...useOnCall(controls, use), clock: useOnCall(controls.clock, use) };
}

function useOnCall<Methods extends object>(methods: Methods, use: () => boolean): Methods {
  const entries = Object.entries(methods).map(([name, method]) => [
    name,
    typeof method !== 'function'
      ? method
      : (...input: unknown[]) => {
          if (use()) return method(...input);
          if (Object.hasOwn(REJECTS, name)) return Promise.reject(notFound('sandbox'));
          throw notFound('sandbox');
        },
  ]);
  return Object.fromEntries(entries);
}
