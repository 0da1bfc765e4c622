import { setTimeout as wait } from 'node:timers/promises';
import type { Attempt, Delivery } from '../delivery/delivery.ts';
import { formatAttempt } from '../server/log/activity-log.ts';
import type { ControlClient } from './control-client.ts';

/** How long first attempts are waited for: longer than any receiver may take. */
const WAIT_MS = 35_000;

/** How long to wait between two looks. */
const LOOK_MS = 50;

/** The deliveries as they are once each has been tried, cannot be tried now, or has taken too long. */
export async function untilTried(
  client: Pick<ControlClient, 'get'>,
  deliveries: readonly Delivery[],
): Promise<readonly Delivery[]> {
  const deadline = performance.now() + WAIT_MS;
  const tried: Delivery[] = [];
  for (const delivery of deliveries) {
    let latest = delivery;
    while (isStillToTry(latest) && performance.now() < deadline) {
      await wait(LOOK_MS);
      latest = (await client.get<Delivery>(`deliveries/${delivery.id}`)) ?? { ...latest, ...FORGOTTEN };
    }
    tried.push(latest);
  }
  return tried;
}

const FORGOTTEN = { state: 'dropped', reason: 'The emulator was reset, or its log was full.' } as const;

function isStillToTry({ state, attempts, nextAttemptAt }: Delivery): boolean {
  return state === 'pending' && attempts.length === 0 && nextAttemptAt === null;
}

/** Says what came of the first attempt, or why there was none, as the end of a sentence. */
export function outcomeText(delivery: Delivery): string {
  const text = describe(delivery);
  return text.endsWith('.') ? text : `${text}.`;
}

function describe(delivery: Delivery): string {
  const { state, reason, nextAttemptAt, attempts } = delivery;
  const [first] = attempts;
  if (first) return describeAttempt(delivery, first);
  if (reason !== null) return `${state}: ${reason}`;
  return nextAttemptAt === null ? 'not tried yet' : `its first attempt is due at ${nextAttemptAt}`;
}

function describeAttempt({ state, reason }: Delivery, first: Attempt): string {
  const retryInMs = first.nextAttemptAt === null ? null : Date.parse(first.nextAttemptAt) - Date.parse(first.at);
  const text = formatAttempt({ ...first, state, reason, retryInMs });
  return first.error === null ? `delivered, ${text}` : text;
}
