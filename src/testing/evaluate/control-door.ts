import { randomBytes } from 'node:crypto';
import { RealDate } from '../../basics/real-timers.ts';
import { ApiError } from '../../contract/errors.ts';
import { CONTROL_CALLS, type ControlCallId } from '../../control/table/calls.ts';
import { CONTROL_PATH } from '../../control/table/control-path.ts';
import type { Mailbox } from '../../mailbox/without-msw.ts';
import type { ControlGuest } from '../../server/http/app.ts';

/** The control calls that change nothing of what a scenario says or what the agent is judged by. */
const HARMLESS: ReadonlySet<ControlCallId> = new Set([
  'addCheckpoint',
  'removeCheckpoint',
  'clearRequests',
  'restoreRequests',
]);

/** The control calls that would end a trial. They are refused, and the trial of the agent fails. */
const ENDING: Readonly<Partial<Record<ControlCallId, string>>> = {
  reset: 'The agent tried to reset the emulator',
  closeSandbox: 'The agent tried to remove a sandbox',
};

/** How many requests that no trial owns are kept. */
const MAX_UNOWNED = 1_000;

/** Follows the control calls of the agents of an emulator. */
export interface ControlListener {
  /** Is called with a call that was refused, such as `POST /__mock/reset`. */
  onRefused(call: string): void;
  /** Is called with the id of a call by which an agent changes what the scenario has set. */
  onChange(call: ControlCallId): void;
  /** Is called with a sentence when an agent makes a call that would end its trial. */
  onEnding(sentence: string): void;
}

/**
 * The control plane of an emulator in which trials run. Steps and checks have a token; an agent has another one, if its
 * scenario says so, and its calls are observed.
 */
export class ControlDoor implements ControlGuest {
  /** The token of steps and checks. It cannot be guessed. */
  readonly owner = newToken();
  /** The token of the agent; undefined if it may not control the emulator. */
  readonly token: string | undefined;
  readonly #listeners = new Set<ControlListener>();
  readonly #unowned: { readonly text: string; readonly atMs: number }[] = [];

  constructor(mayControl: boolean) {
    this.token = mayControl ? newToken() : undefined;
  }

  /** Adds a listener. Returns a function that removes it. */
  listen(listener: ControlListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** @throws {ApiError} for a call that would end a trial. */
  onCall({ method, path }: { readonly method: string; readonly path: string }): void {
    const id = findControlCall(method, path);
    if (id === undefined || method === 'GET' || method === 'HEAD' || HARMLESS.has(id)) return;
    const sentence = ENDING[id];
    for (const listener of this.#listeners) {
      if (sentence) listener.onEnding(sentence);
      else listener.onChange(id);
    }
    if (sentence) throw new ApiError('CONFLICT', 'A trial is running, so this call is not possible.');
  }

  /** Follows the requests with which no key of a tenant came, so that no trial owns them, until the emulator is closed. */
  async follow(mailbox: Pick<Mailbox, 'feed'>): Promise<void> {
    for await (const event of mailbox.feed()) {
      if (event.kind === 'gap') this.#unowned.push({ text: 'what the journal has dropped', atMs: RealDate.now() });
      if (event.kind !== 'request' || event.request.principal !== null || event.request.protocol !== 'http') continue;
      const { method, path, status } = event.request;
      this.#unowned.push({ text: `${method} ${path} → ${status}`, atMs: RealDate.now() });
      if (this.#unowned.length > MAX_UNOWNED) this.#unowned.shift();
    }
  }

  /** Returns the requests that no trial owns and that came after a time. */
  unownedSince(timeMs: number): string[] {
    return this.#unowned.flatMap(({ text, atMs }) => (atMs >= timeMs ? text : []));
  }

  onRefused({ method, path }: { readonly method: string; readonly path: string }): void {
    for (const listener of this.#listeners) listener.onRefused(`${method} ${path}`);
  }
}

/** Hexadecimal, because a token that begins with `-` could not follow `--token`. */
function newToken(): string {
  return randomBytes(18).toString('hex');
}

/** Returns the id of the control call with a method and a path; undefined if there is none. */
function findControlCall(method: string, path: string): ControlCallId | undefined {
  const given = path.slice(CONTROL_PATH.length).split('/');
  const ids = Object.keys(CONTROL_CALLS) as ControlCallId[];
  return ids.find((id) => {
    const [wantedMethod, wanted = ''] = CONTROL_CALLS[id].split(' ');
    const parts = wanted.split('/');
    return (
      wantedMethod === method &&
      parts.length === given.length &&
      parts.every((part, index) => part.startsWith('{') || part === given[index])
    );
  });
}
