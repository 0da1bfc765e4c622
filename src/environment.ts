import { toBase64, toHex } from './contract/base64.ts';
import { fetchInProcess } from './fetch-in-process.ts';

/** The outside world as an argument: time, chance, who can be called, and who is told of a bug. Replace any to make a mailbox repeatable. */
export interface Environment {
  /** The present moment; `createdAt` and every other timestamp comes from here. */
  now(): Date;
  /** Calls `wake` once, after so many real milliseconds; the answer cancels it. */
  setTimer(delayMs: number, wake: () => void): () => void;
  /** This many unpredictable bytes; ids, keys and secrets are made of them. */
  randomBytes(length: number): Uint8Array;
  /**
   * Calls a receiver, as the platform's own `fetch`. By default it reaches loopback addresses and what is intercepted
   * in this process; anything else it refuses.
   */
  fetch(url: string, init: RequestInit): Promise<Response>;
  /** Prints a failure of the emulator itself, once; by default with its cause and its stack by `console.error`. */
  report(error: unknown): void;
}

/** The real clock, the platform's source of randomness, and its `fetch` with a guard before it. */
export function createEnvironment(overrides: Partial<Environment> = {}): Environment {
  return {
    now: () => new Date(),
    setTimer: startTimer,
    randomBytes: createRandomBytes(),
    fetch: fetchInProcess,
    report: printError,
    ...overrides,
  };
}

function printError(error: unknown): void {
  // biome-ignore lint/suspicious/noConsole: this is the one place where a failure of ours is printed.
  console.error(error);
}

/** How many bytes are fetched at once: asking the platform takes longer than what most ids need. */
const POOL_BYTES = 4096;

/** Hands out the platform's random bytes, each of them once. */
function createRandomBytes(): (length: number) => Uint8Array {
  let pool = new Uint8Array(0);
  return (length) => {
    if (length > POOL_BYTES) return crypto.getRandomValues(new Uint8Array(length));
    if (pool.length < length) pool = crypto.getRandomValues(new Uint8Array(POOL_BYTES));
    const bytes = pool.slice(0, length);
    pool = pool.subarray(length);
    return bytes;
  };
}

/** A timer of the platform that does not keep a process alive. */
function startTimer(delayMs: number, wake: () => void): () => void {
  const timer: unknown = setTimeout(wake, delayMs);
  if (typeof timer === 'object' && timer !== null && 'unref' in timer) (timer.unref as () => void)();
  return () => clearTimeout(timer as ReturnType<typeof setTimeout>);
}

/** The present moment as the service writes it: ISO 8601 UTC with milliseconds. */
export function timestampNow(environment: Environment): string {
  return environment.now().toISOString();
}

/** A new version 4 UUID. `crypto.randomUUID` is not used, because insecure pages do not have it. */
export function newId(environment: Environment): string {
  const bytes = environment.randomBytes(16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return toHex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** New hexadecimal digits in lower case, two for each of this many bytes. */
export function newHex(environment: Environment, bytes: number): string {
  return toHex(environment.randomBytes(bytes));
}

/** A new key: the prefix of its tier and 32 characters of `A-Z a-z 0-9 _ -`. */
export function newKey(environment: Environment, prefix: string): string {
  return prefix + newText(environment, 24);
}

function newText(environment: Environment, bytes: number): string {
  return toBase64(environment.randomBytes(bytes)).replaceAll('+', '-').replaceAll('/', '_');
}

/** A new password of 24 letters, digits, `_` and `-`. */
export function newPassword(environment: Environment): string {
  return newText(environment, 18);
}

/** A new webhook secret in the form of Standard Webhooks: `whsec_` and the base64 of 32 bytes. */
export function newWebhookSecret(environment: Environment): string {
  return `whsec_${toBase64(environment.randomBytes(32))}`;
}
