import type {
  AssumptionDefinition,
  BehaviourDefinition,
  ChoiceDefinition,
  OperationPart,
  Origin,
  OtherValues,
} from './behaviour.ts';
import { deliveryBehaviours } from './behaviours/deliveries.ts';
import { domainBehaviours } from './behaviours/domains.ts';
import { draftBehaviours } from './behaviours/drafts.ts';
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
import { findNearest } from './nearest.ts';

export type { AssumptionDefinition, BehaviourDefinition, ChoiceDefinition, Origin, OtherValues };

/**
 * The ledger: the list of all behaviours, the points at which the service could behave in more than one way. The
 * service document leaves most of them open. A behaviour is a choice or an assumption. A test author changes a choice with `createMailbox({ behaviours: { [id]: value } })` or
 * `--behaviour id=value`.
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
  ...messageBehaviours,
  ...sendBehaviours,
  ...threadBehaviours,
  ...draftBehaviours,
  ...listBehaviours,
  ...domainBehaviours,
  ...serviceBehaviours,
};

/** The id of a ledger entry, such as `webhooks.delete.body`. */
export type BehaviourId = keyof typeof BEHAVIOURS;

type Entries = typeof BEHAVIOURS;

/** The id of a choice: an entry that a test author can change. */
export type ChoiceId = {
  [Id in BehaviourId]: Entries[Id] extends { readonly choices: unknown } ? Id : never;
}[BehaviourId];

/** The id of an assumption: an entry that cannot be changed. */
export type AssumptionId = Exclude<BehaviourId, ChoiceId>;

/** The possible values of the behaviour `Id`. */
export type ChoiceValue<Id extends ChoiceId> =
  | keyof Entries[Id]['choices']
  // An intersection instead of `string`, so that editors still suggest the choices.
  | (Entries[Id] extends { readonly otherValues: OtherValues } ? string & {} : never);

/** The value that each choice has in a mailbox. */
export type Choices = { readonly [Id in ChoiceId]: ChoiceValue<Id> };

/** The choices to change; all others keep their defaults. */
export type BehaviourOptions = { readonly [Id in ChoiceId]?: ChoiceValue<Id> };

/** Returns the value that a choice has in this mailbox. */
export type Choose = <Id extends ChoiceId>(id: Id) => ChoiceValue<Id>;

/** Records that an assumption affects this reply. */
export type Assume = (id: AssumptionId) => void;

/** Every ledger id, in the ledger's order. */
export const BEHAVIOUR_IDS = Object.keys(BEHAVIOURS) as BehaviourId[];

/** Returns whether a ledger entry is a choice and not an assumption. */
export function isChoice(id: BehaviourId): id is ChoiceId {
  return 'choices' in BEHAVIOURS[id];
}

/** The ids of the choices, in the ledger's order. */
export const CHOICE_IDS = BEHAVIOUR_IDS.filter(isChoice);

/** Returns the definition of a choice. */
export function choiceDefinition(id: ChoiceId): ChoiceDefinition {
  return BEHAVIOURS[id];
}

/**
 * Returns whether an assumption affects this part (query, body, reply …) of an operation that lists it in `assumes`.
 */
export function affectsPart(id: AssumptionId, part: OperationPart): boolean {
  const { shapes = ['reply'] }: AssumptionDefinition = BEHAVIOURS[id];
  return shapes.includes(part);
}

/** Thrown for an unknown behaviour id or value; the message suggests valid ones. */
export class BehaviourError extends Error {
  /** Always `BehaviourError`. */
  override readonly name = 'BehaviourError';
}

/**
 * Checks the given options and adds the defaults.
 *
 * @throws {BehaviourError} if an id or a value is unknown. The message lists similar ids, or the possible values.
 */
export function parseBehaviours(options: Readonly<Record<string, unknown>> = {}): Choices {
  const changed = Object.entries(options).filter(([, value]) => value !== undefined);
  const defaults = CHOICE_IDS.map((id) => [id, BEHAVIOURS[id].default]);
  const choices = [...defaults, ...changed.map(([id, value]) => [id, parseBehaviour(id, value)])];
  return Object.freeze(Object.fromEntries(choices)) as Choices;
}

function parseBehaviour(id: string, value: unknown): string {
  if (!isBehaviourId(id)) {
    throw new BehaviourError(`There is no behaviour ${JSON.stringify(id)}; ${hintFor(id)}`);
  }
  if (!isChoice(id)) {
    const { assumption }: AssumptionDefinition = BEHAVIOURS[id];
    throw new BehaviourError(`Behaviour "${id}" cannot be changed, because it is an assumption: ${assumption}.`);
  }
  const { choices, otherValues } = choiceDefinition(id);
  const known = typeof value === 'string' && Object.hasOwn(choices, value) ? value : undefined;
  const parsed = known ?? (typeof value === 'string' ? otherValues?.parse(value) : undefined);
  if (parsed !== undefined) return parsed;
  const names = [...Object.keys(choices), ...(otherValues ? [otherValues.rule] : [])].join(', ');
  throw new BehaviourError(`Behaviour "${id}" cannot be ${JSON.stringify(value)}; it can be: ${names}.`);
}

function hintFor(id: string): string {
  const near = findNearest(id, BEHAVIOUR_IDS);
  const all = 'the command "agent-mailbox-mock behaviours" lists all behaviours.';
  return near.length > 0 ? `did you mean ${near.join(', ')}? Otherwise, ${all}` : all;
}

/** Returns whether a behaviour with this id exists. */
export function isBehaviourId(id: string): id is BehaviourId {
  return Object.hasOwn(BEHAVIOURS, id);
}

/**
 * Returns whether a reply that depends on this behaviour must list it in `X-Mock-Assumed`: always, unless the document
 * gives the default value and the choice still has it.
 */
export function isAssumed(id: BehaviourId, choices: Choices): boolean {
  const entry: BehaviourDefinition = BEHAVIOURS[id];
  return entry.origin !== 'document' || ('choices' in entry && choices[id as ChoiceId] !== entry.default);
}
