import type { z } from 'zod';
import type { AssumptionId, Origin, ReadBehaviour } from './behaviours.ts';
import type { ErrorCode } from './errors.ts';
import type { Tier } from './tiers.ts';
import { TIERS_WITH_INBOX_ACCESS } from './tiers.ts';

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/**
 * A row of the operation table: the definition of one operation. Routing, validation, authorisation, types and OpenAPI
 * are derived from it; `replies/` has the bodies of its replies. `tiers`, `query` and `body` can depend on behaviours.
 */
export interface OperationDefinition {
  readonly method: Method;
  /** The path with its parameters in braces, such as `/v1/webhooks/{id}`. */
  readonly path: `/${string}`;
  readonly summary: string;
  /** The source of the operation. */
  readonly origin: Origin;
  /** The section of the service document that describes or names the operation. */
  readonly section?: string;
  /** The tiers that may call the operation; `public` means that no key is required. */
  readonly tiers: 'public' | ((readBehaviour: ReadBehaviour) => readonly Tier[]);
  /** The assumptions that affect every call; the operation's code records the others. */
  readonly assumes?: readonly AssumptionId[];
  readonly params?: () => z.ZodObject;
  /** The query parameters; unknown ones are ignored. */
  readonly query?: (readBehaviour: ReadBehaviour) => z.ZodObject;
  /** The request body; an operation without one accepts an empty object or no body. */
  readonly body?: (readBehaviour: ReadBehaviour) => z.ZodObject;
  readonly status: 200 | 201;
  /** The status of a second kind of success, if there is one. */
  readonly otherStatus?: 200 | 201;
  /** The media type of a reply of bytes; a wildcard means the stored media type. */
  readonly content?: 'message/rfc822' | '*/*';
  /** The errors that are specific to this operation. */
  readonly errors?: readonly ErrorCode[];
}

type Added = Pick<OperationDefinition, 'method' | 'path' | 'summary' | 'origin' | 'status'>;

type Written = Omit<OperationDefinition, keyof Added> & Partial<Pick<Added, 'origin' | 'status'>>;

/**
 * Types a row of the operation table without widening it. `call` is its method and its path. By default its origin is
 * `assumed`, and its status is 200.
 */
export function defineOperation<const Row extends Written>(
  call: `${Method} ${OperationDefinition['path']}`,
  summary: string,
  row: Row,
): Row & Added {
  const [method, path] = call.split(' ') as [Method, OperationDefinition['path']];
  return { origin: 'assumed', status: 200, ...row, method, path, summary };
}

/** Returns the schema of the body of a successful reply, which can depend on behaviours; `undefined` for no body. */
export type BuildReply = (readBehaviour: ReadBehaviour) => z.ZodType | undefined;

/** Types the replies of some operations without widening them. */
export function defineReplies<const Replies extends Readonly<Record<string, BuildReply>>>(replies: Replies): Replies {
  return replies;
}

/** Common fields of the operations within an inbox; section 5 of the service document defines their access. */
export const withinInbox = { section: '5', tiers: () => TIERS_WITH_INBOX_ACCESS } as const;

/** Common fields of those that the reference describes. */
export const withinInboxByReference = { ...withinInbox, origin: 'reference' } as const;
