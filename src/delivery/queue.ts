import type { Choices } from '../contract/behaviours.ts';
import type { WebhookRow } from '../store/rows.ts';
import type { World } from '../store/world.ts';
import {
  type AbortableCall,
  createCallFactory,
  type DeliveryContext,
  type MadeAttempt,
  makeAttempt,
  type Sending,
} from './attempt.ts';
import type { Delivery } from './delivery.ts';

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
  /** Aborts what is being sent. */
  end(): void;
}

const QUEUE_WIDTHS: Record<Choices['deliveries.order'], number> = { 'one-by-one': 1, parallel: 10 };

/** Creates the sender of a tenant. */
export function createSender(world: World, context: DeliveryContext): Sender {
  const width = QUEUE_WIDTHS[context.choices['deliveries.order']];
  /** Of the webhooks to which something goes at present. */
  const queues = new Map<string, Queue>();
  /** What is being sent, and the id of its delivery. */
  const calls = new Map<AbortableCall, string>();
  const createCall = createCallFactory();
  let isEnded = false;

  function openQueue(webhookId: string): Queue {
    return createQueue(width, {
      onWork: (work) => world.clock.track(work),
      onFailure: (error) => world.clock.fail(`a delivery to webhook ${webhookId}`, error),
      onIdle: () => queues.delete(webhookId),
    });
  }

  return {
    inTurn(webhookId, task) {
      const queue = queues.get(webhookId) ?? openQueue(webhookId);
      queues.set(webhookId, queue);
      queue.run(task);
    },
    async send(delivery, webhook, sending) {
      const call = createCall();
      calls.set(call, delivery.id);
      try {
        const made = await makeAttempt(context, world, webhook, delivery, { ...sending, call });
        return isEnded ? undefined : made;
      } finally {
        calls.delete(call);
        call.end();
      }
    },
    inFlight: () => new Set(calls.values()),
    waiting: () => [...queues.values()].reduce((sum, queue) => sum + queue.waiting, 0),
    end() {
      isEnded = true;
      for (const { abort } of calls.keys()) abort(new Error('The deliveries were reset.'));
    },
  };
}

/** Does tasks in the order in which they come, so many at a time. */
interface Queue {
  /** Does a task when its turn comes. One that fails holds up none of the others. */
  run(task: () => Promise<void>): void;
  /** How many tasks wait for their turn. */
  readonly waiting: number;
}

/** Who is told what a queue does. */
interface QueueListeners {
  /** Gets the work of doing what there is, each time that it begins. */
  onWork(work: Promise<void>): void;
  /** Gets what a task throws. */
  onFailure(error: unknown): void;
  /** Is called each time that nothing is done any more. */
  onIdle(): void;
}

/** Creates an empty queue. */
function createQueue(width: number, { onWork, onFailure, onIdle }: QueueListeners): Queue {
  const tasks: (() => Promise<void>)[] = [];
  let working = 0;

  async function work(): Promise<void> {
    // Never at once: who brings the first task must not have to do it.
    await null;
    for (let task = tasks.shift(); task; task = tasks.shift()) {
      try {
        await task();
      } catch (error) {
        onFailure(error);
      }
    }
    working -= 1;
    if (working === 0) onIdle();
  }

  return {
    run(task) {
      tasks.push(task);
      if (working === width) return;
      working += 1;
      onWork(work());
    },
    get waiting() {
      return tasks.length;
    },
  };
}
