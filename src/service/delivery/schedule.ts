import { messageOf } from '../../basics/named-error.ts';
import type { BehaviourValues } from '../../contract/behaviours.ts';
import { ApiError } from '../../contract/errors.ts';
import type { EventKind } from '../../contract/events.ts';
import { type Advance, parseDuration } from '../../world/clock.ts';
import { type Environment, memoryForRecords, newId, newWebhookSecret, timestampNow } from '../../world/environment.ts';
import type { DeliveryFaultKind } from '../../world/fault.ts';
import type { Faults } from '../../world/faults.ts';
import { type Cause, causeFrom } from '../../world/journal/entry.ts';
import { PriorityQueue } from '../../world/priority-queue.ts';
import type { Part, SavePurpose } from '../../world/store/parts.ts';
import { pick, type WebhookRow } from '../../world/store/rows.ts';
import type { World } from '../../world/store/world.ts';
import type { EntryOf, MailEntryKind } from '../journal/entry-kinds.ts';
import type { Journals } from '../journal/journals.ts';
import { type CallResult, callReceiver, failedResult } from './call-receiver.ts';
import type { Attempt, Delivery, DeliveryLosses, DeliveryState } from './delivery.ts';
import { type AttemptOutcome, DeliveryLog } from './delivery-log.ts';
import {
  createRequest,
  type DeliveryPayload,
  shownPartsOf,
  splitLogin,
  timeOfReceivers,
  withoutSecrets,
} from './request.ts';

/** What the deliveries of all tenants share. */
export interface DeliveryContext {
  /** The network, and the real clock, because a call must time out even if the tenant's clock is frozen. */
  readonly realEnvironment: Environment;
  readonly behaviours: BehaviourValues;
  readonly journals: Journals;
  readonly faults: Faults;
  /** The URLs of the receivers that did not answer in time during an advance of the clock. */
  readonly slowReceivers: WeakMap<Advance, Set<string>>;
}

/** A delivery that has not ended, with what its next attempt needs. */
interface Job {
  readonly id: string;
  readonly webhookId: string;
  readonly event: EventKind;
  /** A sequence number: a job that was created later has a higher number. */
  readonly order: number;
  /** Whether a test requested the delivery. If so, it is sent even if the webhook is not active. */
  readonly isRequested: boolean;
  /** The payload as JSON, which every attempt sends. */
  readonly content: string;
  /** The fault to apply to the next attempt. */
  fault: DeliveryFaultKind | undefined;
  /** The id of this fault. */
  readonly faultId?: string | undefined;
  /** How many attempts in a row have failed. */
  failures: number;
  /** The entry of the delivery, which is the cause of its attempts. */
  cause?: Cause;
  /** Cancels what is scheduled for this job: an attempt, or the end of its wait for the next delivery. */
  cancel(): void;
}

/** The fields of a job that its creator sets. */
type JobOptions = Pick<Job, 'isRequested' | 'content' | 'fault' | 'faultId'>;

/** The fields of a job that `save` keeps. */
const KEPT_FIELDS = ['isRequested', 'content', 'fault', 'faultId', 'failures'] as const;

/** What `save` keeps of a delivery that has not ended: the delivery, and the data for its next attempt. */
interface KeptDelivery extends Pick<Job, (typeof KEPT_FIELDS)[number]> {
  readonly delivery: Delivery;
}

/** The steps of deliveries to one webhook that wait for their turn. */
interface Queue {
  readonly steps: PriorityQueue<() => Promise<void>>;
  runningCount: number;
}

/** An attempt that was made, before the time of the next attempt is decided. */
interface AttemptResult extends Pick<CallResult, 'isRefused' | 'thrown'> {
  readonly attempt: Omit<Attempt, 'nextAttemptAt'>;
}

/**
 * Sends the deliveries of one tenant, and records them in its log. The methods stand in the order in which they run: a
 * delivery is created (`create`), becomes due (`#begin`), waits for its turn in the queue of its webhook (`#enqueue`), is
 * written, signed and sent (`#attempt`, `#send`), and by the result ends or is tried again (`#applyResult`,
 * `#outcomeOf`). What a test may do with deliveries, and what a file keeps of them, comes after that.
 */
export class Schedule implements Part {
  readonly log: DeliveryLog;
  readonly #world: World;
  readonly #context: DeliveryContext;
  /** The deliveries that have not ended, by id, oldest first. */
  readonly #jobs = new Map<string, Job>();
  #createdJobs = 0;
  /** The jobs that wait for a further attempt, oldest first. */
  readonly #waitingForRetry = new PriorityQueue<Job>();
  /** The jobs that wait for the next delivery to the same webhook, by the id of the webhook. */
  readonly #waitingForNext = new Map<string, Set<Job>>();
  /** A queue for each webhook that has steps to do, by its id. */
  readonly #queues = new Map<string, Queue>();
  /** The function that aborts each call in flight, with the id of its delivery. */
  readonly #calls = new Map<(reason: Error) => void, string>();
  #hasEnded = false;
  #droppedCount = 0;
  readonly #keptByJob = new WeakMap<Job, KeptDelivery>();

  constructor(world: World, context: DeliveryContext) {
    this.#world = world;
    this.#context = context;
    this.log = new DeliveryLog(memoryForRecords(context.realEnvironment), (changedId) => this.#dropOldest(changedId));
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
    const job = this.#addJob(delivery, { isRequested, content, fault: fault?.kind, faultId: fault?.id });
    const data = this.#activityOf(job, delivery);
    const cause = causeFrom(entry);
    job.cause = causeFrom(this.#context.journals.publish(this.#world, 'delivery-created', data, { cause }));
    if (fault?.kind === 'drop') this.#endWithoutAttempt(job, 'dropped', 'A delivery fault dropped it.');
    else this.#begin(job, delivery);
  }

  /** Adds the job of a delivery. It replaces an earlier job of the same delivery. */
  #addJob(delivery: Delivery, options: JobOptions): Job {
    this.#endJob(delivery.id);
    const job = this.#createJob(delivery, options);
    this.#jobs.set(job.id, job);
    if (delivery.attempts.length > 0) this.#waitingForRetry.add(job, job.order);
    return job;
  }

  #createJob({ id, webhookId, event }: Delivery, options: JobOptions): Job {
    this.#createdJobs += 1;
    return { id, webhookId, event, order: this.#createdJobs, ...options, failures: 0, cancel: () => {} };
  }

  /** Returns whether a job has neither ended nor been replaced by a later job of the same delivery. */
  #isCurrent(job: Job): boolean {
    return this.#jobs.get(job.id) === job;
  }

  /** Begins a new delivery, or goes on with a delivery of an earlier process: at its time, at once, or when released. */
  #begin(job: Job, { state, createdAt, nextAttemptAt }: Delivery): void {
    if (nextAttemptAt !== null) this.#attemptAt(job, nextAttemptAt);
    else if (state === 'pending') {
      this.#enqueue(job, () => this.#attempt(job));
      if (job.fault === 'duplicate') this.#enqueue(job, () => this.#sendDuplicate(job));
    } else if (job.fault === 'reorder') {
      const waiting = this.#waitingForNext.get(job.webhookId) ?? new Set();
      this.#waitingForNext.set(job.webhookId, waiting.add(job));
      const releaseAt = new Date(Date.parse(createdAt) + REORDER_MS);
      job.cancel = this.#world.clock.schedule(releaseAt, () => this.#release(job));
    }
  }

  #attemptAt(job: Job, at: string): void {
    job.cancel = this.#world.clock.schedule(new Date(at), () => this.#enqueue(job, () => this.#attempt(job)));
  }

  #timeAfter(delayMs: number): Date {
    return new Date(this.#world.clock.now().getTime() + delayMs);
  }

  /** Sends a delivery that was held, or that a test sends again, as soon as it is its turn. */
  #release(job: Job): void {
    job.cancel();
    this.#waitingForNext.get(job.webhookId)?.delete(job);
    this.log.update(job.id, { state: 'pending', reason: null, nextAttemptAt: null });
    // It is published before the attempt, which may wait for its queue and for the answer of the receiver.
    const data = this.#activityOf(job, { state: 'pending', reason: null });
    this.#context.journals.publish(this.#world, 'delivery-released', data, { cause: job.cause });
    this.#enqueue(job, () => this.#attempt(job));
  }

  /**
   * Adds a step of a delivery to the queue of its webhook, and makes the clock wait for it. Steps start in the order in
   * which they were added; the behaviour `deliveries.order` says how many of one webhook run at the same time. If a step
   * throws, because of a bug in the emulator, its delivery fails, and the other steps still run.
   */
  #enqueue(job: Job, runStep: () => Promise<void>): void {
    const { id, webhookId, event } = job;
    const { clock } = this.#world;
    const queue = this.#queues.get(webhookId) ?? { steps: new PriorityQueue(), runningCount: 0 };
    this.#queues.set(webhookId, queue);
    const step = async () => {
      try {
        await runStep();
      } catch (error) {
        clock.reportFailure(`delivery ${id} of ${event} to webhook ${webhookId}`, error);
        if (!this.#isCurrent(job)) return;
        this.#endWithoutAttempt(job, 'failed', `The emulator failed because of a bug in it: ${messageOf(error)}.`);
      }
    };
    // Each step is work of its own: a queue that always gets new steps never ends.
    clock.track(new Promise((resolve) => queue.steps.add(() => step().finally(resolve))));
    if (queue.runningCount >= MAX_RUNNING[this.#context.behaviours['deliveries.order']]) return;
    queue.runningCount += 1;
    void this.#runSteps(webhookId, queue);
  }

  async #runSteps(webhookId: string, queue: Queue): Promise<void> {
    // The first step must not run synchronously in the caller of `#enqueue`.
    await null;
    for (let step = queue.steps.take(); step; step = queue.steps.take()) {
      try {
        await step();
      } catch (error) {
        // Only if ending the delivery has failed too: the other steps still run.
        this.#world.clock.reportFailure(`a delivery to webhook ${webhookId}`, error);
      }
    }
    queue.runningCount -= 1;
    if (queue.runningCount === 0) this.#queues.delete(webhookId);
  }

  /** Sends a delivery. By the result it ends, or its next attempt is scheduled. */
  async #attempt(job: Job): Promise<void> {
    // It may have ended while it waited for its turn.
    if (!this.#isCurrent(job)) return;
    const webhook = this.#world.webhooks.get(job.webhookId);
    if (!webhook) return this.#endWithoutAttempt(job, 'dropped', 'Its webhook is gone.');
    if (!mayBeSent(job, webhook)) return this.#endWithoutAttempt(job, 'dropped', 'Its webhook is not active.');
    const result = await this.#send(job, webhook);
    if (!result) return;
    // It may have ended, or been replaced, while the receiver answered.
    if (this.#isCurrent(job)) this.#applyResult(job, result);
    else this.#recordAttempt(job, result);
    // Now those may follow that a fault has put behind this one, the latest first.
    const waiting = [...(this.#waitingForNext.get(job.webhookId) ?? [])].filter(({ order }) => order < job.order);
    for (const each of waiting.reverse()) this.#release(each);
  }

  /** Sends a delivery a second time. If that succeeds, the delivery is `delivered`; otherwise nothing changes. */
  async #sendDuplicate(job: Job): Promise<void> {
    const webhook = this.#world.webhooks.get(job.webhookId);
    const result = webhook && mayBeSent(job, webhook) ? await this.#send(job, webhook) : undefined;
    if (!result) return;
    const isReplaced = (this.#jobs.get(job.id) ?? job) !== job;
    if (result.attempt.error === null && !isReplaced) this.#applyResult(job, result);
    else this.#recordAttempt(job, result);
  }

  /**
   * Writes and signs the request of one attempt, and sends it to the receiver. Returns `undefined` if the delivery is no
   * longer in the log, or if `end` is called before the receiver has answered.
   */
  async #send(job: Job, { url, secret }: WebhookRow): Promise<AttemptResult | undefined> {
    const delivery = this.log.get(job.id);
    const { content, fault, faultId = '' } = job;
    job.fault = undefined;
    this.#waitingForRetry.remove(job);
    if (!delivery) return undefined;
    const { id, eventId } = delivery;
    const { realEnvironment, behaviours, slowReceivers } = this.#context;
    const { clock, environment } = this.#world;

    // The request, with the time of the attempt.
    const at = clock.now().toISOString();
    const realTime = new Date().toISOString();
    const { href, loginHeader } = splitLogin(url);
    const { headers: signedHeaders, body } = createRequest({
      id: behaviours['deliveries.id'] === 'event' ? eventId : id,
      eventId,
      secret,
      content,
      now: timeOfReceivers(clock, behaviours),
      fault,
      newSecret: () => newWebhookSecret(environment),
      behaviours,
    });
    const headers = { ...signedHeaders, ...loginHeader };

    // The time that the receiver has. One that did not answer in time before, while a test advances the clock by days,
    // has less, because otherwise the test would wait for each retry as long as for the first attempt.
    const fullTimeoutMs = TIMEOUTS_MS[behaviours['deliveries.timeout']];
    const isSlow = [...clock.advances].some((advance) => slowReceivers.get(advance)?.has(url));
    const timeoutMs = isSlow ? Math.min(SHORT_TIMEOUT_MS, fullTimeoutMs) : fullTimeoutMs;

    // The call.
    const controller = new AbortController();
    const abort = (reason: Error) => controller.abort(reason);
    this.#calls.set(abort, id);
    const startedMs = realEnvironment.realNow().getTime();
    let cancelTimer = () => {};
    let call: CallResult;
    try {
      cancelTimer = realEnvironment.setTimer(timeoutMs, () => {
        for (const advance of clock.advances) {
          const known = slowReceivers.get(advance) ?? new Set();
          slowReceivers.set(advance, known.add(url));
        }
        abort(new Error(explainTimeout(timeoutMs, fullTimeoutMs)));
      });
      call =
        fault === 'unreachable'
          ? failedResult(new Error('The receiver could not be reached, because of a fault.'))
          : await callReceiver(realEnvironment, { url: href, headers, body }, controller.signal);
    } finally {
      cancelTimer();
      this.#calls.delete(abort);
    }
    const durationMs = Math.max(realEnvironment.realNow().getTime() - startedMs, 0);
    if (this.#hasEnded) return undefined;
    // Until its result is applied, it counts as waiting again: a failed duplicate leaves an earlier retry as it was.
    if (this.#isCurrent(job)) this.#waitingForRetry.add(job, job.order);

    const { isRefused, thrown, ...response } = call;
    const request = { url, requestHeaders: headers, requestBody: body };
    const appliedFault = { fault: fault ?? null, faultId: (fault && faultId) || null };
    return { attempt: { at, realTime, ...request, ...appliedFault, ...response, durationMs }, isRefused, thrown };
  }

  /** Ends a delivery after an attempt, or schedules the next attempt. */
  #applyResult(job: Job, result: AttemptResult): void {
    const { webhooks } = this.#world;
    const isGone = result.attempt.status === 410 && this.#context.behaviours['deliveries.gone'] === 'deactivates';
    if (isGone && webhooks.get(job.webhookId)) webhooks.update(job.webhookId, { isActive: false });
    const outcome = isGone ? GONE_OUTCOME : this.#outcomeOf(result, job.failures + 1);
    const { nextAttemptAt } = outcome;
    if (nextAttemptAt === null) this.#endJob(job.id);
    this.log.addAttempt(job.id, { ...result.attempt, nextAttemptAt }, outcome);
    if (nextAttemptAt !== null) {
      job.failures += 1;
      this.#attemptAt(job, nextAttemptAt);
    }
    this.#publishAttempt(job, result, outcome);
  }

  /** Decides the outcome of an attempt; `failures` counts the failed attempts in a row, with this one if it failed. */
  #outcomeOf({ attempt, isRefused }: AttemptResult, failures: number): AttemptOutcome {
    const { error, responseHeaders } = attempt;
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

  /** Records an attempt without changing the state of the delivery. */
  #recordAttempt(job: Job, result: AttemptResult): void {
    const { state = 'pending', reason = null, nextAttemptAt = null } = this.log.get(job.id) ?? {};
    this.log.addAttempt(job.id, { ...result.attempt, nextAttemptAt }, { state, reason, nextAttemptAt });
    // A further attempt, if one is due, does not follow from this attempt.
    this.#publishAttempt(job, result, { state, reason, nextAttemptAt: null });
  }

  /** Ends a delivery without another attempt. */
  #endWithoutAttempt(job: Job, state: DeliveryState, reason: string): void {
    this.#endJob(job.id);
    this.log.update(job.id, { nextAttemptAt: null, state, reason });
    const data = this.#activityOf(job, { state, reason });
    this.#context.journals.publish(this.#world, 'delivery-ended', data, { cause: job.cause });
  }

  /** Ends the job of a delivery, and cancels what is scheduled for it. */
  #endJob(id: string): void {
    const job = this.#jobs.get(id);
    if (!job) return;
    job.cancel();
    this.#jobs.delete(id);
    this.#waitingForNext.get(job.webhookId)?.delete(job);
    this.#waitingForRetry.remove(job);
  }

  /**
   * Ends the oldest delivery that waits for a further attempt, so that the full log can remove it. The delivery that has
   * just changed stays.
   */
  #dropOldest(changedId: string): void {
    const waiting = this.#waitingForRetry.firstExcept(this.#jobs.get(changedId));
    if (!waiting) return;
    this.#droppedCount += 1;
    this.#endWithoutAttempt(waiting, 'dropped', 'There was no room for it: too many deliveries wait.');
  }

  #publishAttempt(job: Job, { attempt, thrown }: AttemptResult, outcome: AttemptOutcome): void {
    const { at, status, error, durationMs, faultId, responseHeaders, responseBody } = attempt;
    const { nextAttemptAt } = outcome;
    const activity = this.#activityOf(job, outcome);
    const data = {
      ...activity,
      // The URL of the webhook may have changed since the call.
      url: activity.url === null ? null : withoutSecrets(attempt.url),
      attempt: this.log.get(job.id)?.attempts.length ?? 1,
      status,
      error,
      durationMs,
      retryInMs: nextAttemptAt === null ? null : Date.parse(nextAttemptAt) - Date.parse(at),
      faultId,
      sentTimestamp: attempt.requestHeaders['webhook-timestamp'] ?? '',
      responseHeaders,
      responseBody,
      thrown,
      parts: shownPartsOf(this.log.get(job.id)?.payload),
    };
    this.#context.journals.publish(this.#world, 'attempt', data, { cause: job.cause });
  }

  /** Returns what every entry of the journal about a delivery has. */
  #activityOf({ id, webhookId, event }: Job, { state, reason }: Pick<Delivery, 'state' | 'reason'>) {
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

  /**
   * Sends a delivery again at once. With `url`, sends it once to this URL, without a change of its state or its
   * retries.
   *
   * @throws {ApiError} CONFLICT if the delivery is in flight, or if its webhook was deleted.
   */
  redeliver(delivery: Delivery, url?: string): void {
    const webhook = this.#world.webhooks.get(delivery.webhookId);
    if (!webhook) throw new ApiError('CONFLICT', 'The webhook of this delivery was deleted.');
    if ([...this.#calls.values()].includes(delivery.id))
      throw new ApiError('CONFLICT', 'This delivery is already being sent.');
    const options = { isRequested: true, content: JSON.stringify(delivery.payload), fault: undefined };
    if (url === undefined) {
      this.#release(this.#addJob(delivery, options));
      return;
    }
    // This job is not added, so it does not replace the job of the delivery, if it has one.
    const job = this.#createJob(delivery, options);
    this.#enqueue(job, async () => {
      const result = await this.#send(job, { ...webhook, url });
      if (result) this.#recordAttempt(job, result);
    });
  }

  /** Sends at most `count` held deliveries, oldest first, and returns them. */
  release(count: number, webhookId: string | undefined): Delivery[] {
    const isWanted = (job: Job) => webhookId === undefined || job.webhookId === webhookId;
    const held = [...this.#jobs.values()].filter((job) => isWanted(job) && this.log.get(job.id)?.state === 'held');
    const released = held.slice(0, count);
    for (const job of released) this.#release(job);
    return released.flatMap(({ id }) => this.log.get(id) ?? []);
  }

  /** Returns the deliveries in flight. */
  inFlight(): Delivery[] {
    return [...new Set(this.#calls.values())].flatMap((id) => this.log.get(id) ?? []);
  }

  /** How many steps of deliveries wait in the queues. */
  get waitingCount(): number {
    return [...this.#queues.values()].reduce((sum, { steps }) => sum + steps.size, 0);
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
    return [...this.#jobs.values()].flatMap((job) => {
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
      const job = this.#addJob(this.log.add(delivery), options);
      job.failures = failures;
      this.#begin(job, delivery);
    }
  }

  /** Aborts the deliveries in flight and removes every delivery. */
  end(): void {
    this.#hasEnded = true;
    for (const abort of this.#calls.keys()) abort(new Error('The deliveries were reset.'));
    for (const id of this.#jobs.keys()) this.#endJob(id);
    this.log.clear();
  }
}

/** The longest time that a delivery with the fault `reorder` waits for the next delivery to its webhook. */
const REORDER_MS = 60_000;

/** Why a delivery is held, for the faults that hold it. */
const HELD_REASONS: Partial<Record<DeliveryFaultKind, string>> = {
  hold: 'It is held until it is released.',
  reorder: 'It is held until the next delivery to its webhook has been sent, or for a minute.',
};

/** How many steps of one queue may run at the same time. */
const MAX_RUNNING: Record<BehaviourValues['deliveries.order'], number> = { 'one-by-one': 1, parallel: 10 };

/** Returns whether a delivery may be sent to its webhook now. */
function mayBeSent({ isRequested }: Job, { isActive }: WebhookRow): boolean {
  return isActive || isRequested;
}

/** The time that a receiver has to answer. */
const TIMEOUTS_MS: Record<BehaviourValues['deliveries.timeout'], number> = {
  '15s': 15_000,
  '30s': 30_000,
  '5s': 5_000,
  '1s': 1_000,
  '100ms': 100,
};

/** The time that a receiver has that did not answer in time before, while a test advanced the clock. */
const SHORT_TIMEOUT_MS = 1_000;

function explainTimeout(timeoutMs: number, fullTimeoutMs: number): string {
  const problem = `The receiver did not respond within ${timeoutMs / 1000} s.`;
  if (timeoutMs === fullTimeoutMs) return problem;
  const reason = `it did not respond within ${fullTimeoutMs / 1000} s to an earlier attempt`;
  return `${problem} It got only this long, because ${reason} in the same advance of the clock.`;
}

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

/** Creates the outcome of an attempt after which there is no further attempt. */
const finalOutcome = (state: DeliveryState, reason: string | null) => ({ state, reason, nextAttemptAt: null });

const GONE_OUTCOME = finalOutcome('exhausted', 'The receiver answered 410, so its webhook is not active any more.');
