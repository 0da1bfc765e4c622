import type { Choices } from '../contract/behaviours.ts';
import { type Environment, newWebhookSecret } from '../environment.ts';
import type { Activity } from '../events/activity.ts';
import type { DeliveryFaultKind } from '../faults/fault.ts';
import type { Faults } from '../faults/faults.ts';
import type { WebhookRow } from '../store/rows.ts';
import type { World } from '../store/world.ts';
import type { Breaker } from './breaker.ts';
import { callReceiver } from './call-receiver.ts';
import type { Attempt, Delivery } from './delivery.ts';
import { splitLogin } from './login.ts';
import { createRequest } from './request.ts';

/** What delivering works with besides the tenant. */
export interface DeliveryContext {
  /** The outside world with real time, in which receivers live. */
  readonly outside: Environment;
  readonly choices: Choices;
  readonly activity: Activity;
  readonly faults: Faults;
}

/** What is sent, and what is to be wrong with it. */
export interface Sending {
  /** The payload as JSON. */
  readonly content: string;
  readonly fault: DeliveryFaultKind | undefined;
}

/** An attempt that was made; when the next is due is not decided yet. */
export interface MadeAttempt extends Omit<Attempt, 'nextAttemptAt'> {
  /** Whether the receiver was not called at all, because the emulator may not. */
  readonly isRefused: boolean;
}

const TIMEOUTS_MS: Record<Choices['deliveries.timeout'], number> = {
  '15s': 15_000,
  '30s': 30_000,
  '5s': 5_000,
  '1s': 1_000,
  '100ms': 100,
};

/** Sends a delivery to its webhook once, as they both are now. */
export async function makeAttempt(
  { outside, choices }: DeliveryContext,
  { clock, environment }: World,
  webhook: WebhookRow,
  delivery: Delivery,
  { content, fault, breaker }: Sending & { readonly breaker: Breaker },
): Promise<MadeAttempt> {
  const at = clock.now();
  const { href, login } = splitLogin(webhook.url);
  const { headers: signed, body } = createRequest({
    id: choices['deliveries.id'] === 'event' ? delivery.eventId : delivery.id,
    secret: webhook.secret,
    content,
    now: at,
    fault,
    newSecret: () => newWebhookSecret(environment),
    choices,
  });
  const headers = login ? { ...signed, ...login } : signed;
  const startedMs = outside.now().getTime();
  const timeoutMs = TIMEOUTS_MS[choices['deliveries.timeout']];
  const answer = await callReceiver(outside, href, { headers, body }, { timeoutMs, breaker });
  return {
    at: at.toISOString(),
    url: webhook.url,
    requestHeaders: headers,
    requestBody: body,
    ...answer,
    durationMs: Math.max(outside.now().getTime() - startedMs, 0),
  };
}
