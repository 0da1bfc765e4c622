import type {
  AssumptionDefinition,
  BehaviourDefinition,
  ChoiceDefinition,
  Origin,
  OtherValues,
  Shaped,
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
 * The behaviour ledger: every point that the service document leaves open, as a choice or as an assumption.
 * A test author switches a choice with `createMailbox({ behaviours: { [id]: value } })` or `--behaviour id=value`.
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

/** The id of an entry with several readings, which a test author can switch. */
export type ChoiceId = {
  [Id in BehaviourId]: Entries[Id] extends { readonly choices: unknown } ? Id : never;
}[BehaviourId];

/** The id of an entry that only states what the emulator does. */
export type AssumptionId = Exclude<BehaviourId, ChoiceId>;

/** The values that the behaviour `Id` can take. */
export type Choice<Id extends ChoiceId> =
  | keyof Entries[Id]['choices']
  // An intersection, so that editors still offer the choices.
  | (Entries[Id] extends { readonly otherValues: OtherValues } ? string & {} : never);

/** A value for every choice. */
export type Choices = { readonly [Id in ChoiceId]: Choice<Id> };

/** The choices a user switches; the rest keep their defaults. */
export type BehaviourOptions = { readonly [Id in ChoiceId]?: Choice<Id> };

/** Reads the value of a choice. */
export type Choose = <Id extends ChoiceId>(id: Id) => Choice<Id>;

/** Notes that an assumption shapes a reply. */
export type Assume = (id: AssumptionId) => void;

/** Every ledger id, in the ledger's order. */
export const BEHAVIOUR_IDS = Object.keys(BEHAVIOURS) as BehaviourId[];

/** Says whether an entry of the ledger is a choice; otherwise it is an assumption. */
export function isChoice(id: BehaviourId): id is ChoiceId {
  return 'choices' in BEHAVIOURS[id];
}

/** The ids of the choices, in the ledger's order. */
export const CHOICE_IDS = BEHAVIOUR_IDS.filter(isChoice);

/** The readings of a choice: each value with what it means. */
export function readingsOf(id: ChoiceId): ChoiceDefinition {
  return BEHAVIOURS[id];
}

/** Says whether an assumption shapes this part of the operations whose rows name it. */
export function isShapedBy(id: AssumptionId, part: Shaped): boolean {
  const { shapes = ['reply'] }: AssumptionDefinition = BEHAVIOURS[id];
  return shapes.includes(part);
}

/** Thrown for an unknown behaviour id or value; the message says what may have been meant. */
export class BehaviourError extends Error {
  /** Always `BehaviourError`. */
  override readonly name = 'BehaviourError';
}

/**
 * Fills the defaults in and checks what the user switched.
 *
 * @throws {BehaviourError} on an unknown id, with those that are near, or an unknown value, with those that there are.
 */
export function parseBehaviours(options: Readonly<Record<string, unknown>> = {}): Choices {
  const switched = Object.entries(options).filter(([, value]) => value !== undefined);
  const defaults = CHOICE_IDS.map((id) => [id, BEHAVIOURS[id].default]);
  const choices = [...defaults, ...switched.map(([id, value]) => [id, parseBehaviour(id, value)])];
  return Object.freeze(Object.fromEntries(choices)) as Choices;
}

function parseBehaviour(id: string, value: unknown): string {
  if (!isBehaviourId(id)) {
    throw new BehaviourError(`There is no behaviour ${JSON.stringify(id)}; ${hintAt(id)}`);
  }
  if (!isChoice(id)) {
    const { assumption }: AssumptionDefinition = BEHAVIOURS[id];
    throw new BehaviourError(`Behaviour "${id}" cannot be changed, because it is an assumption: ${assumption}.`);
  }
  const { choices, otherValues } = readingsOf(id);
  const known = typeof value === 'string' && Object.hasOwn(choices, value) ? value : undefined;
  const parsed = known ?? (typeof value === 'string' ? otherValues?.parse(value) : undefined);
  if (parsed !== undefined) return parsed;
  const names = [...Object.keys(choices), ...(otherValues ? [otherValues.rule] : [])].join(', ');
  throw new BehaviourError(`Behaviour "${id}" cannot be ${JSON.stringify(value)}; it can be: ${names}.`);
}

/** Says which behaviours somebody may have meant, and how to see them all. */
function hintAt(id: string): string {
  const near = findNearest(id, BEHAVIOUR_IDS);
  const all = `the command "agent-mailbox-mock behaviours" lists ${near.length > 0 ? 'all' : 'what there is'}.`;
  return near.length > 0 ? `did you mean ${near.join(', ')}? Otherwise, ${all}` : all;
}

/** Says whether there is a behaviour with this id. */
export function isBehaviourId(id: string): id is BehaviourId {
  return Object.hasOwn(BEHAVIOURS, id);
}

/**
 * Says whether a reply that depends on this behaviour must name it in `X-Mock-Assumed`: unless the service document
 * states what holds, it must.
 */
export function isAssumed(id: BehaviourId, choices: Choices): boolean {
  const entry: BehaviourDefinition = BEHAVIOURS[id];
  return entry.origin !== 'document' || ('choices' in entry && choices[id as ChoiceId] !== entry.default);
}
