import { createNameCheck } from '../basics/named-error.ts';
import { findSimilarNames } from '../basics/similar-names.ts';
import type {
  AssumptionDefinition,
  BehaviourDefinition,
  ChangeableDefinition,
  Origin,
  OtherValues,
} from './behaviour.ts';
import { deliveryBehaviours } from './behaviours/deliveries.ts';
import { domainBehaviours } from './behaviours/domains.ts';
import { draftBehaviours } from './behaviours/drafts.ts';
import { imapBehaviours } from './behaviours/imap.ts';
import { inboxBehaviours } from './behaviours/inboxes.ts';
import { keyBehaviours } from './behaviours/keys.ts';
import { listBehaviours } from './behaviours/lists.ts';
import { messageBehaviours } from './behaviours/messages.ts';
import { requestBehaviours } from './behaviours/requests.ts';
import { sendBehaviours } from './behaviours/sending.ts';
import { serviceBehaviours } from './behaviours/service.ts';
import { streamBehaviours } from './behaviours/stream.ts';
import { tenantBehaviours } from './behaviours/tenants.ts';
import { threadBehaviours } from './behaviours/threads.ts';
import { webhookBehaviours } from './behaviours/webhooks.ts';
import { workspaceBehaviours } from './behaviours/workspaces.ts';

export type { AssumptionDefinition, BehaviourDefinition, ChangeableDefinition, Origin, OtherValues };

/**
 * The ledger: the list of all behaviours. A behaviour is a question that the service could answer in more than one way.
 * The service document does not answer most of these questions. A changeable behaviour has several values: a test
 * author sets one with `createMailbox({ behaviours: { [id]: value } })` or `--behaviour id=value`. An assumption is a
 * behaviour with only one value.
 */
export const BEHAVIOURS = {
  ...requestBehaviours,
  ...tenantBehaviours,
  ...webhookBehaviours,
  ...deliveryBehaviours,
  ...streamBehaviours,
  ...keyBehaviours,
  ...workspaceBehaviours,
  ...inboxBehaviours,
  ...imapBehaviours,
  ...messageBehaviours,
  ...sendBehaviours,
  ...threadBehaviours,
  ...draftBehaviours,
  ...listBehaviours,
  ...domainBehaviours,
  ...serviceBehaviours,
};

/** The id of a behaviour, such as `webhooks.delete.body`. */
export type BehaviourId = keyof typeof BEHAVIOURS;

type Entries = typeof BEHAVIOURS;

/** The id of a behaviour that a test author can change. */
export type ChangeableId = {
  [Id in BehaviourId]: Entries[Id] extends { readonly choices: unknown } ? Id : never;
}[BehaviourId];

/** The id of an assumption, which cannot be changed. */
export type AssumptionId = Exclude<BehaviourId, ChangeableId>;

/** The possible values of the behaviour `Id`. */
export type BehaviourValue<Id extends ChangeableId> =
  | keyof Entries[Id]['choices']
  // The intersection accepts the same values as `string`, but lets editors still suggest the listed values.
  | (Entries[Id] extends { readonly otherValues: OtherValues } ? string & {} : never);

/** The current value of each changeable behaviour in one mailbox. */
export type BehaviourValues = { readonly [Id in ChangeableId]: BehaviourValue<Id> };

/** The values to set, by behaviour id. All other behaviours keep their default values. */
export type BehaviourOptions = { readonly [Id in ChangeableId]?: BehaviourValue<Id> };

/** Returns the current value of a behaviour. Inside a request it also records that the reply depends on it. */
export type ReadBehaviour = <Id extends ChangeableId>(id: Id) => BehaviourValue<Id>;

/** The ids of all behaviours, in the order of the ledger. */
export const BEHAVIOUR_IDS = Object.keys(BEHAVIOURS) as BehaviourId[];

/** Returns whether a behaviour is changeable, that is, not an assumption. */
export function isChangeable(id: BehaviourId): id is ChangeableId {
  return 'choices' in BEHAVIOURS[id];
}

/** The ids of the changeable behaviours, in the order of the ledger. */
export const CHANGEABLE_IDS = BEHAVIOUR_IDS.filter(isChangeable);

/** Returns the definition of a changeable behaviour. */
export function changeableDefinition(id: ChangeableId): ChangeableDefinition {
  return BEHAVIOURS[id];
}

/** Returns the ids of the assumptions about an operation, in the order of the ledger. */
export function assumptionsAbout(operation: string): readonly AssumptionId[] {
  const isAbout = ({ operations }: AssumptionDefinition) => operations?.includes(operation) === true;
  return BEHAVIOUR_IDS.filter((id): id is AssumptionId => !isChangeable(id) && isAbout(BEHAVIOURS[id]));
}

/** Thrown for an unknown id or value of a behaviour. The message suggests similar ids, or lists the valid values. */
export class BehaviourError extends Error {
  /** Recognises the error by its name, also if it comes from a second copy of this package. */
  static override readonly [Symbol.hasInstance] = createNameCheck('BehaviourError');
  /** Always `BehaviourError`. */
  override readonly name = 'BehaviourError';
}

const DEFAULTS = Object.fromEntries(CHANGEABLE_IDS.map((id) => [id, BEHAVIOURS[id].default])) as BehaviourValues;

/**
 * Checks the given options and adds the defaults.
 *
 * @throws {BehaviourError} if an id or a value is unknown. The message lists similar ids, or the possible values.
 */
export function parseBehaviours(options: Readonly<Record<string, unknown>> = {}): BehaviourValues {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  const values = Object.fromEntries(given.map(([id, value]) => [id, parseBehaviour(id, value)]));
  return Object.freeze({ ...DEFAULTS, ...values });
}

/** The values of the behaviours of a mailbox, which can be replaced while the mailbox runs. */
export interface LiveValues {
  /** An object that always has the current values. */
  readonly values: BehaviourValues;
  /** The current values. To change them, replace this object. */
  current: BehaviourValues;
}

/** Creates `LiveValues` with these values. */
export function createLiveValues(current: BehaviourValues): LiveValues {
  const getters = CHANGEABLE_IDS.map((id) => [id, { enumerable: true, get: () => live.current[id] }]);
  const values = Object.freeze(Object.defineProperties({}, Object.fromEntries(getters))) as BehaviourValues;
  const live = { values, current };
  return live;
}

function parseBehaviour(id: string, value: unknown): string {
  if (!isBehaviourId(id)) {
    throw new BehaviourError(`There is no behaviour ${JSON.stringify(id)}; ${hintFor(id)}`);
  }
  if (!isChangeable(id)) {
    const { assumption }: AssumptionDefinition = BEHAVIOURS[id];
    throw new BehaviourError(`Behaviour "${id}" cannot be changed, because it is an assumption: ${assumption}.`);
  }
  const { choices, otherValues } = changeableDefinition(id);
  const choice = typeof value === 'string' && Object.hasOwn(choices, value) ? value : undefined;
  const parsed = choice ?? (typeof value === 'string' ? otherValues?.parse(value) : undefined);
  if (parsed !== undefined) return parsed;
  const names = [...Object.keys(choices), ...(otherValues ? [otherValues.rule] : [])].join(', ');
  throw new BehaviourError(`Behaviour "${id}" cannot be ${JSON.stringify(value)}; it can be: ${names}.`);
}

function hintFor(id: string): string {
  const similar = findSimilarNames(id, BEHAVIOUR_IDS);
  const advice = 'npx agent-mailbox-mock behaviours lists all behaviours.';
  return similar.length > 0 ? `did you mean ${similar.join(', ')}? Otherwise, ${advice}` : advice;
}

/** Returns whether a behaviour with this id exists. */
export function isBehaviourId(id: string): id is BehaviourId {
  return Object.hasOwn(BEHAVIOURS, id);
}

/**
 * Returns whether a reply for which this behaviour was read must list it in `X-Mock-Assumed`. It need not if the service
 * document states the default value and the behaviour has this value.
 */
export function isAssumed(id: ChangeableId, behaviours: BehaviourValues): boolean {
  const entry = changeableDefinition(id);
  return entry.origin !== 'document' || behaviours[id] !== entry.default;
}

/** What reads the current values of behaviours. */
export interface BehaviourReader {
  readonly readBehaviour: ReadBehaviour;
}

/** Reads behaviours, and records which. */
export class RecordingReader implements BehaviourReader {
  /** The behaviours that were read so far, in the order of their first reading. */
  readonly behavioursRead = new Set<ChangeableId>();

  constructor(readonly behaviours: BehaviourValues) {}

  readonly readBehaviour: ReadBehaviour = (id) => {
    this.behavioursRead.add(id);
    return this.behaviours[id];
  };

  /** Reads a behaviour without recording it, for what does not show in the reply. */
  readonly peekBehaviour: ReadBehaviour = (id) => this.behaviours[id];
}

/** Creates a `BehaviourReader` that records nothing, for code that has no reply. */
export function createSilentReader(behaviours: BehaviourValues): BehaviourReader {
  return { readBehaviour: (id) => behaviours[id] };
}
