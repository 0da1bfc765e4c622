import { type BehaviourOptions, type BehaviourValues, CHANGEABLE_IDS, parseBehaviours } from './behaviours.ts';

/**
 * Values of behaviours that `agent-mailbox-mock verify` found out for a service, or that
 * `agent-mailbox-mock profile init` wrote to a file. All other behaviours have their default values.
 */
export interface Profile {
  /** The values, by the id of the behaviour. */
  readonly behaviours: BehaviourOptions;
  /** Where and when the value of a behaviour was found, by its id. */
  readonly found?: Readonly<Partial<Record<string, FoundValue>>> | undefined;
}

/** Where and when the value of a behaviour was found. */
interface FoundValue {
  /** The time, in ISO 8601. */
  readonly at: string;
  /** The URL of the server. */
  readonly on: string;
}

/**
 * Returns the values of all behaviours. A value in `options` has priority over a value in the profile, and both have
 * priority over the default.
 *
 * @throws {BehaviourError} if an id or a value is unknown. The message suggests valid ids or values.
 */
export function applyProfile(profile: Profile | undefined, options?: BehaviourOptions): BehaviourValues {
  const given = Object.entries(options ?? {}).filter(([, value]) => value !== undefined);
  return parseBehaviours({ ...profile?.behaviours, ...Object.fromEntries(given) });
}

/** Returns the defaults of this version as a profile. A project with this profile keeps them after an upgrade. */
export function defaultProfile(): Profile {
  return { behaviours: parseBehaviours() };
}

/** Returns the behaviours of a profile that do not have their default value, as `id=value`. */
export function changesIn({ behaviours }: Profile): string[] {
  const defaults = parseBehaviours();
  const changed = CHANGEABLE_IDS.filter((id) => behaviours[id] !== undefined && behaviours[id] !== defaults[id]);
  return changed.map((id) => `${id}=${behaviours[id]}`);
}
