import type { Choices } from '../contract/behaviours.ts';
import { type Environment, newWebhookSecret } from '../environment.ts';
import type { Activity } from '../events/activity.ts';
import type { DeliveryFaultKind } from '../faults/fault.ts';
import type { Faults } from '../faults/faults.ts';
import type { WebhookRow } from '../store/rows.ts';
import type { World } from '../store/world.ts';
import type { Attempt, Delivery } from './delivery.ts';
import { type Answer, noAnswer, toAnswer } from './receiver-answer.ts';
import { createRequest, type OutgoingRequest, splitLogin } from './request.ts';

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
  { content, fault, call }: Sending & { readonly call: AbortableCall },
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
  const answer = await callReceiver(outside, href, { headers, body }, { timeoutMs, call });
  return {
    at: at.toISOString(),
    url: webhook.url,
    requestHeaders: headers,
    requestBody: body,
    ...answer,
    durationMs: Math.max(outside.now().getTime() - startedMs, 0),
  };
}

/** Calls a receiver once; `call` aborts it. It never rejects: whatever goes wrong is in the answer. */
async function callReceiver(
  environment: Environment,
  url: string,
  { headers, body }: OutgoingRequest,
  { timeoutMs, call }: { readonly timeoutMs: number; readonly call: AbortableCall },
): Promise<Answer> {
  const late = () => call.abort(new Error(`The receiver did not answer within ${timeoutMs / 1000} s.`));
  const cancelTimer = environment.setTimer(timeoutMs, late);
  try {
    const init: RequestInit = { method: 'POST', headers, body, redirect: 'manual', signal: call.signal };
    return await Promise.race([environment.fetch(url, init).then(toAnswer), call.aborted.then(noAnswer)]);
  } catch (error) {
    return noAnswer(error);
  } finally {
    cancelTimer();
  }
}

/** One call that can be aborted. */
export interface AbortableCall {
  /** For what is called. */
  readonly signal: AbortSignal;
  /** Resolves with the reason when the call is aborted, also where what is called takes no notice. */
  readonly aborted: Promise<Error>;
  abort(reason: Error): void;
  /** Says that the call has ended. */
  end(): void;
}

/** For how many calls a signal is used: making one takes long, but each call leaves a listener on it for a while. */
const CALLS_PER_SIGNAL = 5;

/** Creates what makes abortable calls: each has its signal to itself until its call has ended, and then another may. */
export function createCallFactory(): () => AbortableCall {
  const free: { readonly controller: AbortController; readonly callsLeft: number }[] = [];

  return () => {
    const { controller, callsLeft } = free.pop() ?? {
      controller: new AbortController(),
      callsLeft: CALLS_PER_SIGNAL,
    };
    let resolve = (_: Error) => {};
    const aborted = new Promise<Error>((settle) => {
      resolve = settle;
    });
    return {
      signal: controller.signal,
      aborted,
      abort(reason) {
        resolve(reason);
        controller.abort(reason);
      },
      end() {
        if (callsLeft > 1 && !controller.signal.aborted) free.push({ controller, callsLeft: callsLeft - 1 });
      },
    };
  };
}
