import type { ReadBehaviour } from '../../contract/behaviours.ts';
import type { EventKind } from '../../contract/events.ts';
import { newId, newWebhookSecret, timestampNow } from '../../world/environment.ts';
import type { WebhookRow } from '../../world/store/rows.ts';
import type { World } from '../../world/store/world.ts';

/** The values of a new webhook. */
interface NewWebhook extends Pick<WebhookRow, 'url' | 'workspaceId'> {
  readonly events?: readonly EventKind[] | undefined;
}

/** Stores a new webhook. */
export function insertWebhook(
  { world, readBehaviour }: { readonly world: World; readonly readBehaviour: ReadBehaviour },
  { url, workspaceId, events = ['message.received'] }: NewWebhook,
): WebhookRow {
  const { environment } = world;
  const [id, secret, createdAt] = [newId(environment), newWebhookSecret(environment), timestampNow(environment)];
  const kinds = kindsToStore(events, readBehaviour);
  const isActive = readBehaviour('webhooks.create.is-active') === 'active';
  return world.webhooks.insert({ id, workspaceId, url, events: kinds, secret, isActive, createdAt });
}

/** Returns the URL that a webhook stores. The behaviour is read only if both of its values give another text. */
export function urlToStore(url: string, readBehaviour: ReadBehaviour): string {
  const { href } = new URL(url);
  return href !== url && readBehaviour('webhooks.create.url-form') === 'normalised' ? href : url;
}

/** Returns the kinds of event that a webhook stores. `webhooks.create.repeated-events` decides about repeated kinds. */
export function kindsToStore(events: readonly EventKind[], readBehaviour: ReadBehaviour): readonly EventKind[] {
  const kinds = [...new Set(events)];
  if (kinds.length === events.length) return events;
  return readBehaviour('webhooks.create.repeated-events') === 'merged' ? kinds : events;
}
