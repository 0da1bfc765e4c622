import { z } from 'zod';
import { lazy } from '../basics/lazy-schema.ts';
import {
  BEHAVIOUR_IDS,
  BEHAVIOURS,
  BehaviourError,
  type BehaviourOptions,
  type BehaviourValue,
  type BehaviourValues,
  type ChangeableId,
  createLiveValues,
  isChangeable,
  type LiveValues,
  parseBehaviours,
} from '../contract/behaviours.ts';
import { ApiError, parseOrRefuse } from '../contract/errors.ts';
import { applyProfile, type Profile } from '../contract/profile.ts';
import type { Part } from '../world/store/parts.ts';
import type { ControlledParts } from './control-scope.ts';

/** The values to change, by behaviour id; null restores the value at the start. */
export type BehaviourChanges = { readonly [Id in ChangeableId]?: BehaviourValue<Id> | null };

/** Where the current value of a behaviour comes from; `default` if no change, option or profile sets it. */
export type BehaviourSource = 'changed' | 'option' | 'profile' | 'default';

/** The source of the current value of a behaviour, and its value at the start. */
export interface BehaviourState {
  /** Where the current value comes from. */
  readonly source: BehaviourSource;
  /** The value at the start, which a reset restores. */
  readonly start: string;
  /** Whether the profile of the mailbox sets the behaviour. */
  readonly isPinned: boolean;
}

/** The control methods for behaviours, which sandboxes share with their mailbox. */
export interface BehaviourControls {
  /**
   * Changes behaviours while the mailbox runs, also for its sandboxes. An open event stream keeps the values with which
   * it was opened. A reset restores the values at the start; restoring a checkpoint restores the values that it saved.
   *
   * @throws {ApiError} VALIDATION_ERROR for an unknown id or value; the message names the most similar known id or
   *   value. After an error nothing has changed.
   * @example
   * mailbox.changeBehaviours({ 'webhooks.list.secret': 'omitted' });
   */
  changeBehaviours(changes: BehaviourChanges): void;
  /** Returns where the value of each changeable behaviour comes from, by its id. */
  behaviourStates(): { readonly [Id in ChangeableId]: BehaviourState };
}

/** The schema of changes of behaviours. */
export const behaviourChanges = lazy(() => z.object({}).catchall(z.string().nullable()));

/** The behaviours of a mailbox, which a test can change while it runs. */
export class LiveBehaviours {
  /** The current values; each change is visible in this object. */
  readonly values: BehaviourValues;
  /** What was changed since the start. */
  changes: BehaviourOptions = {};
  /** The functions that are called after each change. */
  readonly listeners: (() => void)[] = [];
  readonly #start: BehaviourValues;
  readonly #live: LiveValues;
  readonly #profile: Readonly<Record<string, unknown>>;
  readonly #options: Readonly<Record<string, unknown>>;

  /** @throws {BehaviourError} if an id or a value is unknown. */
  constructor(profile?: Profile, options: BehaviourOptions = {}) {
    this.#start = applyProfile(profile, options);
    this.#live = createLiveValues(this.#start);
    this.values = this.#live.values;
    this.#profile = { ...profile?.behaviours };
    this.#options = { ...options };
  }

  /** Replaces all changes. @throws {BehaviourError} if an id or a value is unknown. */
  set(changes: BehaviourOptions): void {
    this.#live.current = parseBehaviours({ ...this.#start, ...changes });
    this.changes = changes;
    for (const listener of this.listeners) listener();
  }

  /** Changes some values. @throws {BehaviourError} if an id or a value is unknown. */
  change(changes: Readonly<Record<string, string | null>>): void {
    const entries = Object.entries(changes);
    // `null` restores the value at the start, so the value at the start is checked. An unknown id has none, and gets an
    // empty text, because the check refuses an unknown id whatever its value is.
    const values = entries.map(([id, value]) => [id, value ?? this.#start[id as ChangeableId] ?? '']);
    parseBehaviours(Object.fromEntries(values));
    const all = Object.entries({ ...this.changes, ...changes }).filter(([, value]) => value !== null);
    this.set(Object.fromEntries(all));
  }

  /** Returns where the current value of a behaviour comes from, and its value at the start. */
  stateOf(id: ChangeableId): BehaviourState {
    const isPinned = this.#profile[id] !== undefined;
    const sourceAtStart = this.#options[id] !== undefined ? 'option' : isPinned ? 'profile' : 'default';
    return { source: Object.hasOwn(this.changes, id) ? 'changed' : sourceAtStart, start: this.#start[id], isPinned };
  }

  /** Creates the part of the mailbox that removes the changes at a reset, and saves them in a checkpoint. */
  createPart(): Part & { change(changes: BehaviourChanges): void } {
    return {
      change: (changes) => this.change(changes),
      end: () => this.set({}),
      save: (purpose) => (purpose === 'checkpoint' ? this.changes : undefined),
      restore: (saved: BehaviourOptions) => this.set(saved),
    };
  }
}

/** Creates the methods for the behaviours of a mailbox. */
export function createBehaviourControls(live: LiveBehaviours, parts: ControlledParts): BehaviourControls {
  const { service, discardDocument } = parts;
  const { worlds } = service;
  const partOf = worlds.addPart('behaviours', () => live.createPart());
  live.listeners.push(service.refreshBehaviours, discardDocument);
  return {
    changeBehaviours(changes) {
      const parsed = parseOrRefuse('The input of changeBehaviours', behaviourChanges(), changes);
      try {
        // A reset removes the changes by this part, so it must exist.
        partOf(worlds).change(parsed);
      } catch (error) {
        throw error instanceof BehaviourError ? new ApiError('VALIDATION_ERROR', error.message) : error;
      }
      service.journals.publish(null, 'behaviours', { action: 'replaced', tenantId: null, name: null });
    },
    behaviourStates: () =>
      Object.fromEntries(BEHAVIOUR_IDS.filter(isChangeable).map((id) => [id, live.stateOf(id)])) as never,
  };
}

/** Shows every behaviour with its current value and the source of this value. */
export function showBehaviours(values: BehaviourValues, states: ReturnType<BehaviourControls['behaviourStates']>) {
  return BEHAVIOUR_IDS.map((id) =>
    isChangeable(id) ? { id, ...BEHAVIOURS[id], value: values[id], ...states[id] } : { id, ...BEHAVIOURS[id] },
  );
}
