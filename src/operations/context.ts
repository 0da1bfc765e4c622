import type { Principal } from '../access/principal.ts';
import type { Ledger } from '../contract/ledger-reader.ts';
import type { BodyOf, OperationId, ParamsOf, QueryOf, ReplyOf, TierOf } from '../contract/operations.ts';
import type { Environment } from '../environment.ts';
import type { EventBus } from '../events/event-bus.ts';
import type { Worlds } from '../store/worlds.ts';

/** What an operation works with besides its input; what it reads of the ledger is named in `X-Mock-Assumed`. */
export interface Context<Id extends OperationId = OperationId> extends Ledger {
  /** Who calls: one of the tiers that the operation's row names, so already authorised. */
  readonly principal: Extract<Principal, { tier: TierOf<Id> }>;
  readonly worlds: Worlds;
  readonly environment: Environment;
  /** Where the events that an operation causes are published. */
  readonly events: EventBus;
}

/** The validated input of an operation. */
export interface Input<Id extends OperationId> {
  readonly params: ParamsOf<Id>;
  readonly query: QueryOf<Id>;
  readonly body: BodyOf<Id>;
}

/**
 * What an operation answers; the status is that of its row unless it says otherwise.
 * A body of bytes goes out as it is, with the content type that its headers give.
 */
export interface Outcome<Body = unknown> {
  readonly body: Body;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * The code of one operation: synchronous, so that "check, then change" cannot be interrupted.
 *
 * @throws {ApiError} to end the request with an error.
 */
export type Run<Id extends OperationId> = (context: Context<Id>, input: Input<Id>) => Outcome<ReplyOf<Id>>;
