import { z } from 'zod';
import type { InputOf } from '../basics/input-of.ts';
import { lazy } from '../basics/lazy.ts';
import { ApiError, parseOrRefuse } from '../contract/errors.ts';
import { OPERATION_IDS, OPERATIONS, type OperationId } from '../contract/operations.ts';
import { wholeNumber } from '../contract/query.ts';
import { keyPrefix, TIERS, type Tier } from '../contract/tiers.ts';
import { createKey } from '../service/pipeline/access/create-key.ts';
import { rowsInScope } from '../service/pipeline/access/find-in-scope.ts';
import { describePrincipal, findPrincipal, mayCall, type Principal } from '../service/pipeline/access/principal.ts';
import type { Service } from '../service/pipeline/exchange.ts';
import type { ReachableWorlds } from '../world/store/reachable-worlds.ts';
import type { World } from '../world/store/world.ts';
import { tenantField } from '../world/target-fields.ts';
import { findStoredRow, findWorlds } from './find-worlds.ts';

/** What a leak of a key exposes: everything that a request with it can reach. */
export interface Exposure {
  /** The id of the key, for `rotateKey`; null for the operator's key. */
  readonly id: string | null;
  /** The first nine characters of the key, and `…`. */
  readonly key: string;
  /** The whole key. */
  readonly text: string;
  /** Where `mailbox.keys` has it, such as `acme.inboxes.helpdesk`; null for a key that was created later. */
  readonly handle: string | null;
  /** Its tier. */
  readonly tier: Tier;
  /** The id of its tenant; null for the operator's key. */
  readonly tenantId: string | null;
  /** The ids of the workspaces that it can reach. */
  readonly workspaces: readonly string[];
  /** The ids of the inboxes that it can reach, with their mail. */
  readonly inboxes: readonly string[];
  /** The ids of the webhooks that it can reach. */
  readonly webhooks: readonly string[];
  /** The ids of the operations that it may call, such as `createWebhook`. */
  readonly operations: readonly OperationId[];
}

/** The key that has replaced another one. */
export interface RotatedKey {
  /** The id of the new key. */
  readonly id: string;
  /** The whole new key. */
  readonly key: string;
}

const keyFields = () => ({
  /** Only keys of the tenant or sandbox with this id. */
  tenant: tenantField().optional(),
  /** How many keys to skip. Default: 0. */
  offset: wholeNumber(0, 1_000_000_000).optional(),
  /** How many keys to return at most. Default: all. */
  limit: wholeNumber(1, 1_000_000_000).optional(),
});

/** The schema of a filter of keys. */
export const keyFilter = lazy(() => z.strictObject(keyFields(), 'must be an object'));

/** Selects keys. Without fields, all are selected. */
export type KeyFilter = InputOf<ReturnType<typeof keyFields>>;

/** The schema of a list of keys with what a leak of each exposes. */
export const exposuresReply = lazy(() =>
  z.strictObject({
    keys: z.array(
      z.strictObject({
        id: z.string().nullable().describe("Null for the operator's key."),
        key: z.string().describe('The first nine characters of the key, and `…`.'),
        text: z.string().describe('The whole key.'),
        handle: z.string().nullable().describe('Where `mailbox.keys` has it; null for a key that was created later.'),
        tier: z.enum(TIERS),
        tenantId: z.string().nullable().describe("Null for the operator's key."),
        workspaces: z.array(z.string()).describe('The ids of the workspaces that it can reach.'),
        inboxes: z.array(z.string()).describe('The ids of the inboxes that it can reach.'),
        webhooks: z.array(z.string()).describe('The ids of the webhooks that it can reach.'),
        operations: z.array(z.enum(OPERATION_IDS)).describe('The operations that it may call.'),
      }),
    ),
  }),
);

/** The control methods for keys. */
export interface KeyControls {
  /**
   * Returns what a leak of a key exposes, under the behaviours of this mailbox.
   *
   * @throws {ApiError} NOT_FOUND for a key that is not valid.
   * @example
   * expect(mailbox.exposure(key).inboxes).toEqual([mailbox.ids.acme.inboxes.helpdesk]);
   */
  exposure(key: string): Exposure;
  /**
   * Returns what a leak of each valid key exposes, or of those of one tenant. @throws {ApiError} VALIDATION_ERROR or
   * NOT_FOUND.
   */
  exposures(filter?: KeyFilter): Exposure[];
  /**
   * Replaces a key of a tenant, workspace or inbox. The old one becomes invalid at once, and its streams are closed.
   * `mailbox.keys` still has the old one.
   *
   * @throws {ApiError} NOT_FOUND for an unknown id.
   */
  rotateKey(id: string): RotatedKey;
}

/** The kinds of resources that an exposure lists. Each is also the first part of the paths of its operations. */
const KINDS = ['workspaces', 'inboxes', 'webhooks'] as const;

/** Creates the key methods of a mailbox. `fixtureKeys` are the keys by handle, which `load` replaces. */
export function createKeyControls(
  { worlds, operationFor }: Pick<Service, 'operationFor'> & { readonly worlds: ReachableWorlds },
  fixtureKeys: object,
): KeyControls {
  function exposure(key: string, handles: ReadonlyMap<unknown, string>): Exposure {
    const holder = worlds.findKey(key);
    if (!holder) throw new ApiError('NOT_FOUND', 'There is no valid key with this text.');
    const principal = findPrincipal(worlds, key);
    const operations = OPERATION_IDS.filter((id) => {
      const { tiers } = operationFor(id);
      return tiers === undefined || mayCall(principal, tiers);
    });
    const [workspaces = [], inboxes = [], webhooks = []] = KINDS.map((kind) =>
      reachableIds(principal, kind, operations),
    );
    return {
      id: 'row' in holder ? holder.row.id : null,
      key: `${keyPrefix(key)}…`,
      text: key,
      handle: handles.get(key) ?? null,
      tier: principal.tier,
      tenantId: describePrincipal(principal).tenantId,
      workspaces,
      inboxes,
      webhooks,
      operations,
    };
  }

  return {
    exposure: (key) => exposure(key, handlesOf(fixtureKeys)),
    exposures(filter = {}) {
      const { tenant, offset = 0, limit } = parseOrRefuse('The filter', keyFilter(), filter);
      const keys = tenant === undefined ? worlds.keys() : findWorlds(worlds, { tenant }).flatMap(keysOf);
      const handles = handlesOf(fixtureKeys);
      return keys.slice(offset, limit === undefined ? limit : offset + limit).map((key) => exposure(key, handles));
    },
    rotateKey: (id) => rotateKey(worlds, id),
  };
}

const keysOf = ({ apiKeys }: World) => apiKeys.all().map(({ key }) => key);

function rotateKey(worlds: ReachableWorlds, id: string): RotatedKey {
  const found = findStoredRow(worlds, 'apiKeys', id);
  if (!found) throw new ApiError('NOT_FOUND', 'There is no key of a tenant, workspace or inbox with this id.');
  const { world, row } = found;
  const added = world.addKey(createKey(world.environment, row));
  world.removeKey(id, added.id);
  return { id: added.id, key: added.key };
}

/** Returns the ids of a kind in the scope of a key that may call at least one operation on this kind. */
function reachableIds(
  principal: Principal,
  kind: (typeof KINDS)[number],
  operations: readonly OperationId[],
): readonly string[] {
  const mayReach = operations.some((id) => OPERATIONS[id].path.split('/')[2] === kind);
  return mayReach && principal.tier !== 'operator' ? rowsInScope(principal, kind).map(({ id }) => id) : [];
}

/** Returns the path in `mailbox.keys` of each key there. */
function handlesOf(keys: object, path = '', handles = new Map<unknown, string>()): Map<unknown, string> {
  for (const [name, value] of Object.entries(keys)) {
    if (typeof value === 'object') handlesOf(value, `${path}${name}.`, handles);
    else handles.set(value, path + name);
  }
  return handles;
}
