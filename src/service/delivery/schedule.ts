import { messageOf } from '../../basics/named-error.ts';
import type { BehaviourValues } from '../../contract/behaviours.ts';
import { ApiError } from '../../contract/errors.ts';
import { parseDuration } from '../../world/clock.ts';
import { memoryForMail, newId, timestampNow } from '../../world/environment.ts';
import type { DeliveryFaultKind } from '../../world/fault.ts';
import { type Origin, originOf } from '../../world/journal/entry.ts';
import type { Part, SavePurpose } from '../../world/store/parts.ts';
import { pick, type WebhookRow } from '../../world/store/rows.ts';
import type { World } from '../../world/store/world.ts';
import type { EntryOf, MailEntryKind } from '../journal/entry-kinds.ts';
import { type AttemptResult, AttemptSender, type DeliveryContext } from './attempt-sender.ts';
import type { Delivery, DeliveryLosses, DeliveryState } from './delivery.ts';
import { type AttemptOutcome, DeliveryLog } from './delivery-log.ts';
import { type Job, Jobs, Queues } from './queue.ts';
import { type DeliveryPayload, shownPartsOf, timeOfReceivers, withoutSecrets } from './request.ts';

/** The longest time that a delivery with the fault `reorder` waits for the next delivery to its webhook. */
const REORDER_MS = 60_000;

/** The fields of a job that `save` keeps. */
const KEPT_FIELDS = ['isRequested', 'content', 'fault', 'faultId', 'failures'] as const;

/** What `save` keeps of a delivery that has not ended: the delivery, and the data for its next attempt. */
interface KeptDelivery extends Pick<Job, (typeof KEPT_FIELDS)[number]> {
  readonly delivery: Delivery;
}

/** The fields that identify a delivery in the journal. */
type DeliveryIdentity = Pick<Delivery, 'id' | 'webhookId' | 'event'> & { readonly origin?: Origin };

/** Schedules the attempts of one tenant's deliveries, and records the results in its log. */
export class Schedule implements Part {
  readonly log: DeliveryLog;
  readonly #jobs = new Jobs();
  readonly #queues: Queues;
  readonly #sender: AttemptSender;
  readonly #world: World;
  readonly #context: DeliveryContext;
  readonly #keptByJob = new WeakMap<Job, KeptDelivery>();
  #droppedCount = 0;

  constructor(world: World, context: DeliveryContext) {
    this.#world = world;
    this.#context = context;
    this.log = new DeliveryLog(memoryForMail(context.realEnvironment) / 4, (changedId) => this.#dropOldest(changedId));
    this.#queues = new Queues(world.clock, context.behaviours);
    this.#sender = new AttemptSender(world, context);
  }

  /**
   * Sends a delivery again at once. With `url`, sends it once to this URL, without a change of its state or its
   * retries.
   *
   * @throws {ApiError} CONFLICT if the delivery is in flight, or if its webhook was deleted.
   */
  redeliver(delivery: Delivery, url?: string): void {
    const webhook = this.#world.webhooks.get(delivery.webhookId);
    if (!webhook) throw new ApiError('CONFLICT', 'The webhook of this delivery was deleted.');
    if (this.#sender.inFlight().has(delivery.id))
      throw new ApiError('CONFLICT', 'This delivery is already being sent.');
    const options = { isRequested: true, content: JSON.stringify(delivery.payload), fault: undefined };
    if (url === undefined) this.#release(this.#jobs.create(delivery, options));
    else this.#queues.add(webhook.id, () => this.#sendOnce(delivery.id, { ...webhook, url }, options));
  }

  /** Sends at most `count` held deliveries, oldest first, and returns them. */
  release(count: number, webhookId: string | undefined): Delivery[] {
    const isWanted = (job: Job) => webhookId === undefined || job.webhookId === webhookId;
    const held = this.#jobs.all().filter((job) => isWanted(job) && this.log.get(job.id)?.state === 'held');
    const released = held.slice(0, count);
    for (const job of released) this.#release(job);
    return released.flatMap(({ id }) => this.log.get(id) ?? []);
  }

  /** Returns the deliveries in flight. */
  inFlight(): Delivery[] {
    return [...this.#sender.inFlight()].flatMap((id) => this.log.get(id) ?? []);
  }

  /** How many deliveries wait in the queues. */
  get waitingCount(): number {
    return this.#queues.waitingCount;
  }

  /** Returns how many deliveries were removed because the log was full. */
  losses(): DeliveryLosses {
    return { dropped: this.#droppedCount, forgotten: this.log.evictedCount - this.#droppedCount };
  }

  /**
   * For a file, returns the deliveries that have not ended: for each one the same frozen object until something has
   * changed. A checkpoint has no deliveries.
   */
  save(purpose: SavePurpose): KeptDelivery[] | undefined {
    if (purpose === 'checkpoint') return undefined;
    return this.#jobs.all().flatMap((job) => {
      const delivery = this.log.get(job.id);
      if (!delivery) return [];
      const before = this.#keptByJob.get(job);
      const isSame = before?.delivery === delivery && KEPT_FIELDS.every((field) => before[field] === job[field]);
      if (isSame) return [before];
      const kept = Object.freeze({ delivery, ...pick(job, KEPT_FIELDS) });
      this.#keptByJob.set(job, kept);
      return [kept];
    });
  }

  /** Continues the deliveries of an earlier process. A delivery that was in flight is sent again. */
  restore(kept: readonly KeptDelivery[], purpose: SavePurpose): void {
    // A checkpoint that was read from a file has the deliveries of that moment, but they do not begin again.
    if (purpose === 'checkpoint') return;
    for (const { delivery, failures, ...options } of kept) {
      const job = this.#jobs.create(this.log.add(delivery), options);
      job.failures = failures;
      this.#continue(job, delivery);
    }
  }

  /** Aborts the deliveries in flight and removes every delivery. */
  end(): void {
    this.#sender.end();
    for (const { id } of this.#jobs.all()) this.#jobs.end(id);
    this.log.clear();
  }

  /** Creates the delivery of an event to a webhook, with a fault if one applies. */
  create(entry: EntryOf<MailEntryKind>, webhook: WebhookRow, payload: DeliveryPayload, content: string): void {
    const { environment } = this.#world;
    const { id: eventId, event, webhookId } = entry.data;
    const fault = this.#context.faults.useFirst({ on: 'delivery', world: this.#world, webhookId: webhook.id });
    const heldReason = (fault && HELD_REASONS[fault.kind]) ?? null;
    const delivery = this.log.add({
      id: newId(environment),
      tenantId: this.#world.id,
      webhookId: webhook.id,
      event,
      eventId,
      payload,
      state: heldReason === null ? 'pending' : 'held',
      createdAt: timestampNow(environment),
      reason: heldReason,
      nextAttemptAt: fault?.kind === 'delay' ? this.#timeAfter(fault.delayMs).toISOString() : null,
      attempts: [],
    });
    const isRequested = webhookId !== undefined;
    const job = this.#jobs.create(delivery, { isRequested, content, fault: fault?.kind, faultId: fault?.id });
    const data = this.#activityOf(job, delivery);
    const origin = originOf(entry);
    job.origin = originOf(this.#context.journals.publish(this.#world, 'delivery-created', data, { origin }));
    if (fault?.kind === 'drop') this.#endWithoutAttempt(job, 'dropped', 'A delivery fault dropped it.');
    else this.#continue(job, delivery);
  }

  /** Continues a new delivery, or a delivery of an earlier process. */
  #continue(job: Job, { state, createdAt, nextAttemptAt }: Delivery): void {
    if (nextAttemptAt !== null) this.#scheduleAttempt(job, new Date(nextAttemptAt));
    else if (state === 'pending') {
      this.#attemptNow(job);
      if (job.fault === 'duplicate') this.#enqueue(job, () => this.#sendDuplicate(job));
    } else if (job.fault === 'reorder') {
      this.#jobs.waitForNext(job);
      const releaseAt = new Date(Date.parse(createdAt) + REORDER_MS);
      job.cancel = this.#world.clock.schedule(releaseAt, () => this.#release(job));
    }
  }

  #timeAfter(delayMs: number): Date {
    return new Date(this.#world.clock.now().getTime() + delayMs);
  }

  /**
   * Adds a step of a delivery to the queue of its webhook. If the step throws, because of a bug in the emulator, the
   * delivery fails.
   */
  #enqueue(job: Job, runStep: () => Promise<void>): void {
    this.#queues.add(job.webhookId, async () => {
      try {
        await runStep();
      } catch (error) {
        this.#world.clock.reportFailure(`delivery ${job.id} of ${job.event} to webhook ${job.webhookId}`, error);
        if (!this.#jobs.has(job)) return;
        this.#endWithoutAttempt(job, 'failed', `The emulator failed because of a bug in it: ${messageOf(error)}.`);
      }
    });
  }

  #attemptNow(job: Job): void {
    this.#enqueue(job, () => this.#attempt(job));
  }

  #release(job: Job): void {
    job.cancel();
    this.#jobs.stopWaitingForNext(job);
    this.log.update(job.id, { state: 'pending', reason: null, nextAttemptAt: null });
    // It is published before the attempt, which may wait for its queue and for the answer of the receiver.
    const data = this.#activityOf(job, { state: 'pending', reason: null });
    this.#context.journals.publish(this.#world, 'delivery-released', data, { origin: job.origin });
    this.#attemptNow(job);
  }

  #scheduleAttempt(job: Job, at: Date): void {
    job.cancel = this.#world.clock.schedule(at, () => this.#attemptNow(job));
  }

  async #attempt(job: Job): Promise<void> {
    if (!this.#jobs.has(job)) return;
    const webhook = this.#findWebhook(job);
    if (typeof webhook === 'string') return this.#endWithoutAttempt(job, 'dropped', webhook);
    const result = await this.#send(job, webhook);
    if (!result) return;
    if (this.#jobs.has(job)) this.#applyResult(job, result);
    else this.#recordAttempt(job, result);
    for (const each of this.#jobs.takeJobsWaitingFor(job)) this.#release(each);
  }

  /**
   * Ends the oldest delivery that waits for a further attempt, so that the full log can remove it. The delivery that has
   * just changed stays.
   */
  #dropOldest(changedId: string): void {
    const waiting = this.#jobs.findOldestWaitingForAttempt(changedId);
    if (!waiting) return;
    this.#droppedCount += 1;
    this.#endWithoutAttempt(waiting, 'dropped', 'There was no room for it: too many deliveries wait.');
  }

  /** Returns the webhook, or the reason why nothing is sent to it. */
  #findWebhook({ webhookId, isRequested }: Job): WebhookRow | string {
    const webhook = this.#world.webhooks.get(webhookId);
    if (!webhook) return 'Its webhook is gone.';
    return webhook.isActive || isRequested ? webhook : 'Its webhook is not active.';
  }

  async #send(job: Job, webhook: WebhookRow): Promise<AttemptResult | undefined> {
    const delivery = this.log.get(job.id);
    const { content, fault, faultId } = job;
    job.fault = undefined;
    this.#jobs.setWaitsForAttempt(job, false);
    const result = delivery && (await this.#sender.send(delivery, webhook, { content, fault, faultId }));
    this.#jobs.setWaitsForAttempt(job, true);
    return result;
  }

  /** Ends a delivery after an attempt, or schedules the next attempt. */
  #applyResult(job: Job, result: AttemptResult): void {
    const { webhooks } = this.#world;
    const isGone = result.status === 410 && this.#context.behaviours['deliveries.gone'] === 'deactivates';
    if (isGone && webhooks.get(job.webhookId)) webhooks.update(job.webhookId, { isActive: false });
    const outcome = isGone ? GONE_OUTCOME : this.#outcomeOf(result, job.failures + 1);
    const { nextAttemptAt } = outcome;
    if (nextAttemptAt === null) this.#jobs.end(job.id);
    this.log.addAttempt(job.id, result, outcome);
    if (nextAttemptAt !== null) {
      job.failures += 1;
      this.#scheduleAttempt(job, new Date(nextAttemptAt));
    }
    this.#publishAttempt(job, result, outcome);
  }

  async #sendOnce(id: string, webhook: WebhookRow, input: Pick<Job, 'content' | 'fault'>): Promise<void> {
    const delivery = this.log.get(id);
    const result = delivery && (await this.#sender.send(delivery, webhook, input));
    if (result) this.#recordAttempt(delivery, result);
  }

  /** Logs an attempt without changing the state of the delivery. */
  #recordAttempt(job: DeliveryIdentity, result: AttemptResult): void {
    const { state = 'pending', reason = null, nextAttemptAt = null } = this.log.get(job.id) ?? {};
    this.log.addAttempt(job.id, result, { state, reason, nextAttemptAt });
    // A further attempt, if one is due, does not follow from this attempt.
    this.#publishAttempt(job, result, { state, reason, nextAttemptAt: null });
  }

  /** Decides the outcome of an attempt; `failures` counts the failed attempts in a row, including this one. */
  #outcomeOf({ error, isRefused, responseHeaders }: AttemptResult, failures: number): AttemptOutcome {
    if (error === null) return finalOutcome('delivered', null);
    if (isRefused) return finalOutcome('refused', error);
    const { behaviours } = this.#context;
    const delayMs = RETRY_DELAYS_MS[behaviours['deliveries.retry']][failures - 1];
    if (delayMs === undefined) return finalOutcome('exhausted', 'Its last attempt failed.');
    // A receiver that names a date reads it from the same clock with which it compares timestamps.
    const now = timeOfReceivers(this.#world.clock, behaviours);
    const isRespected = behaviours['deliveries.retry-after'] === 'respected';
    const retryAfterMs = isRespected ? readRetryAfterMs(responseHeaders['retry-after'], now) : 0;
    const nextAttemptAt = this.#timeAfter(Math.max(delayMs, retryAfterMs)).toISOString();
    return { state: 'pending', reason: null, nextAttemptAt };
  }

  /** Ends a delivery without another attempt. */
  #endWithoutAttempt(job: Job, state: DeliveryState, reason: string): void {
    this.#jobs.end(job.id);
    this.log.update(job.id, { nextAttemptAt: null, state, reason });
    const data = this.#activityOf(job, { state, reason });
    this.#context.journals.publish(this.#world, 'delivery-ended', data, { origin: job.origin });
  }

  #publishAttempt(job: DeliveryIdentity, result: AttemptResult, outcome: AttemptOutcome): void {
    const { at, status, error, durationMs, faultId, responseHeaders, responseBody, thrown } = result;
    const { nextAttemptAt } = outcome;
    const activity = this.#activityOf(job, outcome);
    const data = {
      ...activity,
      // The URL of the webhook may have changed since the call.
      url: activity.url === null ? null : withoutSecrets(result.url),
      attempt: this.log.get(job.id)?.attempts.length ?? 1,
      status,
      error,
      durationMs,
      retryInMs: nextAttemptAt === null ? null : Date.parse(nextAttemptAt) - Date.parse(at),
      faultId,
      sentTimestamp: result.requestHeaders['webhook-timestamp'] ?? '',
      responseHeaders,
      responseBody,
      thrown,
      parts: shownPartsOf(this.log.get(job.id)?.payload),
    };
    this.#context.journals.publish(this.#world, 'attempt', data, { origin: job.origin });
  }

  /** Returns what every entry of the journal about a delivery has. */
  #activityOf({ id, webhookId, event }: DeliveryIdentity, { state, reason }: Pick<Delivery, 'state' | 'reason'>) {
    const url = this.#world.webhooks.get(webhookId)?.url;
    const { eventId = '', payload } = this.log.get(id) ?? {};
    return {
      deliveryId: id,
      tenantId: this.#world.id,
      webhookId,
      url: url === undefined ? null : withoutSecrets(url),
      event,
      state,
      reason,
      eventId,
      messageId: String(payload?.messageId ?? ''),
    };
  }

  /** Sends a delivery a second time. If that succeeds, the delivery is `delivered`; otherwise nothing changes. */
  async #sendDuplicate(job: Job): Promise<void> {
    const webhook = this.#findWebhook(job);
    const result = typeof webhook === 'string' ? undefined : await this.#send(job, webhook);
    if (!result) return;
    if (result.error === null && !this.#jobs.isReplaced(job)) this.#applyResult(job, result);
    else this.#recordAttempt(job, result);
  }
}

/** Why a delivery is held, for the faults that hold it. */
const HELD_REASONS: Partial<Record<DeliveryFaultKind, string>> = {
  hold: 'It is held until it is released.',
  reorder: 'It is held until the next delivery to its webhook has been sent, or for a minute.',
};

/** Creates the outcome of an attempt after which there is no further attempt. */
const finalOutcome = (state: DeliveryState, reason: string | null) => ({ state, reason, nextAttemptAt: null });

const GONE_OUTCOME = finalOutcome('exhausted', 'The receiver answered 410, so its webhook is not active any more.');

/** The delay after the first, second, … failed attempt. If there is no further delay, the delivery is exhausted. */
const RETRY_DELAYS_MS: Record<BehaviourValues['deliveries.retry'], readonly number[]> = {
  'standard-webhooks': ['5s', '5m', '30m', '2h', '5h', '10h', '14h', '20h', '24h'].map(parseDuration),
  never: [],
};

/** The longest delay that `Retry-After` can request. */
const MAX_RETRY_AFTER_MS = parseDuration('24h');

/** Returns the delay that `Retry-After` requests, in seconds or as an HTTP date; returns 0 for any other text. */
function readRetryAfterMs(retryAfter = '', now: Date): number {
  const text = retryAfter.trim();
  const date = /^\w{3,9},? .* GMT$/.test(text) ? Date.parse(text) : Number.NaN;
  const requestedMs = /^\d+$/.test(text) ? Number(text) * 1000 : date - now.getTime();
  return Number.isNaN(requestedMs) ? 0 : Math.min(Math.max(requestedMs, 0), MAX_RETRY_AFTER_MS);
}
