import type { BehaviourDefinition, Origin, OtherValues } from './behaviour.ts';
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

export type { BehaviourDefinition, Origin, OtherValues };

/**
 * The behaviour ledger: every choice that the service document leaves open.
 * A test author switches one with `createMailbox({ behaviours: { [id]: value } })` or `--behaviour id=value`.
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

/** The values that the behaviour `Id` can take. */
export type Choice<Id extends BehaviourId> =
  | keyof (typeof BEHAVIOURS)[Id]['choices']
  // An intersection, so that editors still offer the choices.
  | ((typeof BEHAVIOURS)[Id] extends { readonly otherValues: OtherValues } ? string & {} : never);

/** A value for every behaviour. */
export type Choices = { readonly [Id in BehaviourId]: Choice<Id> };

/** The behaviours a user switches; the rest keep their defaults. */
export type BehaviourOptions = { readonly [Id in BehaviourId]?: Choice<Id> };

/** Reads the value of a behaviour. */
export type Choose = <Id extends BehaviourId>(id: Id) => Choice<Id>;

/** Every ledger id, in the ledger's order. */
export const BEHAVIOUR_IDS = Object.keys(BEHAVIOURS) as BehaviourId[];

/** Thrown for an unknown behaviour id or value; the message says what may have been meant. */
export class BehaviourError extends Error {
  override readonly name = 'BehaviourError';
}

/**
 * Fills the defaults in and checks what the user switched.
 *
 * @throws {BehaviourError} on an unknown id, with those that are near, or an unknown value, with those that there are.
 */
export function parseBehaviours(options: Readonly<Record<string, unknown>> = {}): Choices {
  const switched = Object.entries(options).filter(([, value]) => value !== undefined);
  const defaults = BEHAVIOUR_IDS.map((id) => [id, BEHAVIOURS[id].default]);
  const choices = [...defaults, ...switched.map(([id, value]) => [id, parseBehaviour(id, value)])];
  return Object.freeze(Object.fromEntries(choices)) as Choices;
}

function parseBehaviour(id: string, value: unknown): string {
  if (!isBehaviourId(id)) {
    throw new BehaviourError(`There is no behaviour ${JSON.stringify(id)}; ${hintAt(id)}`);
  }
  const { choices, otherValues }: BehaviourDefinition = BEHAVIOURS[id];
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
 * Says whether a reply that depends on this behaviour must name it in `X-Mock-Assumed`:
 * unless the service document states the default and the default holds, it must.
 */
export function isAssumption(id: BehaviourId, value: string): boolean {
  return BEHAVIOURS[id].origin !== 'document' || value !== BEHAVIOURS[id].default;
}
