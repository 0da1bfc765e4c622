import { parseForeignJson } from '../../basics/foreign-json.ts';
import { isObject } from '../../basics/objects.ts';
import { toPrintable, toPrintableJson } from '../../basics/printable.ts';
import { EVENT_KINDS, type EventKind } from '../../contract/events.ts';
import type { ControlClient } from '../../control/table/client.ts';
import {
  createInterruptible,
  type GivenFlags,
  parseEach,
  parsePair,
  quote,
  textOfFlag,
  UsageError,
} from '../command.ts';
import { createEmulatorClient, createWrongServerError } from '../control-client.ts';
import { deliveryText, outcomeText, waitForFirstAttempts } from './first-attempt.ts';

/** Triggers an event in a running emulator. */
export const trigger = createInterruptible(async (terminal, flags, { argument: event = '' }) => {
  const kind = EVENT_KINDS.find((known) => known === event);
  if (!kind) throw new UsageError(`The event must be one of ${EVENT_KINDS.join(', ')}, not ${quote(event)}.`);
  const { url, client } = createEmulatorClient(flags);
  const created = await client.triggerEvent({ ...payloadOf(flags), ...targetOf(flags), event: kind });
  if (!Array.isArray(created?.deliveries)) throw createWrongServerError(url);
  const deliveries = await waitForFirstAttempts(client, created.deliveries);
  if (flags.json?.value === true) return terminal.out(toPrintableJson({ deliveries }));
  if (deliveries.length === 0) {
    terminal.out(`No active webhook matches ${event}, so nothing is delivered.`);
    for (const { id, url } of await listInactive(client, kind, textOfFlag(flags.tenant)))
      terminal.out(
        `Webhook ${id} to ${url} lists ${event}, but is inactive; --webhook ${id} delivers to it all the same.`,
      );
  }
  for (const delivery of deliveries) terminal.out(toPrintable(`${deliveryText(delivery)}: ${outcomeText(delivery)}`));
});

/** Lists the inactive webhooks for a kind of event, of one tenant or of all. */
async function listInactive(client: ControlClient, kind: EventKind, tenant: string | undefined) {
  const { webhooks } = await client.listWebhookSettings();
  const isWanted = (tenantId: string) => tenant === undefined || tenantId === tenant.toLowerCase();
  return webhooks.filter(({ isActive, events, tenantId }) => !isActive && events.includes(kind) && isWanted(tenantId));
}

function targetOf({ tenant, webhook, inbox, message }: GivenFlags): object {
  const fields = { tenant, webhookId: webhook, inboxId: inbox, messageId: message };
  return Object.fromEntries(Object.entries(fields).flatMap(([field, flag]) => (flag ? [[field, flag.value]] : [])));
}

function payloadOf({ data, set }: GivenFlags): object {
  const pairs = parseEach(set, (text, source) => parsePair(text, source, '<field>=<text>'));
  return { ...(data && parseObject(String(data.value), data.source)), ...Object.fromEntries(pairs) };
}

function parseObject(text: string, source: string): object {
  const error = new UsageError(`${source} must be a JSON object such as {"subject":"Hello"}, not ${quote(text)}.`);
  try {
    const value = parseForeignJson(text);
    if (isObject(value)) return value;
  } catch {
    throw error;
  }
  throw error;
}
