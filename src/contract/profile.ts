import { type BehaviourOptions, type BehaviourValues, CHANGEABLE_IDS, parseBehaviours } from './behaviours.ts';

/**
 * The values of behaviours that a service was found to have, by `agent-mailbox-mock verify`, or that somebody pins with
 * `agent-mailbox-mock profile init`. A behaviour that it does not name has its default value.
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
 * Returns the values of behaviours: each has the value in `options`, else that of the profile, else its default.
 *
 * @throws {BehaviourError} if an id or a value is unknown; the message suggests valid ones.
 */
export function applyProfile(profile: Profile | undefined, options?: BehaviourOptions): BehaviourValues {
  const set = Object.entries(options ?? {}).filter(([, value]) => value !== undefined);
  return parseBehaviours({ ...profile?.behaviours, ...Object.fromEntries(set) });
}

/** Returns today's defaults as a profile, so that an upgrade changes nothing for whoever uses it. */
export function defaultProfile(): Profile {
  return { behaviours: parseBehaviours() };
}

/** Returns the behaviours of a profile that do not have their default value, as `id=value`. */
export function changesIn({ behaviours }: Profile): string[] {
  const defaults = parseBehaviours();
  const changed = CHANGEABLE_IDS.filter((id) => behaviours[id] !== undefined && behaviours[id] !== defaults[id]);
  return changed.map((id) => `${id}=${behaviours[id]}`);
}
