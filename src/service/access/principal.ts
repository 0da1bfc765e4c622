import { foldAddress } from '../../basics/domain-name.ts';
import type { BehaviourValues, ReadBehaviour } from '../../contract/behaviours.ts';
import { ApiError } from '../../contract/errors.ts';
import type { HeaderReader } from '../../contract/header-fields.ts';
import { isStreamPath } from '../../contract/stream-protocol.ts';
import { isKeyText, TIER_PREFIX } from '../../contract/tiers.ts';
import { type Environment, newId, newKey, timestampNow } from '../../world/environment.ts';
import type { ReachableWorlds } from '../../world/store/reachable-worlds.ts';
import type { ApiKeyRow } from '../../world/store/rows.ts';
import { canonicalAddress, type KeyLocation, type Rotation, type World } from '../../world/store/world.ts';

/** The caller that a key identifies: its tier, its tenant's world, and the workspace or inbox of the key. */
export type Principal =
  | { readonly tier: 'operator'; readonly world: undefined; readonly workspaceId: null; readonly inboxId: null }
  | { readonly tier: 'tenant'; readonly world: World; readonly workspaceId: null; readonly inboxId: null }
  | { readonly tier: 'workspace'; readonly world: World; readonly workspaceId: string; readonly inboxId: null }
  | { readonly tier: 'inbox'; readonly world: World; readonly workspaceId: string; readonly inboxId: string };

/** A principal that belongs to a tenant: any except the operator. */
export type TenantPrincipal = Exclude<Principal, { tier: 'operator' }>;

/** A client that has logged in to IMAP or SMTP with the password of an inbox. */
export type InboxPrincipal = Extract<Principal, { tier: 'inbox' }>;

/** The workspace and the inbox of a resource. An id is null if the resource has no single workspace or inbox. */
export interface RowScope {
  readonly workspaceId: string | null;
  readonly inboxId?: string | null;
}

/**
 * Finds the principal of a key.
 *
 * @throws {ApiError} UNAUTHORIZED when the key is malformed, unknown or revoked.
 */
export function findPrincipal(worlds: ReachableWorlds, key: string): Principal {
  const principal = principalOf(worlds, key);
  if (principal) return principal;
  if (isKeyText(key)) {
    // If there are several emulators, each knows only its own keys, so the reason mentions the URL.
    const problem = 'The API key is not valid: it is unknown or has been revoked';
    throw unauthorized(`${problem}.`, () => {
      const rotation = findRotation(worlds, key);
      if (!rotation) return `${problem}; the key of a sandbox is valid only at the URL where the sandbox was created.`;
      const { keyId, newKeyId, at } = rotation;
      const time = at.toISOString().slice(11, 19);
      return `The API key ${keyId} is not valid: it was rotated at ${time}; the new key is ${newKeyId}.`;
    });
  }
  if (VALUES_AS_TEXT.includes(key)) {
    throw unauthorized(
      `The API key is the text "${key}", so the variable of the client that should have a key has none.`,
    );
  }
  const prefixes = Object.values(TIER_PREFIX).join(', ');
  throw unauthorized(
    `The API key is malformed; a key is one of ${prefixes} followed by at least ten letters, digits, _ or -.`,
  );
}

/** What JavaScript and Python write into a header if a variable has no value. */
const VALUES_AS_TEXT = ['undefined', 'null', 'None', 'NaN', '[object Object]'];

/** Returns the principal of a key; `undefined` if the key is unknown or revoked. */
export function principalOf(worlds: ReachableWorlds, key: string): Principal | undefined {
  const location = worlds.findKey(key);
  return location && toPrincipal(location);
}

function toPrincipal(location: KeyLocation): Principal {
  if ('tier' in location) return { tier: 'operator', world: undefined, workspaceId: null, inboxId: null };
  const { world, row } = location;
  const { tier, ownerId } = row;
  if (tier === 'tenant') return { tier, world, workspaceId: null, inboxId: null };
  if (tier === 'workspace') return { tier, world, workspaceId: ownerId, inboxId: null };
  return { tier, world, workspaceId: world.inboxes.get(ownerId)?.workspaceId ?? '', inboxId: ownerId };
}

/** Returns the id of a key, also of a key that was rotated; null for an operator key or an unknown key. */
export function findKeyId(worlds: ReachableWorlds, key = ''): string | null {
  const location = worlds.findKey(key);
  if (!location) return findRotation(worlds, key)?.keyId ?? null;
  return 'row' in location ? location.row.id : null;
}

function findRotation(worlds: ReachableWorlds, key: string): Rotation | undefined {
  const found = worlds.all().find((world) => world.rotationOf(key));
  return found?.rotationOf(key);
}

/** Returns the tier of a principal, and the ids of its tenant, workspace and inbox, each null if there is none. */
export function describePrincipal({ tier, world, workspaceId, inboxId }: Principal) {
  return { tier, tenantId: world?.id ?? null, workspaceId, inboxId };
}

/** Returns whether a principal may access a resource of its own tenant (service document, section 5). */
export function isInScope({ tier, workspaceId, inboxId }: Principal, scope: RowScope): boolean {
  if (tier === 'inbox') return scope.inboxId === inboxId;
  return tier === 'tenant' || (tier === 'workspace' && scope.workspaceId === workspaceId);
}

/** Who sends a request, as far as its key says. Nobody has checked yet whether the key may do what it asks for. */
export interface Sender {
  /** The key, valid or not; `undefined` if the request has none. */
  readonly key: string | undefined;
  /** The principal of the key; `undefined` unless the key is valid. */
  readonly principal: Principal | undefined;
  /** Whether the headers have two different keys. `auth.both-headers` says which one counts, or refuses both. */
  readonly hasTwoKeys: boolean;
  /** Whether the key is in the query, where only a request for an event stream may have it. */
  readonly isInQuery: boolean;
}

/** The parts of a request that can carry a key. */
interface CredentialSource {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: HeaderReader;
}

/** Finds who sends a request. Everything that has to know it asks here, or the exchange of the request. */
export function findSender(
  { worlds, behaviours }: { readonly worlds: ReachableWorlds; readonly behaviours: BehaviourValues },
  request: CredentialSource,
): Sender {
  const found = findKey(request, behaviours);
  return { ...found, principal: found.key === undefined ? undefined : principalOf(worlds, found.key) };
}

/**
 * Finds the key of a request in `X-API-Key` or `Authorization: Bearer` (service document, section 5). A request for an
 * event stream may have it in its query, if no header has one (rule 1).
 */
export function findKey(
  { path, query, headers }: CredentialSource,
  behaviours: Pick<BehaviourValues, 'auth.both-headers'>,
): Omit<Sender, 'principal'> {
  const apiKey = headers.get('x-api-key') || undefined;
  const bearer = /^bearer +(\S.*)$/i.exec(headers.get('authorization') ?? '')?.[1]?.trim();
  const hasTwoKeys = apiKey !== undefined && bearer !== undefined && apiKey !== bearer;
  const isBearer = hasTwoKeys && behaviours['auth.both-headers'] === 'authorization';
  const inHeader = isBearer ? bearer : (apiKey ?? bearer);
  if (inHeader !== undefined) return { key: inHeader, hasTwoKeys, isInQuery: false };
  const inQuery = (isStreamPath(path) && query.get('api_key')) || undefined;
  return { key: inQuery, hasTwoKeys, isInQuery: inQuery !== undefined };
}

/**
 * Returns the key of the sender of a request.
 *
 * @throws {ApiError} UNAUTHORIZED when there is no key, when it is where it may not be, or when there are two different
 *   keys and `auth.both-headers` is `refuse`.
 */
export function requireKey(
  { key, hasTwoKeys, isInQuery }: Sender,
  { path, query }: CredentialSource,
  readBehaviour: ReadBehaviour,
): string {
  if (hasTwoKeys && readBehaviour('auth.both-headers') === 'refuse') {
    throw unauthorized('X-API-Key and Authorization carry different keys; send one of them.');
  }
  if (key !== undefined && !isInQuery) return key;
  const isStream = isStreamPath(path);
  const mayBeInQuery = isStream && readBehaviour('stream.key') === 'header-or-query';
  if (key !== undefined && mayBeInQuery) return key;
  const problem =
    query.has('api_key') && !isStream
      ? 'The api_key query parameter is for WebSocket connections only'
      : 'The request has no API key';
  const inQuery = mayBeInQuery ? ', or as ?api_key=<key>' : '';
  throw unauthorized(`${problem}; send one as X-API-Key: <key> or Authorization: Bearer <key>${inQuery}.`);
}

/** Creates the error for a missing or invalid key, with the `WWW-Authenticate` header that HTTP requires. */
function unauthorized(message: string, internalReason?: () => string): ApiError {
  const headers = { 'www-authenticate': 'Bearer' };
  return new ApiError('UNAUTHORIZED', message, { headers, ...(internalReason && { internalReason }) });
}

/** Creates a key for a tenant, a workspace or an inbox. The key becomes valid when `World.addKey` adds it. */
export function createKey(
  environment: Environment,
  { tier, ownerId, name = null }: Pick<ApiKeyRow, 'tier' | 'ownerId'> & Partial<Pick<ApiKeyRow, 'name'>>,
): ApiKeyRow {
  const [id, key] = [newId(environment), newKey(environment, TIER_PREFIX[tier])];
  return { id, key, tier, ownerId, name, createdAt: timestampNow(environment) };
}

/** Finds the inbox that has this canonical address and this password. An API key is not accepted as password. */
export function findLogin(worlds: ReachableWorlds, user: string, password: string): InboxPrincipal | undefined {
  const address = foldAddress(user);
  const found = worlds.findAddress(address);
  const inbox = found?.world.inboxes.get(found.inboxId);
  if (!found || !inbox || canonicalAddress(inbox) !== address || inbox.imapPassword !== password) return undefined;
  return { tier: 'inbox', world: found.world, workspaceId: inbox.workspaceId, inboxId: inbox.id };
}
