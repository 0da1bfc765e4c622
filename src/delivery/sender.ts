import type { Choices } from '../contract/behaviours.ts';
import type { WebhookRow } from '../store/rows.ts';
import type { World } from '../store/world.ts';
import { type Breaker, createBreakers } from './breaker.ts';
import type { Delivery } from './delivery.ts';
import { createLane, type Lane } from './lane.ts';
import { type DeliveryContext, type MadeAttempt, makeAttempt, type Sending } from './make-attempt.ts';

/** Makes the attempts of one tenant, and knows which are being made. */
export interface Sender {
  /** Does a task when it is the turn of what goes to this webhook; the clock waits for it where it is asked to move on. */
  inTurn(webhookId: string, task: () => Promise<void>): void;
  /** Sends a delivery once; `undefined` when everything ended meanwhile. */
  send(delivery: Delivery, webhook: WebhookRow, sending: Sending): Promise<MadeAttempt | undefined>;
  /** The ids of the deliveries that are being sent. */
  inFlight(): ReadonlySet<string>;
  /** How many wait for what is being sent. */
  waiting(): number;
  /** Breaks off what is being sent. */
  end(): void;
}

const LANE_WIDTHS: Record<Choices['deliveries.order'], number> = { 'one-by-one': 1, parallel: 10 };

/** Creates the sender of a tenant. */
export function createSender(world: World, context: DeliveryContext): Sender {
  const width = LANE_WIDTHS[context.choices['deliveries.order']];
  /** Of the webhooks to which something goes at present. */
  const lanes = new Map<string, Lane>();
  /** What is being sent, and the id of its delivery. */
  const calls = new Map<Breaker, string>();
  const createBreaker = createBreakers();
  let isEnded = false;

  function openLane(webhookId: string): Lane {
    return createLane(width, {
      onWork: (work) => world.clock.track(work),
      onFailure: (error) => world.clock.fail(`a delivery to webhook ${webhookId}`, error),
      onIdle: () => lanes.delete(webhookId),
    });
  }

  return {
    inTurn(webhookId, task) {
      const lane = lanes.get(webhookId) ?? openLane(webhookId);
      lanes.set(webhookId, lane);
      lane.run(task);
    },
    async send(delivery, webhook, sending) {
      const breaker = createBreaker();
      calls.set(breaker, delivery.id);
      try {
        const made = await makeAttempt(context, world, webhook, delivery, { ...sending, breaker });
        return isEnded ? undefined : made;
      } finally {
        calls.delete(breaker);
        breaker.end();
      }
    },
    inFlight: () => new Set(calls.values()),
    waiting: () => [...lanes.values()].reduce((sum, lane) => sum + lane.waiting, 0),
    end() {
      isEnded = true;
      for (const { breakOff } of calls.keys()) breakOff(new Error('The deliveries were reset.'));
    },
  };
}
