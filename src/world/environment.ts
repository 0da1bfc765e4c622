import { toBase64, toHex, toUuid } from '../basics/base64.ts';
import { lazy } from '../basics/lazy-schema.ts';
import { clearTimeout, RealDate, setTimeout } from '../basics/real-timers.ts';
import { fetchInProcess } from './fetch-in-process.ts';

/** What a mailbox uses from outside, such as the time. Replace a part to make a test repeatable. */
export interface Environment {
  /** Returns the current time, for `createdAt` and other timestamps. Default: the global `Date`, which may be faked. */
  now(): Date;
  /** Calls `callback` once after a real delay in milliseconds. Returns a function that cancels the timer. */
  setTimer(delayMs: number, callback: () => void): () => void;
  /**
   * Returns the real time, even if a test fakes the global `Date`. If `now` is replaced, it returns the same as `now`.
   */
  realNow(): Date;
  /**
   * Like `setTimer`, for the clock of a tenant that was not moved. If a test fakes the global `Date` and `setTimeout`,
   * advancing the fake time also calls `callback`. It may be called twice, so a second call must do no harm.
   */
  setClockTimer(delayMs: number, callback: () => void): () => void;
  /** Returns `length` unpredictable bytes, for ids and, unless `secretBytes` differs, for keys and secrets. */
  randomBytes(length: number): Uint8Array;
  /** Returns `length` unpredictable bytes, for keys, passwords and secrets. It is `randomBytes` unless a sandbox says otherwise. */
  secretBytes(length: number): Uint8Array;
  /**
   * Calls a receiver of webhooks. The parameters are those of the global `fetch`. By default it allows only loopback
   * addresses and requests that are intercepted in this process, and rejects all other requests.
   */
  fetch(url: string, init: RequestInit): Promise<Response>;
  /**
   * Returns how much memory the process may use, in bytes: for the JavaScript heap, and in total. Stored mail may use a
   * quarter of the heap and an eighth of the total. By default, Node gives the values; a browser has no limit.
   */
  memory(): { readonly heapBytes: number; readonly allBytes: number };
  /** Reports a failure of the emulator itself. By default it prints the error with its stack by `console.error`. */
  report(error: unknown): void;
}

/** Replacements for parts of the environment. A part that is left out or `undefined` has its default. */
export type EnvironmentOverrides = {
  readonly [Part in Exclude<keyof Environment, 'realNow' | 'setClockTimer' | 'secretBytes'>]?:
    | Environment[Part]
    | undefined;
};

/** Creates an environment: real clock, the platform's randomness, a guarded `fetch`, and any overrides. */
export function createEnvironment({
  now,
  setTimer,
  randomBytes = createRandomBytes(),
  fetch = fetchInProcess,
  memory = readMemory,
  report = printError,
}: EnvironmentOverrides = {}): Environment {
  return {
    now: now ?? (() => new Date()),
    setTimer: setTimer ?? startTimer,
    realNow: now ?? (() => new RealDate()),
    setClockTimer: setTimer ?? startClockTimer,
    randomBytes,
    secretBytes: randomBytes,
    fetch,
    memory,
    report,
  };
}

/** The parts of Node's `process` that are used here. Node is not imported, because this file also runs in browsers. */
interface NodeProcess {
  getBuiltinModule?(name: string): { getHeapStatistics?(): { readonly heap_size_limit: number } } | undefined;
  constrainedMemory?(): number;
}

/** Returns the limits of memory. They are read only once, because Node reads a system file for them. */
const readMemory = lazy((): ReturnType<Environment['memory']> => {
  const { process } = globalThis as { process?: NodeProcess };
  const heapBytes = process?.getBuiltinModule?.('node:v8')?.getHeapStatistics?.().heap_size_limit;
  // Node returns 0 if it does not know a limit.
  return {
    heapBytes: heapBytes || Number.POSITIVE_INFINITY,
    allBytes: process?.constrainedMemory?.() || Number.POSITIVE_INFINITY,
  };
});

/** Returns how many bytes of mail fit into the memory of the process. */
export function memoryForMail({ memory }: Pick<Environment, 'memory'>): number {
  const { heapBytes, allBytes } = memory();
  return Math.floor(Math.min(heapBytes / 4, allBytes / 8));
}

/** The most that is kept of one kind of records of what has happened, in bytes. */
export const MAX_RECORDS_BYTES = 64 * 1024 * 1024;

/** Returns how many bytes of one kind of records of what has happened are kept: fewer if there is little memory. */
export function memoryForRecords(environment: Pick<Environment, 'memory'>): number {
  return Math.min(MAX_RECORDS_BYTES, memoryForMail(environment) / 4);
}

/** Prints a failure of the emulator. */
export function printError(error: unknown): void {
  // biome-ignore lint/suspicious/noConsole: this is the only place where a failure of the emulator is printed.
  console.error(error);
}

/** Number of random bytes to generate at once, because many small calls to the platform are slow. */
const POOL_BYTES = 4096;

/** Creates a function that returns random bytes of the platform. The bytes come from a pool, and none is used twice. */
export function createRandomBytes(): (length: number) => Uint8Array {
  let pool = new Uint8Array(0);
  return (length) => {
    if (length > POOL_BYTES) return crypto.getRandomValues(new Uint8Array(length));
    if (pool.length < length) pool = crypto.getRandomValues(new Uint8Array(POOL_BYTES));
    const bytes = pool.slice(0, length);
    pool = pool.subarray(length);
    return bytes;
  };
}

/** Starts a timer of the platform that does not keep the process alive. */
export function startTimer(delayMs: number, callback: () => void): () => void {
  const timer: unknown = setTimeout(callback, delayMs);
  if (typeof timer === 'object' && timer !== null && 'unref' in timer) (timer.unref as () => void)();
  return () => clearTimeout(timer as ReturnType<typeof setTimeout>);
}

/** Starts a real timer and, while a test fakes `setTimeout`, one of the test's too. */
function startClockTimer(delayMs: number, callback: () => void): () => void {
  const cancel = startTimer(delayMs, callback);
  const current = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout };
  if (current.setTimeout === setTimeout) return cancel;
  const timer = current.setTimeout(callback, delayMs);
  return () => {
    cancel();
    current.clearTimeout(timer);
  };
}

/** Returns the current time in the service's format: ISO 8601, UTC, with milliseconds. */
export function timestampNow(environment: Environment): string {
  return environment.now().toISOString();
}

/** Returns a new version 4 UUID. `crypto.randomUUID` is not used, because it is missing in insecure pages. */
export function newId(environment: Environment): string {
  return toUuid(environment.randomBytes(16), 4);
}

/** Returns random hexadecimal digits in lower case, two for each byte. */
export function newHex(environment: Environment, bytes: number): string {
  return toHex(environment.randomBytes(bytes));
}

/** Returns a random number from 0 up to, but not including, 1. */
export function newFraction(environment: Environment): number {
  return Number.parseInt(newHex(environment, 4), 16) / 2 ** 32;
}

/** Returns a new key: the prefix of its tier and 32 characters of `A-Z a-z 0-9 _ -`. */
export function newKey(environment: Environment, prefix: string): string {
  return prefix + newText(environment, 24);
}

/** Returns random characters of `A-Z a-z 0-9 _ -`: four for three bytes. */
function newText(environment: Environment, bytes: number): string {
  return toBase64(environment.secretBytes(bytes)).replaceAll('+', '-').replaceAll('/', '_');
}

/** Returns a new password of 24 letters, digits, `_` and `-`. */
export function newPassword(environment: Environment): string {
  return newText(environment, 18);
}

/** Returns a new webhook secret in the format of Standard Webhooks: `whsec_` and 32 bytes in base64. */
export function newWebhookSecret(environment: Environment): string {
  return `whsec_${toBase64(environment.secretBytes(32))}`;
}
