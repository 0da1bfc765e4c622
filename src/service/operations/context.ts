import type { BodyOf, OperationId, ParamsOf, QueryOf, ReplyOf, TierOf } from '../../contract/operations.ts';
import type { ReachableWorlds } from '../../world/store/reachable-worlds.ts';
import type { Worlds } from '../../world/store/worlds.ts';
import type { Principal } from '../access/principal.ts';
import type { MailContext } from '../mail/store-message.ts';

/** The context of an operation. The header `X-Mock-Assumed` of the reply lists the behaviours that were read. */
export interface Context<Id extends OperationId = OperationId> extends Omit<MailContext, 'worlds'> {
  /** The caller. It is already authorised, so its tier is one of the tiers in the row of the operation. */
  readonly principal: Extract<Principal, { tier: TierOf<Id> }>;
  /** The world of the caller's tenant; `undefined` for the operator. */
  readonly world: Context<Id>['principal']['world'];
  /** The tenants that the caller can reach. The operator can reach every tenant. */
  readonly worlds: TierOf<Id> extends 'operator' ? Worlds : ReachableWorlds;
  /** How long the bodies of a list may be together, if the request says so. */
  readonly maxBodiesLength: number | undefined;
  /** The ids of the messages or drafts of a list whose bodies the operation has shortened. */
  readonly shortenedIds: Set<string>;
}

/** The validated input of an operation. */
export interface Input<Id extends OperationId> {
  readonly params: ParamsOf<Id>;
  readonly query: QueryOf<Id>;
  readonly body: BodyOf<Id>;
}

/**
 * The outcome of an operation. Without `status`, the status of the operation's row is used. A body of bytes is sent
 * unchanged, with the content type from `headers`.
 */
export interface Outcome<Body = unknown> {
  readonly body: Body;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * The code of one operation. It is synchronous, so no other request can change what it has checked.
 *
 * @throws {ApiError} to end the request with an error.
 */
export type Run<Id extends OperationId> = (context: Context<Id>, input: Input<Id>) => Outcome<ReplyOf<Id>>;
