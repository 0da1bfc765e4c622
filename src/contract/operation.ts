import { z } from 'zod';
import { lazy } from '../basics/lazy-schema.ts';
import {
  type BehaviourValue,
  type ChangeableId,
  changeableDefinition,
  type Origin,
  type ReadBehaviour,
} from './behaviours.ts';
import type { ErrorCode } from './errors.ts';
import { idInRequest, nameInRequest } from './schemas.ts';
import { TIER_SETS, TIERS_WITH_INBOX_ACCESS, type Tier } from './tiers.ts';

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** The id of a behaviour that decides which tiers may call an operation: its values are names of sets of tiers. */
export type TiersBehaviour = {
  [Id in ChangeableId]: BehaviourValue<Id> extends keyof typeof TIER_SETS ? Id : never;
}[ChangeableId];

/**
 * A row of the operation table: the definition of one operation. Routing, validation, authorisation, types and OpenAPI
 * are derived from it. `tiers`, `query`, `body` and `reply` can depend on behaviours. What is assumed about an operation
 * is in the ledger (`assumptionsAbout`).
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
  /**
   * The tiers that may call the operation, or the id of the behaviour that decides it; `public` means that no key is
   * required.
   */
  readonly tiers: 'public' | readonly Tier[] | TiersBehaviour;
  /** The parameters in the path. */
  readonly params?: () => z.ZodObject;
  /** The query parameters. Unknown parameters are ignored. */
  readonly query?: (readBehaviour: ReadBehaviour) => z.ZodObject;
  /** The request body. An operation without this schema accepts an empty object or no body. */
  readonly body?: (readBehaviour: ReadBehaviour) => z.ZodObject;
  /** The body of the successful reply. */
  readonly reply: BuildReply;
  readonly status: 200 | 201;
  /** The body and the status of a second kind of success, if there is one. */
  readonly otherReply?: BuildReply;
  readonly otherStatus?: 200 | 201;
  /** The media type of a reply of bytes; a wildcard means the stored media type. */
  readonly content?: 'message/rfc822' | '*/*';
  /** The errors that are specific to this operation. */
  readonly errors?: readonly ErrorCode[];
}

/** Returns the schema of the body of a successful reply; `undefined` for no body. */
type BuildReply = (readBehaviour: ReadBehaviour) => z.ZodType | undefined;

/** The fields that `defineOperations` adds to a row. */
type AddedFields = Pick<OperationDefinition, 'method' | 'summary' | 'origin' | 'status' | 'params'>;

/** The fields of a row as it is written in a table. */
type WrittenRow = Omit<OperationDefinition, keyof AddedFields | 'path'> &
  Partial<Pick<AddedFields, 'origin' | 'status'>>;

/** The path parameters whose value is a name, such as `{domain}`. The value of any other path parameter is an id. */
const NAME_PARAMETERS = ['address', 'domain'];

/**
 * Returns a function that creates a row of the operation table from the method and the path (`call`, such as
 * `GET /v1/webhooks/{id}`), the summary, and the fields of the row. The row gets each field of `common` that it does not
 * set itself; without an origin it gets `assumed`, and without a status 200. The type of the row keeps its exact values.
 */
export function defineOperations<const Common extends Partial<WrittenRow>>(common: Common) {
  return <
    const Path extends OperationDefinition['path'],
    const Row extends Omit<WrittenRow, keyof Common> & Partial<WrittenRow>,
  >(
    call: `${Method} ${Path}`,
    summary: string,
    row: Row,
  ): Row & Omit<Common, keyof Row> & AddedFields & { readonly path: Path } => {
    const [method, path] = call.split(' ') as [Method, Path];
    const names = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = '']) => name);
    const defined = { origin: 'assumed' as const, status: 200, ...common, ...row, method, path, summary };
    if (names.length === 0) return defined;
    const schemas = () =>
      names.map((name) => [name, NAME_PARAMETERS.includes(name) ? nameInRequest() : idInRequest()] as const);
    return { ...defined, params: lazy(() => z.object(Object.fromEntries(schemas()))) };
  };
}

/** Creates a row of the operation table. */
export const defineOperation = defineOperations({});

const inboxAccess = { section: '5', tiers: TIERS_WITH_INBOX_ACCESS } as const;

/** Creates the row of an operation within an inbox. Section 5 of the service document says which tiers may call it. */
export const inInbox = defineOperations(inboxAccess);

/** Creates the row of an operation within an inbox, if the reference describes the operation. */
export const inInboxFromReference = defineOperations({ ...inboxAccess, origin: 'reference' });

/** Returns a function that picks the choice for the current value of a behaviour. */
export function chooseBy<Id extends ChangeableId, Choices extends Record<BehaviourValue<Id>, unknown>>(
  id: Id,
  choices: () => Choices,
) {
  return (readBehaviour: ReadBehaviour) => choices()[readBehaviour(id)];
}

/** Returns the tiers that may call an operation: none for a public operation, which needs no key. */
export function tiersOf({ tiers }: Pick<OperationDefinition, 'tiers'>, readBehaviour: ReadBehaviour): readonly Tier[] {
  if (tiers === 'public') return [];
  return typeof tiers === 'string' ? TIER_SETS[readBehaviour(tiers)] : tiers;
}

/** Returns whether a tier may call an operation. A behaviour is read only if its values differ about this tier. */
export function mayCall(
  { tiers }: Pick<OperationDefinition, 'tiers'>,
  tier: Tier,
  readBehaviour: ReadBehaviour,
): boolean {
  if (tiers === 'public') return true;
  if (typeof tiers !== 'string') return tiers.includes(tier);
  const allows = (set: string): boolean => TIER_SETS[set as keyof typeof TIER_SETS].some((each) => each === tier);
  const [first = '', ...others] = Object.keys(changeableDefinition(tiers).choices);
  return allows(others.every((set) => allows(set) === allows(first)) ? first : readBehaviour(tiers));
}
