import { z } from 'zod';
import { type InputOf, lazy, type OutputOf } from '../basics/lazy-schema.ts';
import { ApiError, parseOrRefuse } from '../contract/errors.ts';
import { mayCall } from '../contract/operation.ts';
import { OPERATION_IDS, OPERATIONS } from '../contract/operations.ts';
import { wholeNumber } from '../contract/query.ts';
import { keyPrefix, TIERS } from '../contract/tiers.ts';
import { rowsInScope } from '../service/access/find-in-scope.ts';
import { createKey, describePrincipal, findPrincipal } from '../service/access/principal.ts';
import type { ReachableWorlds } from '../world/store/reachable-worlds.ts';
import { pick } from '../world/store/rows.ts';
import type { World } from '../world/store/world.ts';
import { tenantField } from './call-fields.ts';
import { type ControlScope, findStoredRow, findWorlds } from './control-scope.ts';

const exposureFields = () => ({
  /** The id of the key, for `rotateKey`; null for the operator's key. */
  id: z.string().nullable().describe("Null for the operator's key."),
  /** The first nine characters of the key, and `…`. */
  key: z.string().describe('The first nine characters of the key, and `…`.'),
  /** The whole key. */
  text: z.string().describe('The whole key.'),
  /** Its path in `mailbox.keys`, such as `acme.inboxes.helpdesk`; null for a key that was created later. */
  handle: z.string().nullable().describe('Its path in `mailbox.keys`; null for a key that was created later.'),
  /** Its tier. */
  tier: z.enum(TIERS),
  /** The id of its tenant; null for the operator's key. */
  tenantId: z.string().nullable().describe("Null for the operator's key."),
  /** The ids of the workspaces that it can reach. */
  workspaces: z.array(z.string()).describe('The ids of the workspaces that it can reach.'),
  /** The ids of the inboxes that it can reach, with their mail. */
  inboxes: z.array(z.string()).describe('The ids of the inboxes that it can reach.'),
  /** The ids of the webhooks that it can reach. */
  webhooks: z.array(z.string()).describe('The ids of the webhooks that it can reach.'),
  /** The ids of the operations that it may call, such as `createWebhook`. */
  operations: z.array(z.enum(OPERATION_IDS)).describe('The operations that it may call.'),
});

/** The schema of an exposure. */
export const exposureReply = lazy(() => z.strictObject(exposureFields()));

/** What a leak of a key exposes: everything that a request with it can reach. */
export interface Exposure extends OutputOf<ReturnType<typeof exposureFields>> {}

const rotatedFields = () => ({
  /** The id of the new key. */
  id: z.string(),
  /** The whole new key. */
  key: z.string().describe('The whole new key.'),
});

/** The schema of a rotated key. */
export const rotatedReply = lazy(() => z.strictObject(rotatedFields()));

/** The new key after a key was replaced. */
export interface RotatedKey extends OutputOf<ReturnType<typeof rotatedFields>> {}

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

/** Selects keys. Without fields, it selects all keys. */
export type KeyFilter = InputOf<ReturnType<typeof keyFields>>;

/** The control methods for keys. */
export interface KeyControls {
  /**
   * Returns what a leak of a key exposes, with the current behaviours of this mailbox.
   *
   * @throws {ApiError} NOT_FOUND for a key that is not valid.
   * @example
   * expect(mailbox.exposure(key).inboxes).toEqual([mailbox.ids.acme.inboxes.helpdesk]);
   */
  exposure(key: string): Exposure;
  /**
   * Returns what a leak of each valid key exposes. With `tenant`, returns only the keys of this tenant.
   *
   * @throws {ApiError} VALIDATION_ERROR for an invalid filter, NOT_FOUND for an unknown tenant.
   */
  exposures(filter?: KeyFilter): Exposure[];
  /**
   * Replaces a key of a tenant, workspace or inbox. The old key becomes invalid at once, and the streams that it opened
   * are closed. `mailbox.keys` still contains the old key.
   *
   * @throws {ApiError} NOT_FOUND for an unknown id.
   */
  rotateKey(id: string): RotatedKey;
}

/**
 * Creates the key methods of a mailbox. `fixtureKeys` contains the keys of the fixture by handle. Each call reads
 * `fixtureKeys` again, because `load` replaces the keys in it.
 */
export function createKeyControls(
  { worlds, readBehaviour, publishChange }: ControlScope,
  fixtureKeys: object,
): KeyControls {
  function describeExposure(key: string, handles: ReadonlyMap<unknown, string>): Exposure {
    const found = worlds.findKey(key);
    if (!found) throw new ApiError('NOT_FOUND', 'There is no valid key with this text.');
    const principal = findPrincipal(worlds, key);
    const { tier } = principal;
    const operations = OPERATION_IDS.filter((id) => mayCall(OPERATIONS[id], tier, readBehaviour));
    // A key can reach a kind of resource only if it may call an operation whose path names this kind, such as
    // `/v1/inboxes`.
    const idsOf = (kind: 'workspaces' | 'inboxes' | 'webhooks') => {
      // The operator has no tenant, and so no such resources.
      if (principal.tier === 'operator') return [];
      const mayReach = operations.some((id) => OPERATIONS[id].path.split('/')[2] === kind);
      return mayReach ? rowsInScope(principal, kind).map(({ id }) => id) : [];
    };
    return {
      id: 'row' in found ? found.row.id : null,
      key: `${keyPrefix(key)}…`,
      text: key,
      handle: handles.get(key) ?? null,
      ...pick(describePrincipal(principal), ['tier', 'tenantId']),
      workspaces: idsOf('workspaces'),
      inboxes: idsOf('inboxes'),
      webhooks: idsOf('webhooks'),
      operations,
    };
  }

  return {
    exposure: (key) => describeExposure(key, handlesOf(fixtureKeys)),
    exposures(filter = {}) {
      const { tenant, offset = 0, limit } = parseOrRefuse('The filter', keyFilter(), filter);
      const keys = tenant === undefined ? worlds.keys() : findWorlds(worlds, { tenant }).flatMap(keysOf);
      const end = limit === undefined ? keys.length : offset + limit;
      const handles = handlesOf(fixtureKeys);
      return keys.slice(offset, end).map((key) => describeExposure(key, handles));
    },
    rotateKey(id) {
      const rotated = rotateKey(worlds, id);
      publishChange('key', 'replaced');
      return rotated;
    },
  };
}

const keysOf = ({ apiKeys }: World) => apiKeys.all().map(({ key }) => key);

function rotateKey(worlds: ReachableWorlds, id: string): RotatedKey {
  const found = findStoredRow(worlds, 'apiKeys', id);
  if (!found) throw new ApiError('NOT_FOUND', 'There is no key of a tenant, workspace or inbox with this id.');
  const { world, row } = found;
  const added = world.addKey(createKey(world.environment, row));
  world.removeKey(id, { replacedBy: added.id });
  return { id: added.id, key: added.key };
}

/** Adds the handle of each key in `keys` to `handles`: its path below `path`, such as `acme.inboxes.helpdesk`. */
function handlesOf(keys: object, path = '', handles = new Map<unknown, string>()): Map<unknown, string> {
  for (const [name, value] of Object.entries(keys)) {
    if (typeof value === 'object') handlesOf(value, `${path}${name}.`, handles);
    else handles.set(value, path + name);
  }
  return handles;
}
