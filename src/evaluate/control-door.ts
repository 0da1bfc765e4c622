import { randomBytes } from 'node:crypto';
import { RealDate } from '../basics/real-timers.ts';
import { ApiError } from '../contract/errors.ts';
import type { ControlCallId } from '../control/table/routes.ts';
import { listControlRows } from '../control/table/table.ts';
import type { ControlGuest } from '../server/http/app.ts';
import { createRouter, splitPath } from '../service/pipeline/router.ts';

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
  /**
   * Is called when a request came with a key that a trial no longer has, with the id of the tenant of this trial and the
   * method of the request.
   */
  onOldKey(worldId: string, method: string): void;
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
  readonly #route = createRouter(listControlRows());
  readonly #listeners = new Set<ControlListener>();
  /** The keys that each running trial has used or got, by the id of its tenant. */
  readonly #keysByWorld = new Map<string, Set<string>>();
  /** The keys of trials that have ended. */
  readonly #endedKeys = new Set<string>();
  /** Requests without a valid key of which nobody knows whose they are. */
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
    const id = this.#route(splitPath(path))?.get(method)?.id as ControlCallId | undefined;
    if (id === undefined || method === 'GET' || method === 'HEAD' || HARMLESS.has(id)) return;
    const sentence = ENDING[id];
    for (const listener of this.#listeners) {
      if (sentence) listener.onEnding(sentence);
      else listener.onChange(id);
    }
    if (sentence) throw new ApiError('CONFLICT', 'A trial is running, so this call is not possible.');
  }

  /** Tells the door of a trial in a sandbox, with the keys that it begins with. Returns a function that ends the trial. */
  addTrial(worldId: string, keys: readonly string[]): () => void {
    const ofTrial = new Set(keys);
    this.#keysByWorld.set(worldId, ofTrial);
    return () => {
      this.#keysByWorld.delete(worldId);
      for (const key of ofTrial) this.#endedKeys.add(key);
    };
  }

  /**
   * Notes a request with which no valid key came. If its key was one of a trial, and was replaced, it is of this trial,
   * because no other agent can know the key, and the journal of the trial has it. Otherwise nobody knows which agent has
   * sent it. An agent that is late has a key of a trial that has ended.
   */
  onRequest(
    { method, path }: { readonly method: string; readonly path: string },
    key: string | undefined,
    principal: { readonly world: { readonly id: string } | undefined } | undefined,
  ): void {
    if (key !== undefined && principal) {
      if (principal.world) this.#keysByWorld.get(principal.world.id)?.add(key);
    } else if (key === undefined || !this.#endedKeys.has(key)) {
      const worldId = key === undefined ? undefined : this.#findTrialOf(key);
      if (worldId !== undefined) {
        for (const listener of this.#listeners) listener.onOldKey(worldId, method);
        return;
      }
      this.#unowned.push({ text: `${method} ${path}`, atMs: RealDate.now() });
      if (this.#unowned.length > MAX_UNOWNED) this.#unowned.shift();
    }
  }

  #findTrialOf(key: string): string | undefined {
    for (const [worldId, keys] of this.#keysByWorld) if (keys.has(key)) return worldId;
    return undefined;
  }

  /** Returns the requests without a valid key that came after a time, and that no trial owns. */
  unownedSince(timeMs: number): string[] {
    return this.#unowned.flatMap((each) => (each.atMs >= timeMs ? each.text : []));
  }

  onRefused({ method, path }: { readonly method: string; readonly path: string }): void {
    for (const listener of this.#listeners) listener.onRefused(`${method} ${path}`);
  }
}

/** Hexadecimal, because a token that begins with `-` could not follow `--token`. */
function newToken(): string {
  return randomBytes(18).toString('hex');
}
