import type { z } from 'zod';
import type { BehaviourValue } from './behaviours.ts';
import type { TiersBehaviour } from './operation.ts';
import { domainOperations } from './operations/domains.ts';
import { draftOperations } from './operations/drafts.ts';
import { inboxOperations } from './operations/inboxes.ts';
import { keyOperations } from './operations/keys.ts';
import { listOperations } from './operations/lists.ts';
import { messageOperations } from './operations/messages.ts';
import { sendOperations } from './operations/sending.ts';
import { serviceOperations } from './operations/service.ts';
import { tenantOperations } from './operations/tenants.ts';
import { threadOperations } from './operations/threads.ts';
import { webhookOperations } from './operations/webhooks.ts';
import { workspaceOperations } from './operations/workspaces.ts';
import type { TIER_SETS, Tier } from './tiers.ts';

/**
 * The operation table. It is the only source for routing, validation, authorisation, types and OpenAPI. A new row does
 * not compile until `service/operations/` implements it.
 */
export const OPERATIONS = {
  ...webhookOperations,
  ...keyOperations,
  ...tenantOperations,
  ...workspaceOperations,
  ...inboxOperations,
  ...messageOperations,
  ...sendOperations,
  ...threadOperations,
  ...draftOperations,
  ...listOperations,
  ...domainOperations,
  ...serviceOperations,
};

type Table = typeof OPERATIONS;

/** The id of an operation, such as `createWebhook`. */
export type OperationId = keyof typeof OPERATIONS;

/** Every operation id, in the order of the table. */
export const OPERATION_IDS = Object.keys(OPERATIONS) as OperationId[];

/** What the function in a field of a row returns. */
type BuiltBy<Row, Field extends string> = Row extends Record<Field, (...args: never[]) => infer Built> ? Built : never;

type Parsed<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;

/** The names of the parameters in a path. */
type NamesIn<Path> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;

/** The parsed path parameters of an operation. */
export type ParamsOf<Id extends OperationId> = Record<NamesIn<Table[Id]['path']>, string>;

/** The parsed body of an operation. */
export type BodyOf<Id extends OperationId> = Table[Id] extends { body: unknown }
  ? Parsed<BuiltBy<Table[Id], 'body'>>
  : Record<never, never>;

/** The parsed query of an operation. */
export type QueryOf<Id extends OperationId> = Table[Id] extends { query: unknown }
  ? Parsed<BuiltBy<Table[Id], 'query'>>
  : Record<never, never>;

/** The body of an operation's successful reply. */
export type ReplyOf<Id extends OperationId> =
  | Parsed<BuiltBy<Table[Id], 'reply'>>
  | Parsed<BuiltBy<Table[Id], 'otherReply'>>;

/** The tiers in the field `tiers` of a row. If a behaviour decides it, they are those of all its values. */
type TiersIn<Tiers> = Tiers extends readonly (infer Each extends Tier)[]
  ? Each
  : Tiers extends TiersBehaviour
    ? (typeof TIER_SETS)[BehaviourValue<Tiers> & keyof typeof TIER_SETS][number]
    : never;

/** Every tier that may call an operation under some values of the behaviours; `never` for a public operation. */
export type TierOf<Id extends OperationId> = TiersIn<Table[Id]['tiers']>;

/** A row of the operation table with its id. */
export type OperationRow = { readonly [Id in OperationId]: { readonly id: Id } & (typeof OPERATIONS)[Id] }[OperationId];

/** The operation table as a list. */
export const OPERATION_ROWS = OPERATION_IDS.map((id) => ({ id, ...OPERATIONS[id] })) as OperationRow[];
