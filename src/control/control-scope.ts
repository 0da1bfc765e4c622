import { z } from 'zod';
import { foldAddress } from '../basics/domain-name.ts';
import { lazy } from '../basics/lazy-schema.ts';
import { type BehaviourReader, createSilentReader } from '../contract/behaviours.ts';
import type { ServiceClient } from '../contract/client/client-types.ts';
import { ApiError, parseOrRefuse } from '../contract/errors.ts';
import type { OpenApiDocument } from '../contract/openapi/document.ts';
import type { ConnectedHandlers } from '../service/delivery/connected-handlers.ts';
import type { Dispatcher } from '../service/delivery/dispatcher.ts';
import type { TestChange } from '../service/journal/entry-data.ts';
import { findInbox, type LocalRecipient } from '../service/mail/route.ts';
import type { Service } from '../service/pipeline/service.ts';
import type { Collections } from '../world/store/database.ts';
import type { PartOf } from '../world/store/parts.ts';
import type { ReachableWorlds } from '../world/store/reachable-worlds.ts';
import type { RowKind } from '../world/store/rows.ts';
import type { World } from '../world/store/world.ts';
import type { Feeds } from './journal/feed.ts';
import type { MailLog } from './mail/mail-log.ts';
import type { DeliveredSamples } from './samples/delivered-samples.ts';

/** The parts of a mailbox that the controls of the mailbox and of its sandboxes need. */
export interface ControlledParts {
  readonly baseUrl: string;
  readonly service: Service;
  readonly dispatcher: Dispatcher;
  readonly feeds: Feeds;
  readonly mailLog: MailLog;
  /** Returns the handlers in this process that the webhooks of a tenant call. */
  readonly handlersOf: PartOf<ConnectedHandlers, World>;
  /** Creates a client of the service, with an API key. */
  readonly createClient: (key: string) => ServiceClient;
  /** Returns the samples that were delivered to a tenant. */
  readonly samplesOf: PartOf<DeliveredSamples>;
  /** Returns a copy of the OpenAPI document, which is created on the first call. */
  openApi(): OpenApiDocument;
  /**
   * Discards the OpenAPI document after behaviours have changed, so that the next call of `openApi` creates it again.
   */
  discardDocument(): void;
}

/** What controls apply to: the whole mailbox, or a sandbox. */
export interface ControlScope extends ControlledParts, BehaviourReader {
  readonly worlds: ReachableWorlds;
  /** Finds the inbox with an address. */
  findInbox(address: string): LocalRecipient | undefined;
  /** Adds an entry for a change by a test of the whole mailbox or, if the scope is a sandbox, of the sandbox. */
  publishChange(
    kind: 'checkpoint' | 'key' | 'journal' | 'behaviours',
    action: TestChange['action'],
    name?: string,
  ): void;
}

/** Creates the scope of controls that apply to these worlds. */
export function createScope(parts: ControlledParts, worlds: ReachableWorlds): ControlScope {
  const reader = createSilentReader(parts.service.behaviours);
  const { sandboxId = null } = worlds;
  return {
    ...parts,
    ...reader,
    worlds,
    findInbox: (address) => findInbox({ worlds, ...reader }, foldAddress(address)),
    publishChange: (kind, action, name) =>
      void parts.service.journals.publish(sandboxId, kind, { action, tenantId: sandboxId, name: name ?? null }),
  };
}

/** The tenant to which a call applies. Without `tenant`, the call applies to all tenants. */
export interface TenantOption {
  /** The id of a tenant. */
  readonly tenant?: string | undefined;
}

/** The schema of the option that names a tenant. */
const tenantOption = lazy(() =>
  z.strictObject({ tenant: z.string('must be the id of a tenant').optional() }, 'must be an object'),
);

/** Checks the options of a function that may name a tenant. @throws {ApiError} VALIDATION_ERROR */
export function parseTenantOption(functionName: string, options: TenantOption | undefined): TenantOption {
  return options === undefined ? {} : parseOrRefuse(`The input of ${functionName}`, tenantOption(), options);
}

/** The target of a control call. Without a field, the call applies to all tenants. */
type Target = { readonly [Name in 'tenant' | 'webhookId']?: string | undefined };

/**
 * Finds the worlds to which a control call applies: the world of the tenant, the world of the webhook, or all worlds.
 *
 * @throws {ApiError} NOT_FOUND for an unknown tenant or webhook.
 */
export function findWorlds(worlds: ReachableWorlds, { tenant, webhookId }: Target): World[] {
  const candidates = worlds.all().filter(({ id }) => tenant === undefined || id === tenant);
  if (tenant !== undefined && candidates.length === 0) throw notFound('tenant');
  const found = candidates.filter(({ webhooks }) => webhookId === undefined || webhooks.get(webhookId));
  if (webhookId !== undefined && found.length === 0) throw notFound('webhook');
  return found;
}

/** Maximum number of tenants that an error lists. */
const MAX_NAMED = 5;

/**
 * Returns the tenant with this id or, without an id, the only tenant. `rule` is the start of the error for several
 * tenants, such as `The webhook needs a tenant`.
 *
 * @throws {ApiError} NOT_FOUND for an unknown tenant, VALIDATION_ERROR if there is none or if there are several.
 */
export function findOnlyTenant(worlds: ReachableWorlds, tenant: string | undefined, rule: string): World {
  const found = findWorlds(worlds, { tenant });
  const [world] = found;
  if (!world) throw new ApiError('VALIDATION_ERROR', `${rule}, because there is no tenant.`);
  if (found.length === 1) return world;
  const names = found.slice(0, MAX_NAMED).map(({ id, tenants }) => `${tenants.get(id)?.name} (${id})`);
  if (found.length > MAX_NAMED) names.push('…');
  throw new ApiError('VALIDATION_ERROR', `${rule}, because there are several tenants: ${names.join(', ')}.`);
}

/** Finds the stored row with this id, and the world that contains it; `undefined` if no world contains such a row. */
export function findStoredRow<Kind extends RowKind>(worlds: ReachableWorlds, kind: Kind, id: string) {
  for (const world of worlds.all()) {
    const collections: Collections = world;
    const row = collections[kind].get(id);
    if (row) return { world, row };
  }
  return undefined;
}

/** Creates the error for an unknown id in a control call. */
export function notFound(noun: string): ApiError {
  return new ApiError('NOT_FOUND', `There is no ${noun} with this id.`);
}
