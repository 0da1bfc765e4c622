import type { z } from 'zod';
import type { AssumptionId, Choose, Origin } from './behaviours.ts';
import type { ErrorCode } from './errors.ts';
import type { Tier } from './tiers.ts';

/** The HTTP methods that the service has. */
type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/**
 * One row of the contract. Routing, validation, authorisation, types and OpenAPI are all read from it.
 * `tiers`, `query`, `body` and `reply` are functions of the behaviour ledger, because a choice may shape them.
 */
export interface OperationDefinition {
  readonly method: Method;
  /** The path with its parameters in braces, such as `/v1/webhooks/{id}`. */
  readonly path: `/${string}`;
  readonly summary: string;
  /** Where the operation comes from: the service document or the reference. */
  readonly origin: Origin;
  /** The section of the service document that shows or names it, if one does. */
  readonly section?: string;
  /** The tiers that may call it; `public` needs no key. */
  readonly tiers: 'public' | ((choose: Choose) => readonly Tier[]);
  /** The assumptions that always shape it; those that shape it now and then are noted by its code. */
  readonly assumes?: readonly AssumptionId[];
  /** The path parameters. */
  readonly params?: z.ZodObject;
  /** The query parameters; those that it does not name are ignored. */
  readonly query?: (choose: Choose) => z.ZodObject;
  /** The request body; an operation without one takes an empty object or nothing. */
  readonly body?: (choose: Choose) => z.ZodObject;
  /** The status of a success. */
  readonly status: 200 | 201;
  /** The body of a success; `undefined` where a choice says that there is none. */
  readonly reply: (choose: Choose) => z.ZodType | undefined;
  /** Where there is a second kind of success: its status and its body. */
  readonly otherReply?: { readonly status: 200 | 201; readonly reply: (choose: Choose) => z.ZodType };
  /** The media type of a success that is not JSON; its body is bytes. A wildcard stands for whatever was stored. */
  readonly content?: 'message/rfc822' | '*/*';
  /** The errors of its own, besides those that any operation of its kind can meet. */
  readonly errors?: readonly ErrorCode[];
}

/** Types a row of the operation table without widening it. */
export function defineOperation<const Row extends OperationDefinition>(row: Row): Row {
  return row;
}
