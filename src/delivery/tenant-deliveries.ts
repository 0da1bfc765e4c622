import { ApiError } from '../contract/errors.ts';
import { newId, timestampNow } from '../environment.ts';
import type { MailEvent } from '../events/event-bus.ts';
import type { DeliveryFaultKind, Fault } from '../faults/fault.ts';
import type { WebhookRow } from '../store/rows.ts';
import type { World } from '../store/world.ts';
import { attemptEntry, endEntry } from './activity-entries.ts';
import { type Delivery, type DeliveryLosses, type DeliveryState, failureReason } from './delivery.ts';
import { createDeliveryLog, type DeliveryLog } from './delivery-log.ts';
import { hears } from './hears.ts';
import { createJobs, type Job } from './jobs.ts';
import type { DeliveryContext, MadeAttempt } from './make-attempt.ts';
import { outcomeOf } from './outcome.ts';
import { type DeliveryPayload, toPayload } from './payload.ts';
import { createSender } from './sender.ts';

/** The deliveries of one tenant: what is on its way, what came of the rest, and what is to go wrong. */
export interface TenantDeliveries {
  readonly log: DeliveryLog;
  /** Sends an event to every webhook that is to hear of it; answers the ids of the deliveries. */
  accept(event: MailEvent): string[];
  /** Sends a delivery once more, now. @throws {ApiError} CONFLICT while it is being sent, or without its webhook. */
  redeliver(delivery: Delivery): void;
  /** Sends so many of what is held, oldest first, and answers it. */
  release(count: number, webhookId: string | undefined): Delivery[];
  /** The deliveries that are being sent at present. */
  inFlight(): Delivery[];
  /** How many wait for what is being sent. */
  waiting(): number;
  /** What a full log has lost. */
  losses(): DeliveryLosses;
  /** Breaks off what is on its way and forgets the rest. */
  end(): void;
}

/** How long a delivery that is to come after the next one waits for it at most. */
const REORDER_MS = 60_000;

/** Creates the deliveries of a tenant: none so far. */
export function createTenantDeliveries(world: World, context: DeliveryContext): TenantDeliveries {
  const { choices, activity, faults } = context;
  const { clock, environment, webhooks } = world;
  const jobs = createJobs();
  const sender = createSender(world, context);
  const log = createDeliveryLog(dropOldest);
  let dropped = 0;

  function accept(event: MailEvent): string[] {
    const hearing = webhooks.all().filter((webhook) => hears(webhook, event));
    if (hearing.length === 0) return [];
    const payload = toPayload(event, choices);
    // Written once for all of them.
    const content = JSON.stringify(payload);
    return hearing.map((webhook) => open(event, webhook, payload, content));
  }

  function open(event: MailEvent, webhook: WebhookRow, payload: DeliveryPayload, content: string): string {
    const delivery = log.add({
      id: newId(environment),
      tenantId: world.id,
      webhookId: webhook.id,
      event: event.kind,
      eventId: event.id,
      payload,
      state: 'pending',
      reason: null,
      createdAt: timestampNow(environment),
      nextAttemptAt: null,
      attempts: [],
    });
    const fault = faults.take({ on: 'delivery', tenantId: world.id, webhookId: webhook.id });
    const isByHand = event.webhookId !== undefined;
    const job = jobs.open(delivery, { isByHand, content, fault: fault?.kind });
    void guard(job, async () => BEGIN[fault?.kind ?? 'plain'](job, fault));
    return delivery.id;
  }

  const later = (delayMs: number) => new Date(clock.now().getTime() + delayMs);

  const inTurn = (job: Job, work: (job: Job) => Promise<void>) => sender.inTurn(job.webhookId, () => guard(job, work));

  const attemptNow = (job: Job) => inTurn(job, attempt);

  /** Does a part of a delivery; a bug of ours in it ends the delivery. */
  async function guard(job: Job, work: (job: Job) => Promise<void>): Promise<void> {
    try {
      await work(job);
    } catch (error) {
      clock.fail(`delivery ${job.id} of ${job.event} to webhook ${job.webhookId}`, error);
      if (jobs.has(job)) drop(job, 'failed', failureReason(error));
    }
  }

  /** How a delivery begins, under each fault. */
  const BEGIN: Record<DeliveryFaultKind | 'plain', (job: Job, fault: Fault | undefined) => void> = {
    plain: attemptNow,
    'stale-timestamp': attemptNow,
    'wrong-secret': attemptNow,
    'two-signatures': attemptNow,
    'truncated-body': attemptNow,
    'oversize-body': attemptNow,
    duplicate(job) {
      attemptNow(job);
      inTurn(job, repeat);
    },
    drop: (job) => drop(job, 'dropped', 'A delivery fault dropped it.'),
    hold: (job) => hold(job, 'It is held until it is released.'),
    reorder(job) {
      hold(job, 'It is held until the next delivery to its webhook has been sent, or for a minute.');
      jobs.putBehindNext(job);
      job.cancel = clock.schedule(later(REORDER_MS), () => letGo(job));
    },
    delay: (job, fault) => attemptAt(job, later(fault?.delayMs ?? 0)),
  };

  function hold({ id }: Job, reason: string): void {
    log.update(id, { state: 'held', reason });
  }

  function letGo(job: Job): void {
    job.cancel();
    jobs.takeFromBehind(job);
    log.update(job.id, { state: 'pending', reason: null, nextAttemptAt: null });
    attemptNow(job);
  }

  function attemptAt(job: Job, at: Date): void {
    log.update(job.id, { nextAttemptAt: at.toISOString() });
    scheduleAttempt(job, at);
  }

  function scheduleAttempt(job: Job, at: Date): void {
    job.cancel = clock.schedule(at, () => attemptNow(job));
  }

  async function attempt(job: Job): Promise<void> {
    if (!jobs.has(job)) return;
    const webhook = findWebhook(job);
    if (typeof webhook === 'string') return drop(job, 'dropped', webhook);
    const made = await send(job, webhook);
    if (!made) return;
    if (jobs.has(job)) conclude(job, made);
    else note(job, made);
    jobs.takeBehind(job).forEach(letGo);
  }

  /** Makes room in the log: what waits for its next attempt has been tried at least. */
  function dropOldest(): void {
    const inFlight = sender.inFlight();
    const waiting = jobs.all().find(({ id }) => !inFlight.has(id) && log.get(id)?.attempts.length !== 0);
    if (!waiting) return;
    dropped += 1;
    drop(waiting, 'dropped', 'There was no room for it: too many deliveries wait.');
  }

  /** The webhook as it is now, or why it gets nothing. */
  function findWebhook({ webhookId, isByHand }: Job): WebhookRow | string {
    const webhook = webhooks.get(webhookId);
    if (!webhook) return 'Its webhook is gone.';
    return webhook.isActive || isByHand ? webhook : 'Its webhook is not active.';
  }

  function send(job: Job, webhook: WebhookRow): Promise<MadeAttempt | undefined> | undefined {
    const delivery = log.get(job.id);
    const { content, fault } = job;
    job.fault = undefined;
    return delivery && sender.send(delivery, webhook, { content, fault });
  }

  /** Lets a delivery go on after an attempt, or ends it. */
  function conclude(job: Job, made: MadeAttempt): void {
    const outcome = outcomeOf(made, job.failures + 1, clock, choices);
    const { state, reason, nextAt, isGone } = outcome;
    if (isGone && webhooks.get(job.webhookId)) webhooks.update(job.webhookId, { isActive: false });
    if (nextAt) {
      job.failures += 1;
      log.update(job.id, withAttempt(job, made, nextAt.toISOString()));
      scheduleAttempt(job, nextAt);
    } else {
      finish(job, state, reason, withAttempt(job, made, null));
    }
    activity.publish(attemptEntry(world.id, job, made, outcome));
  }

  /** What an attempt changes in the log, whatever came of it. */
  function withAttempt({ id }: Job, { isRefused: _, ...made }: MadeAttempt, next: string | null) {
    const { attempts = [] } = log.get(id) ?? {};
    const attempt = Object.freeze({ ...made, nextAttemptAt: next });
    return { nextAttemptAt: next, attempts: Object.freeze([...attempts, attempt]) };
  }

  /** Logs an attempt that does not decide what becomes of the delivery. */
  function note(job: Job, made: MadeAttempt): void {
    const { state = 'pending', reason = null, nextAttemptAt = null } = log.get(job.id) ?? {};
    log.update(job.id, withAttempt(job, made, nextAttemptAt));
    activity.publish(attemptEntry(world.id, job, made, { state, reason }));
  }

  function finish({ id }: Job, state: DeliveryState, reason: string | null, more: Partial<Delivery> = {}): void {
    jobs.end(id);
    log.update(id, { nextAttemptAt: null, ...more, state, reason });
  }

  /** Ends a delivery without another attempt. */
  function drop(job: Job, state: DeliveryState, reason: string): void {
    finish(job, state, reason);
    activity.publish(endEntry(world.id, job, { state, reason }));
  }

  /** Sends what a fault duplicates for the second time; what comes of it can only make it better. */
  async function repeat(job: Job): Promise<void> {
    const webhook = findWebhook(job);
    const made = typeof webhook === 'string' ? undefined : await send(job, webhook);
    if (!made) return;
    note(job, made);
    if (made.error === null && !jobs.isReplaced(job)) finish(job, 'delivered', null);
  }

  return {
    log,
    accept,
    redeliver(delivery) {
      if (!webhooks.get(delivery.webhookId)) throw new ApiError('CONFLICT', 'The webhook of this delivery is gone.');
      if (sender.inFlight().has(delivery.id)) throw new ApiError('CONFLICT', 'This delivery is being sent already.');
      const content = JSON.stringify(delivery.payload);
      letGo(jobs.open(delivery, { isByHand: true, content, fault: undefined }));
    },
    release(count, webhookId) {
      const held = jobs.all().filter((job) => log.get(job.id)?.state === 'held');
      const released = held.filter((job) => webhookId === undefined || job.webhookId === webhookId).slice(0, count);
      released.forEach(letGo);
      return released.flatMap(({ id }) => log.get(id) ?? []);
    },
    inFlight: () => [...sender.inFlight()].flatMap((id) => log.get(id) ?? []),
    waiting: sender.waiting,
    losses: () => ({ dropped, forgotten: log.evicted - dropped }),
    end() {
      sender.end();
      jobs.endAll();
      log.clear();
    },
  };
}
