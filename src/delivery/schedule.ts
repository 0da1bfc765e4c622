import { ApiError } from '../contract/errors.ts';
import { newId, timestampNow } from '../environment.ts';
import type { MailEvent } from '../events/event-bus.ts';
import type { DeliveryFaultKind, Fault } from '../faults/fault.ts';
import type { WebhookRow } from '../store/rows.ts';
import type { World } from '../store/world.ts';
import type { DeliveryContext, MadeAttempt } from './attempt.ts';
import { type Delivery, type DeliveryLosses, type DeliveryState, failureReason } from './delivery.ts';
import { createJobs, type Job } from './jobs.ts';
import { attemptEntry, createDeliveryLog, endEntry } from './log.ts';
import { createSender } from './queue.ts';
import type { DeliveryPayload } from './request.ts';
import { outcomeOf } from './retry.ts';

/** How long a delivery that is to come after the next one waits for it at most. */
const REORDER_MS = 60_000;

/** The deliveries of one tenant: when each is attempted, and what comes of it. */
export class Schedule {
  readonly log = createDeliveryLog(() => this.#dropOldest());
  readonly #jobs = createJobs();
  readonly #sender;
  readonly #world: World;
  readonly #context: DeliveryContext;
  #dropped = 0;

  constructor(world: World, context: DeliveryContext) {
    this.#world = world;
    this.#context = context;
    this.#sender = createSender(world, context);
  }

  /** Sends a delivery once more, now. @throws {ApiError} CONFLICT while it is being sent, or without its webhook. */
  redeliver(delivery: Delivery): void {
    if (!this.#world.webhooks.get(delivery.webhookId))
      throw new ApiError('CONFLICT', 'The webhook of this delivery is gone.');
    if (this.#sender.inFlight().has(delivery.id))
      throw new ApiError('CONFLICT', 'This delivery is being sent already.');
    const content = JSON.stringify(delivery.payload);
    this.#release(this.#jobs.open(delivery, { isByHand: true, content, fault: undefined }));
  }

  /** Sends so many of what is held, oldest first, and answers it. */
  release(count: number, webhookId: string | undefined): Delivery[] {
    const held = this.#jobs.all().filter((job) => this.log.get(job.id)?.state === 'held');
    const released = held.filter((job) => webhookId === undefined || job.webhookId === webhookId).slice(0, count);
    for (const job of released) this.#release(job);
    return released.flatMap(({ id }) => this.log.get(id) ?? []);
  }

  /** The deliveries that are being sent at present. */
  inFlight(): Delivery[] {
    return [...this.#sender.inFlight()].flatMap((id) => this.log.get(id) ?? []);
  }

  /** How many wait for what is being sent. */
  get waiting(): number {
    return this.#sender.waiting();
  }

  /** What a full log has lost. */
  losses(): DeliveryLosses {
    return { dropped: this.#dropped, forgotten: this.log.evicted - this.#dropped };
  }

  /** Aborts what is on its way and forgets the rest. */
  end(): void {
    this.#sender.end();
    this.#jobs.endAll();
    this.log.clear();
  }

  /** Opens the delivery of an event to a webhook, with what a fault says, and answers its id. */
  open(event: MailEvent, webhook: WebhookRow, payload: DeliveryPayload, content: string): string {
    const delivery = this.log.add({
      id: newId(this.#world.environment),
      tenantId: this.#world.id,
      webhookId: webhook.id,
      event: event.kind,
      eventId: event.id,
      payload,
      state: 'pending',
      reason: null,
      createdAt: timestampNow(this.#world.environment),
      nextAttemptAt: null,
      attempts: [],
    });
    const fault = this.#context.faults.take({ on: 'delivery', tenantId: this.#world.id, webhookId: webhook.id });
    const isByHand = event.webhookId !== undefined;
    const job = this.#jobs.open(delivery, { isByHand, content, fault: fault?.kind });
    void this.#guard(job, async () => this.#begin[fault?.kind ?? 'plain'](job, fault));
    return delivery.id;
  }

  #later(delayMs: number): Date {
    return new Date(this.#world.clock.now().getTime() + delayMs);
  }

  #inTurn(job: Job, work: (job: Job) => Promise<void>): void {
    this.#sender.inTurn(job.webhookId, () => this.#guard(job, work));
  }

  #attemptNow(job: Job): void {
    this.#inTurn(job, (each) => this.#attempt(each));
  }

  /** Does a part of a delivery; a bug of ours in it ends the delivery. */
  async #guard(job: Job, work: (job: Job) => Promise<void>): Promise<void> {
    try {
      await work(job);
    } catch (error) {
      this.#world.clock.fail(`delivery ${job.id} of ${job.event} to webhook ${job.webhookId}`, error);
      if (this.#jobs.has(job)) this.#drop(job, 'failed', failureReason(error));
    }
  }

  /** How a delivery begins, under each fault. */
  readonly #begin: Record<DeliveryFaultKind | 'plain', (job: Job, fault: Fault | undefined) => void> = {
    plain: (job) => this.#attemptNow(job),
    'stale-timestamp': (job) => this.#attemptNow(job),
    'wrong-secret': (job) => this.#attemptNow(job),
    'two-signatures': (job) => this.#attemptNow(job),
    'truncated-body': (job) => this.#attemptNow(job),
    'oversize-body': (job) => this.#attemptNow(job),
    duplicate: (job) => {
      this.#attemptNow(job);
      this.#inTurn(job, (each) => this.#repeat(each));
    },
    drop: (job) => this.#drop(job, 'dropped', 'A delivery fault dropped it.'),
    hold: (job) => this.#hold(job, 'It is held until it is released.'),
    reorder: (job) => {
      this.#hold(job, 'It is held until the next delivery to its webhook has been sent, or for a minute.');
      this.#jobs.putBehindNext(job);
      job.cancel = this.#world.clock.schedule(this.#later(REORDER_MS), () => this.#release(job));
    },
    delay: (job, fault) => this.#attemptAt(job, this.#later(fault?.delayMs ?? 0)),
  };

  #hold({ id }: Job, reason: string): void {
    this.log.update(id, { state: 'held', reason });
  }

  #release(job: Job): void {
    job.cancel();
    this.#jobs.takeFromBehind(job);
    this.log.update(job.id, { state: 'pending', reason: null, nextAttemptAt: null });
    this.#attemptNow(job);
  }

  #attemptAt(job: Job, at: Date): void {
    this.log.update(job.id, { nextAttemptAt: at.toISOString() });
    this.#scheduleAttempt(job, at);
  }

  #scheduleAttempt(job: Job, at: Date): void {
    job.cancel = this.#world.clock.schedule(at, () => this.#attemptNow(job));
  }

  async #attempt(job: Job): Promise<void> {
    if (!this.#jobs.has(job)) return;
    const webhook = this.#findWebhook(job);
    if (typeof webhook === 'string') return this.#drop(job, 'dropped', webhook);
    const made = await this.#send(job, webhook);
    if (!made) return;
    if (this.#jobs.has(job)) this.#conclude(job, made);
    else this.#note(job, made);
    for (const each of this.#jobs.takeBehind(job)) this.#release(each);
  }

  /** Makes room in the log: what waits for its next attempt has been tried at least. */
  #dropOldest(): void {
    const inFlight = this.#sender.inFlight();
    const waiting = this.#jobs.all().find(({ id }) => !inFlight.has(id) && this.log.get(id)?.attempts.length !== 0);
    if (!waiting) return;
    this.#dropped += 1;
    this.#drop(waiting, 'dropped', 'There was no room for it: too many deliveries wait.');
  }

  /** The webhook as it is now, or why it gets nothing. */
  #findWebhook({ webhookId, isByHand }: Job): WebhookRow | string {
    const webhook = this.#world.webhooks.get(webhookId);
    if (!webhook) return 'Its webhook is gone.';
    return webhook.isActive || isByHand ? webhook : 'Its webhook is not active.';
  }

  #send(job: Job, webhook: WebhookRow): Promise<MadeAttempt | undefined> | undefined {
    const delivery = this.log.get(job.id);
    const { content, fault } = job;
    job.fault = undefined;
    return delivery && this.#sender.send(delivery, webhook, { content, fault });
  }

  /** Lets a delivery go on after an attempt, or ends it. */
  #conclude(job: Job, made: MadeAttempt): void {
    const outcome = outcomeOf(made, job.failures + 1, this.#world.clock, this.#context.choices);
    const { state, reason, nextAt, isGone } = outcome;
    if (isGone && this.#world.webhooks.get(job.webhookId))
      this.#world.webhooks.update(job.webhookId, { isActive: false });
    if (nextAt) {
      job.failures += 1;
      this.log.update(job.id, this.#withAttempt(job, made, nextAt.toISOString()));
      this.#scheduleAttempt(job, nextAt);
    } else {
      this.#finish(job, state, reason, this.#withAttempt(job, made, null));
    }
    this.#context.activity.publish(attemptEntry(this.#world.id, job, made, outcome));
  }

  /** What an attempt changes in the log, whatever came of it. */
  #withAttempt({ id }: Job, { isRefused: _, ...made }: MadeAttempt, next: string | null) {
    const { attempts = [] } = this.log.get(id) ?? {};
    const attempt = Object.freeze({ ...made, nextAttemptAt: next });
    return { nextAttemptAt: next, attempts: Object.freeze([...attempts, attempt]) };
  }

  /** Logs an attempt that does not decide what becomes of the delivery. */
  #note(job: Job, made: MadeAttempt): void {
    const { state = 'pending', reason = null, nextAttemptAt = null } = this.log.get(job.id) ?? {};
    this.log.update(job.id, this.#withAttempt(job, made, nextAttemptAt));
    this.#context.activity.publish(attemptEntry(this.#world.id, job, made, { state, reason }));
  }

  #finish({ id }: Job, state: DeliveryState, reason: string | null, more: Partial<Delivery> = {}): void {
    this.#jobs.end(id);
    this.log.update(id, { nextAttemptAt: null, ...more, state, reason });
  }

  /** Ends a delivery without another attempt. */
  #drop(job: Job, state: DeliveryState, reason: string): void {
    this.#finish(job, state, reason);
    this.#context.activity.publish(endEntry(this.#world.id, job, { state, reason }));
  }

  /** Sends what a fault duplicates for the second time; what comes of it can only make it better. */
  async #repeat(job: Job): Promise<void> {
    const webhook = this.#findWebhook(job);
    const made = typeof webhook === 'string' ? undefined : await this.#send(job, webhook);
    if (!made) return;
    this.#note(job, made);
    if (made.error === null && !this.#jobs.isReplaced(job)) this.#finish(job, 'delivered', null);
  }
}
