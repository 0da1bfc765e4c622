import { setTimeout as wait } from 'node:timers/promises';
import { formatAttempt } from '../../control/journal/entry-line.ts';
import { type ControlClient, undefinedIfRefused } from '../../control/table/client.ts';
import type { Attempt, Delivery } from '../../mailbox/without-msw.ts';

/** The longest wait for first attempts: longer than the timeout of a receiver. */
const MAX_WAIT_MS = 35_000;

/** The interval between two requests for the state of a delivery. */
const POLL_MS = 50;

/** Waits for each first attempt, for at most `MAX_WAIT_MS`. Does not wait for an attempt that is due later. */
export async function waitForFirstAttempts(
  client: Pick<ControlClient, 'getDelivery'>,
  deliveries: readonly Delivery[],
) {
  const deadline = performance.now() + MAX_WAIT_MS;
  const attempted: Delivery[] = [];
  for (const delivery of deliveries) {
    let latest = delivery;
    while (isAwaitingFirstAttempt(latest) && performance.now() < deadline) {
      await wait(POLL_MS);
      latest = (await client.getDelivery({ id: delivery.id }).catch(undefinedIfRefused)) ?? { ...latest, ...DROPPED };
    }
    attempted.push(latest);
  }
  return attempted;
}

const DROPPED = { state: 'dropped', reason: 'The emulator was reset, or its log was full.' } as const;

function isAwaitingFirstAttempt({ state, attempts, nextAttemptAt }: Delivery): boolean {
  return state === 'pending' && attempts.length === 0 && nextAttemptAt === null;
}

/** Returns the beginning of a sentence about a delivery. */
export function deliveryText({ id, event, webhookId }: Delivery): string {
  return `Delivery ${id} of ${event} to webhook ${webhookId}`;
}

/** Describes the result of the first attempt, or why there was none, as the end of a sentence. */
export function outcomeText(delivery: Delivery): string {
  const { state, reason, nextAttemptAt, attempts } = delivery;
  const [first] = attempts;
  if (first) return attemptText(delivery, first);
  if (reason !== null) return endSentence(`${state}: ${reason}`);
  return nextAttemptAt === null ? 'not tried yet.' : `its first attempt is due at ${nextAttemptAt}.`;
}

/** Describes the result of an attempt of a delivery as the end of a sentence. */
export function attemptText({ state, reason }: Delivery, attempt: Attempt): string {
  const { at, nextAttemptAt, error } = attempt;
  const retryInMs = nextAttemptAt === null ? null : Date.parse(nextAttemptAt) - Date.parse(at);
  const text = formatAttempt({ ...attempt, state, reason, retryInMs });
  return endSentence(error === null ? `delivered, ${text}` : text);
}

function endSentence(text: string): string {
  return text.endsWith('.') ? text : `${text}.`;
}
