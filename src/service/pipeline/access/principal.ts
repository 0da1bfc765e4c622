import type { ReadBehaviour } from '../../../contract/behaviours.ts';
import { ApiError } from '../../../contract/errors.ts';
import type { HeaderReader } from '../../../contract/header-fields.ts';
import { isKeyText, TIER_PREFIX, type Tier } from '../../../contract/tiers.ts';
import type { ReachableWorlds } from '../../../world/store/reachable-worlds.ts';
import type { ApiKeyRow } from '../../../world/store/rows.ts';
import type { KeyHolder, Rotation, World } from '../../../world/store/world.ts';
import { canonicalAddress } from '../../../world/store/world.ts';

/** The caller that a key identifies: its tier, its tenant's world, and the workspace or inbox of the key. */
export type Principal =
  | { readonly tier: 'operator' }
  | { readonly tier: 'tenant'; readonly world: World }
  | { readonly tier: 'workspace'; readonly world: World; readonly workspaceId: string }
  | { readonly tier: 'inbox'; readonly world: World; readonly workspaceId: string; readonly inboxId: string };

/** A principal that belongs to a tenant: any except the operator. */
export type TenantPrincipal = Exclude<Principal, { tier: 'operator' }>;

/**
 * Finds the principal of a key.
 *
 * @throws {ApiError} UNAUTHORIZED when the key is malformed, unknown or revoked.
 */
export function findPrincipal(worlds: ReachableWorlds, key: string): Principal {
  const principal = principalOf(worlds, key);
  if (principal) return principal;
  throw isKeyText(key) ? unknownKey(worlds, key) : malformedKey();
}

/** Returns the principal of a key; `undefined` if the key is unknown or revoked. */
export function principalOf(worlds: ReachableWorlds, key: string): Principal | undefined {
  const keyHolder = worlds.findKey(key);
  return keyHolder && toPrincipal(keyHolder);
}

/** Returns the id of a key, which may have been rotated meanwhile; null for the operator's or an unknown key. */
export function findKeyId(worlds: ReachableWorlds, key = ''): string | null {
  const keyHolder = worlds.findKey(key);
  if (!keyHolder) return findRotation(worlds, key)?.keyId ?? null;
  return 'row' in keyHolder ? keyHolder.row.id : null;
}

function findRotation(worlds: ReachableWorlds, key: string): Rotation | undefined {
  const found = worlds.all().find((world) => world.rotationOf(key));
  return found?.rotationOf(key);
}

/** Returns the tier of a principal and the ids that its key is bound to, each null if it is bound to none. */
export function describePrincipal(principal: Principal) {
  return {
    tier: principal.tier,
    tenantId: 'world' in principal ? principal.world.id : null,
    workspaceId: 'workspaceId' in principal ? principal.workspaceId : null,
    inboxId: 'inboxId' in principal ? principal.inboxId : null,
  };
}

function toPrincipal(keyHolder: KeyHolder): Principal {
  return 'tier' in keyHolder ? { tier: 'operator' } : BY_TIER[keyHolder.row.tier](keyHolder.world, keyHolder.row);
}

const BY_TIER: Record<ApiKeyRow['tier'], (world: World, row: ApiKeyRow) => TenantPrincipal> = {
  tenant: (world) => ({ tier: 'tenant', world }),
  workspace: (world, row) => ({ tier: 'workspace', world, workspaceId: row.ownerId }),
  inbox: (world, row) => ({
    tier: 'inbox',
    world,
    workspaceId: world.inboxes.get(row.ownerId)?.workspaceId ?? '',
    inboxId: row.ownerId,
  }),
};

/** The workspace and the inbox that a resource belongs to. An id is null if it belongs to none, or to several. */
export interface RowScope {
  readonly workspaceId: string | null;
  readonly inboxId: string | null;
}

/** Returns whether a principal's tier may call an operation. */
export function mayCall(principal: Principal, tiers: readonly Tier[]): boolean {
  return tiers.includes(principal.tier);
}

/** Returns whether a principal may access a resource of its own tenant (service document, section 5). */
export function isInScope(principal: Principal, scope: RowScope): boolean {
  switch (principal.tier) {
    case 'operator':
      return false;
    case 'tenant':
      return true;
    case 'workspace':
      return scope.workspaceId === principal.workspaceId;
    case 'inbox':
      return scope.inboxId === principal.inboxId;
  }
}

const HOW_TO_SEND = 'send one as X-API-Key: <key> or Authorization: Bearer <key>';

/** The parts of a request that can carry a key. */
interface CredentialSource {
  readonly headers: HeaderReader;
  readonly query: URLSearchParams;
}

/**
 * Reads the key of an HTTP request from `X-API-Key` or `Authorization: Bearer` (service document, section 5).
 * `?api_key=` is not read here, because it is only for WebSocket connections.
 *
 * @throws {ApiError} UNAUTHORIZED when the key is missing.
 */
export function readKey(source: CredentialSource, readBehaviour: ReadBehaviour): string {
  const key = readHeaderKey(source, readBehaviour);
  if (key === undefined) throw missingKey(source.query);
  return key;
}

/**
 * Reads the key of a request for an event stream from a header. If no header has one, reads it from `?api_key=`
 * (service document, section 5, rule 1).
 *
 * @throws {ApiError} UNAUTHORIZED as `readKey` does.
 */
export function readStreamKey(source: CredentialSource, readBehaviour: ReadBehaviour): string {
  const isQueryAllowed = readBehaviour('stream.key') === 'header-or-query';
  const queryKey = (isQueryAllowed && source.query.get('api_key')) || undefined;
  const key = readHeaderKey(source, readBehaviour) ?? queryKey;
  if (key !== undefined) return key;
  throw unauthorized(`The request has no API key; ${HOW_TO_SEND}${isQueryAllowed ? ', or as ?api_key=<key>' : ''}.`);
}

/** Returns the key that the headers of a request contain, valid or not. */
export function sentKey(headers: HeaderReader): string | undefined {
  return headers.get('x-api-key') || readBearer(headers);
}

function readHeaderKey({ headers }: CredentialSource, readBehaviour: ReadBehaviour): string | undefined {
  return pickKey(headers.get('x-api-key') || undefined, readBearer(headers), readBehaviour);
}

function readBearer(headers: HeaderReader): string | undefined {
  return /^bearer +(\S.*)$/i.exec(headers.get('authorization') ?? '')?.[1]?.trim();
}

function pickKey(
  apiKey: string | undefined,
  bearer: string | undefined,
  readBehaviour: ReadBehaviour,
): string | undefined {
  if (apiKey === undefined || bearer === undefined || apiKey === bearer) return apiKey ?? bearer;
  const value = readBehaviour('auth.both-headers');
  if (value === 'refuse') throw unauthorized('X-API-Key and Authorization carry different keys; send one of them.');
  return value === 'x-api-key' ? apiKey : bearer;
}

function missingKey(query: URLSearchParams): ApiError {
  return query.has('api_key')
    ? unauthorized(`The api_key query parameter is for WebSocket connections only; ${HOW_TO_SEND}.`)
    : unauthorized(`The request has no API key; ${HOW_TO_SEND}.`);
}

const UNKNOWN_KEY = 'The API key is not valid: it is unknown or has been revoked';

/** Says when a key was rotated. One of several processes does not know the keys of the others. */
function unknownKey(worlds: ReachableWorlds, key: string): ApiError {
  const internalReason = () => {
    const rotation = findRotation(worlds, key);
    if (!rotation) return `${UNKNOWN_KEY}; a sandbox lives at the URL of its creation.`;
    const { keyId, newKeyId, at } = rotation;
    const time = at.toISOString().slice(11, 19);
    return `The API key ${keyId} is not valid: it was rotated at ${time}; the new key is ${newKeyId}.`;
  };
  return unauthorized(`${UNKNOWN_KEY}.`, internalReason);
}

function malformedKey(): ApiError {
  const prefixes = Object.values(TIER_PREFIX).join(', ');
  return unauthorized(
    `The API key is malformed; a key is one of ${prefixes} followed by at least ten letters, digits, _ or -.`,
  );
}

/** Creates the error for a missing or invalid key, with the `WWW-Authenticate` header that HTTP requires. */
function unauthorized(message: string, internalReason?: () => string): ApiError {
  const headers = { 'www-authenticate': 'Bearer' };
  return new ApiError('UNAUTHORIZED', message, { headers, ...(internalReason && { internalReason }) });
}

/** Who has logged in to IMAP or SMTP: an inbox, and its world. */
export type InboxPrincipal = Extract<Principal, { readonly tier: 'inbox' }>;

/** Finds the inbox that has this canonical address and this password. Keys do not matter. */
export function findLogin(worlds: ReachableWorlds, user: string, password: string): InboxPrincipal | undefined {
  const address = user.toLowerCase();
  const found = worlds.findAddress(address);
  const inbox = found?.world.inboxes.get(found.inboxId);
  if (!found || !inbox || canonicalAddress(inbox) !== address || inbox.imapPassword !== password) return undefined;
  return { tier: 'inbox', world: found.world, workspaceId: inbox.workspaceId, inboxId: inbox.id };
}
