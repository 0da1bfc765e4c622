import { z } from 'zod';
import { ApiError } from '../contract/errors.ts';
import { EVENT_KINDS, type EventKind } from '../contract/events.ts';
import type { InputOf } from '../contract/input-of.ts';
import { parseOrRefuse } from '../contract/invalid.ts';
import { newId } from '../environment.ts';
import type { EventBus, MailEvent } from '../events/event-bus.ts';
import type { InboxRow, MessageRow, WebhookRow } from '../store/rows.ts';
import type { World } from '../store/world.ts';
import type { Worlds } from '../store/worlds.ts';
import { absent, findWorlds } from './find-worlds.ts';
import { inventMessage } from './invented-message.ts';

const ID_RULE = 'must be 1 to 200 letters, digits and signs, as in evt_1';

/**
 * What an event fired by hand is about, and what its payload says: `inboxId`, `messageId` and the rest are fields of
 * the payload, and any other field is added to it.
 */
export const triggerOptions = z.looseObject(
  {
    /** The id of the only tenant in which it happens. */
    tenant: z.string('must be the id of a tenant').toLowerCase().optional(),
    /** Deliver only to this webhook, even if it is not active or does not list the kind. */
    webhookId: z.string('must be the id of a webhook').toLowerCase().optional(),
    /** The inbox in which it happens; if left out, the first of each tenant. */
    inboxId: z.string('must be the id of an inbox').toLowerCase().optional(),
    /** The message it is about; one that is there gives the rest of the payload too. */
    messageId: z.string('must be the id of a message').max(200, 'must be at most 200 characters long').optional(),
    /** The id of the event, which goes out as a header. */
    id: z
      .string(ID_RULE)
      .regex(/^[\x21-\x7e]{1,200}$/, ID_RULE)
      .optional(),
    /** The recipients that the payload names. */
    to: z.union([z.string(), z.array(z.string()).transform((to) => to.join(', '))], 'must be addresses').optional(),
  },
  'must be an object',
);

/** What an event fired by hand is about, and what its payload says; any other field is added to the payload. */
export type TriggerOptions = InputOf<typeof triggerOptions>;

/** Where an event fired by hand happens. */
interface Place {
  readonly world: World;
  readonly inbox: InboxRow | undefined;
  readonly webhook: WebhookRow | undefined;
}

/**
 * Makes events of a kind by hand: one in the inbox that is named, or one in each tenant.
 *
 * @throws {ApiError} VALIDATION_ERROR for a kind that there is not, NOT_FOUND for a tenant, webhook or inbox that is
 *   not there; then nothing is fired.
 */
export function trigger(
  { worlds, events }: { readonly worlds: Worlds; readonly events: EventBus },
  kind: EventKind,
  options: TriggerOptions = {},
): MailEvent[] {
  if (!EVENT_KINDS.includes(kind)) {
    throw new ApiError('VALIDATION_ERROR', `The event must be one of ${EVENT_KINDS.join(', ')}.`);
  }
  const json = asJson(options);
  if (isDeep(json)) {
    throw new ApiError('VALIDATION_ERROR', `The event is not valid: it is nested more than ${MAX_DEPTH} deep.`);
  }
  const parsed = parseOrRefuse('The event', triggerOptions, json);
  const { tenant, webhookId, ...overrides } = parsed;
  const fired = findPlaces(worlds, parsed).map((place) => toEvent(place, kind, overrides));
  fired.forEach(events.publish);
  return fired;
}

/** What of the options goes into a payload; what is left out by `undefined` is left out. */
function asJson(options: TriggerOptions): unknown {
  try {
    return JSON.parse(JSON.stringify(options));
  } catch {
    throw new ApiError('VALIDATION_ERROR', 'The event is not valid: it has a value that JSON cannot write.');
  }
}

/** How deep a payload may be nested: what is deeper could not be written everywhere. */
const MAX_DEPTH = 100;

function isDeep(value: unknown): boolean {
  let level = [value];
  for (let depth = 0; depth <= MAX_DEPTH && level.length > 0; depth += 1) {
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []));
  }
  return level.length > 0;
}

type Wanted = Pick<TriggerOptions, 'tenant' | 'webhookId' | 'inboxId' | 'messageId'>;

function findPlaces(worlds: Worlds, wanted: Wanted): Place[] {
  const { webhookId = '', inboxId = inboxOf(worlds, wanted.messageId) } = wanted;
  const places = findWorlds(worlds, wanted).flatMap((world): Place[] => {
    const webhook = world.webhooks.get(webhookId);
    if (inboxId === undefined) return [{ world, webhook, inbox: firstInbox(world, webhook) }];
    const inbox = world.inboxes.get(inboxId);
    return inbox?.deletedAt === null ? [{ world, webhook, inbox }] : [];
  });
  if (inboxId !== undefined && places.length === 0) throw absent('inbox');
  return places;
}

/** The inbox of a message that is there. */
function inboxOf(worlds: Worlds, messageId = ''): string | undefined {
  const rows = worlds.all().map(({ messages }) => messages.get(messageId.toLowerCase()));
  return rows.find((row) => row !== undefined)?.inboxId;
}

/** The first inbox that is in the scope of the webhook, if there is one. */
function firstInbox({ inboxes }: World, webhook: WebhookRow | undefined): InboxRow | undefined {
  const workspaceId = webhook?.workspaceId ?? null;
  return inboxes
    .all()
    .find((inbox) => inbox.deletedAt === null && (workspaceId === null || inbox.workspaceId === workspaceId));
}

function toEvent({ world, inbox, webhook }: Place, kind: EventKind, overrides: Record<string, unknown>): MailEvent {
  const { environment } = world;
  const inboxId = inbox?.id ?? newId(environment);
  const message = messageOf(world, inboxId, kind, overrides);
  return {
    id: typeof overrides.id === 'string' ? overrides.id : `evt_${newId(environment)}`,
    kind,
    tenantId: world.id,
    workspaceId: inbox?.workspaceId ?? webhook?.workspaceId ?? firstWorkspace(world),
    inboxId,
    message,
    overrides,
    ...(webhook && { webhookId: webhook.id }),
  };
}

function firstWorkspace({ workspaces }: World): string {
  return workspaces.all()[0]?.id ?? '';
}

/** The message of the event: the one that is named, or one that is kept nowhere. */
function messageOf(world: World, inboxId: string, kind: EventKind, overrides: Record<string, unknown>): MessageRow {
  const { messageId = newId(world.environment) } = overrides;
  const known = world.messages.get(String(messageId).toLowerCase());
  const base = known ?? inventMessage(world, inboxId, kind, String(messageId));
  const texts = TEXTS.flatMap((field) => (overrides[field] == null ? [] : [[field, String(overrides[field])]]));
  return {
    ...base,
    ...Object.fromEntries(texts),
    ...(overrides.htmlBody === null && { htmlBody: null }),
    ...(typeof overrides.to === 'string' && { to: overrides.to.split(', ') }),
  };
}

/** The fields of a payload that are those of a message too, besides the recipients. */
const TEXTS = ['threadId', 'from', 'subject', 'plainBody', 'htmlBody', 'receivedAt'] as const;
