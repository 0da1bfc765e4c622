import { z } from 'zod';
import { parseForeignJson } from '../basics/foreign-json.ts';
import { isNestedDeeper, MAX_JSON_DEPTH } from '../basics/json-depth.ts';
import { type InputOf, lazy } from '../basics/lazy-schema.ts';
import { ApiError, parseOrRefuse } from '../contract/errors.ts';
import { EVENT_KINDS, type EventKind } from '../contract/events.ts';
import type { MailEvent } from '../service/journal/entry-data.ts';
import type { Journals } from '../service/journal/journals.ts';
import { newId } from '../world/environment.ts';
import type { ReachableWorlds } from '../world/store/reachable-worlds.ts';
import type { InboxRow, MessageRow, WebhookRow } from '../world/store/rows.ts';
import { canonicalAddress, type World } from '../world/store/world.ts';
import { findWorlds, notFound } from './control-scope.ts';
import { createEventMessage } from './samples/receive-sample.ts';

const ID = /^[\x21-\x7e]{1,200}$/;
const ID_RULE = 'must be 1 to 200 letters, digits and signs, as in evt_1';

const triggerFields = () => ({
  /** Trigger the event only in the tenant with this id. */
  tenant: z.string('must be the id of a tenant').toLowerCase().optional(),
  /** Deliver only to this webhook, even if it is not active or does not list the kind. */
  webhookId: z.string('must be the id of a webhook').toLowerCase().optional(),
  /** The inbox of the event. Default: the first inbox of each tenant. */
  inboxId: z.string('must be the id of an inbox').toLowerCase().optional(),
  /** The id of the message in the payload. If the message exists, it also provides the other fields of the payload. */
  messageId: z.string('must be the id of a message').max(200, 'must be at most 200 characters long').optional(),
  /** The id of the event, which is sent as a header. */
  id: z.string(ID_RULE).regex(ID, ID_RULE).optional(),
  /** The recipients in the payload. */
  to: z.union([z.string(), z.array(z.string()).transform((to) => to.join(', '))], 'must be addresses').optional(),
});

/**
 * The schema of the target and the payload of a triggered event. All fields except `tenant` and `webhookId` are fields
 * of the payload, including fields that are not listed here.
 */
export const triggerOptions = lazy(() => z.looseObject(triggerFields(), 'must be an object'));

/** The target and the payload of a triggered event. A field that is not listed here is added to the payload. */
export type TriggerOptions = InputOf<ReturnType<typeof triggerFields>> & { readonly [field: string]: unknown };

/** The tenant, inbox and webhook of a triggered event. */
type EventContext = ReturnType<typeof findEventContexts>[number];

/**
 * Publishes one event for the given inbox or, without an inbox, one event in each selected tenant.
 *
 * @throws {ApiError} VALIDATION_ERROR for an unknown kind or an invalid payload, NOT_FOUND for an unknown tenant,
 *   webhook or inbox. After an error no event is published.
 */
export function trigger(
  worlds: ReachableWorlds,
  journals: Journals,
  kind: EventKind,
  options: TriggerOptions = {},
): void {
  if (!EVENT_KINDS.includes(kind)) {
    throw new ApiError('VALIDATION_ERROR', `The event must be one of ${EVENT_KINDS.join(', ')}.`);
  }
  const json = toPlainJson(options);
  const parsed = parseOrRefuse('The event', triggerOptions(), json);
  const { tenant, webhookId, ...overrides } = parsed;
  const triggered = findEventContexts(worlds, parsed).map(
    (context) => [context.world, toEvent(context, kind, overrides)] as const,
  );
  for (const [world, event] of triggered) journals.publish(world, 'mail-triggered', event);
}

/** Converts the options to plain JSON, without fields that are `undefined`. */
function toPlainJson(options: TriggerOptions): unknown {
  if (isNestedDeeper(options)) {
    throw new ApiError('VALIDATION_ERROR', `The event is nested more than ${MAX_JSON_DEPTH} levels deep.`);
  }
  try {
    return parseForeignJson(JSON.stringify(options));
  } catch {
    throw new ApiError('VALIDATION_ERROR', 'The event is not valid: it has a value that JSON cannot represent.');
  }
}

type Target = Pick<TriggerOptions, 'tenant' | 'webhookId' | 'inboxId' | 'messageId'>;

function findEventContexts(worlds: ReachableWorlds, target: Target) {
  const { webhookId = '', inboxId = inboxOf(worlds, target.messageId) } = target;
  const contexts = findWorlds(worlds, target).flatMap((world) => {
    const webhook = world.webhooks.get(webhookId);
    if (inboxId === undefined) return [{ world, webhook, inbox: firstInbox(world, webhook) }];
    const inbox = world.inboxes.get(inboxId);
    return inbox?.deletedAt === null ? [{ world, webhook, inbox }] : [];
  });
  if (inboxId !== undefined && contexts.length === 0) throw notFound('inbox');
  return contexts;
}

/** Returns the inbox of an existing message. */
function inboxOf(worlds: ReachableWorlds, messageId = ''): string | undefined {
  const rows = worlds.all().map(({ messages }) => messages.get(messageId.toLowerCase()));
  return rows.find((row) => row !== undefined)?.inboxId;
}

/** Returns the first inbox within the scope of the webhook. */
function firstInbox({ inboxes }: World, webhook: WebhookRow | undefined): InboxRow | undefined {
  const workspaceId = webhook?.workspaceId ?? null;
  return inboxes
    .all()
    .find((inbox) => inbox.deletedAt === null && (workspaceId === null || inbox.workspaceId === workspaceId));
}

function toEvent(
  { world, inbox, webhook }: EventContext,
  event: EventKind,
  overrides: Record<string, unknown>,
): MailEvent {
  const { environment } = world;
  const inboxId = inbox?.id ?? newId(environment);
  const message = messageOf(world, inboxId, event, overrides);
  return {
    id: typeof overrides.id === 'string' ? overrides.id : `evt_${newId(environment)}`,
    event,
    workspaceId: inbox?.workspaceId ?? webhook?.workspaceId ?? world.workspaces.all()[0]?.id ?? '',
    inboxId,
    inbox: inbox ? canonicalAddress(inbox) : '',
    message,
    attachments: [],
    source: 'test',
    overrides,
    ...(webhook && { webhookId: webhook.id }),
  };
}

/**
 * Returns the message of the event, with the values of the payload that the test gave. The message is the stored
 * message with the given id or, if there is none, a new message, which is not stored.
 */
function messageOf(world: World, inboxId: string, kind: EventKind, overrides: Record<string, unknown>): MessageRow {
  const { messageId = newId(world.environment) } = overrides;
  const known = world.messages.get(String(messageId).toLowerCase());
  const base = known ?? createEventMessage(world, inboxId, kind, String(messageId));
  const texts = TEXT_FIELDS.flatMap((field) => (overrides[field] == null ? [] : [[field, String(overrides[field])]]));
  return {
    ...base,
    ...Object.fromEntries(texts),
    ...(overrides.htmlBody === null && { htmlBody: null }),
    ...(typeof overrides.to === 'string' && { to: overrides.to.split(', ') }),
  };
}

/** The text fields that a payload and a message have in common. */
const TEXT_FIELDS = ['threadId', 'from', 'subject', 'plainBody', 'htmlBody', 'receivedAt'] as const;
