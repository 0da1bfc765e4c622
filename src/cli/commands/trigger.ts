import { EVENT_KINDS, type EventKind } from '../../contract/events.ts';
import type { Delivery } from '../../mailbox/without-msw.ts';
import {
  type GivenFlags,
  parseEach,
  parsePair,
  quote,
  type RunCommand,
  type Terminal,
  textOf,
  UsageError,
} from '../command.ts';
import { findEmulator, notAnEmulator } from '../control-client.ts';
import { outcomeText, waitForFirstAttempts } from './first-attempt.ts';

/** Triggers an event in a running emulator. */
export const trigger: RunCommand = async (terminal, flags, event = '') => {
  await Promise.race([triggerEvent(terminal, flags, event), terminal.interrupted]);
};

async function triggerEvent(terminal: Terminal, flags: GivenFlags, event: string): Promise<void> {
  checkKind(event);
  const { url, client } = findEmulator(flags);
  const created = await client.triggerEvent({ ...payloadOf(flags), ...targetOf(flags), event });
  if (!Array.isArray(created?.deliveries)) throw notAnEmulator(url);
  const deliveries = await waitForFirstAttempts(client, created.deliveries);
  if (flags.json?.value === true) return terminal.out(JSON.stringify({ deliveries }));
  if (deliveries.length === 0) terminal.out(`No active webhook matches ${event}, so nothing is delivered.`);
  for (const delivery of deliveries) terminal.out(describe(delivery));
}

function describe(delivery: Delivery): string {
  const { id, event, webhookId } = delivery;
  return `Delivery ${id} of ${event} to webhook ${webhookId}: ${outcomeText(delivery)}`;
}

function checkKind(event: string): asserts event is EventKind {
  if (EVENT_KINDS.some((kind) => kind === event)) return;
  throw new UsageError(`The event must be one of ${EVENT_KINDS.join(', ')}, not ${quote(event)}.`);
}

/** The flags that select the target of the event, and the field of the control call for each. */
const TARGET_FIELDS = { tenant: 'tenant', webhook: 'webhookId', inbox: 'inboxId', message: 'messageId' };

function targetOf(flags: GivenFlags): object {
  return Object.fromEntries(
    Object.entries(TARGET_FIELDS).flatMap(([flag, field]) => (flags[flag] ? [[field, textOf(flags[flag])]] : [])),
  );
}

function payloadOf({ data, set }: GivenFlags): object {
  const pairs = parseEach(set, (text, source) => parsePair(text, source, '<field>=<text>'));
  return { ...(data && parseObject(String(data.value), data.source)), ...Object.fromEntries(pairs) };
}

function parseObject(text: string, source: string): object {
  const value = readJson(text);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new UsageError(`${source} must be a JSON object such as {"subject":"Hello"}, not ${quote(text)}.`);
}

/** Parses a text as JSON; `undefined` if it is not JSON. */
function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
