import { z } from 'zod';
import { type FieldsOf, type InputOf, lazy, type OutputOf } from '../basics/lazy-schema.ts';
import { messageOf } from '../basics/named-error.ts';
import { clearTimeout, setTimeout } from '../basics/real-timers.ts';
import { ApiError, parseOrRefuse } from '../contract/errors.ts';
import { timestamp } from '../contract/schemas.ts';
import { HandlerError } from '../service/delivery/connected-handlers.ts';
import { type Delivery, type DeliveryLosses, lossesReply } from '../service/delivery/delivery.ts';
import { CorrespondentError } from '../service/mail/correspondents/correspondent.ts';
import type { HeldMail } from '../service/mail/outgoing/loop-guard.ts';
import { type Failure, parseDuration } from '../world/clock.ts';
import type { ReachableWorlds } from '../world/store/reachable-worlds.ts';
import { timeoutField } from './call-fields.ts';
import type { ControlScope } from './control-scope.ts';
import { tellLatest } from './verdicts/story.ts';

const settledFields = () => ({
  /** Maximum waiting time, in real time, up to 1h. Default: 4 seconds. */
  timeout: timeoutField().optional(),
});

/** The schema of the options of `settled`. */
export const settledOptions = lazy(() => z.strictObject(settledFields()));

/** The options of `settled`. */
export type SettledOptions = InputOf<ReturnType<typeof settledFields>>;

/** The default timeout is shorter than the timeout of test runners, so that this more specific error comes first. */
const DEFAULT_TIMEOUT_MS = 4_000;

/** Maximum number of failures, or of pending deliveries and answers, that an error lists. */
const MAX_NAMED = 3;

const refusedFields = () => ({
  /** The id of the webhook. */
  webhookId: z.string(),
  /** The URL of its latest refused delivery. */
  url: z.string(),
  /** Why the URL may not be called. */
  reason: z.string().nullable(),
});

/** A webhook whose URL the emulator may not call. */
export interface RefusedWebhook extends OutputOf<ReturnType<typeof refusedFields>> {}

const heldMail = () =>
  z.strictObject({
    tenantId: z.string(),
    from: z.string(),
    to: z.string(),
    subject: z.string(),
    messageIdHeader: z.string(),
    heldAt: timestamp().describe("By the tenant's clock."),
    reason: z.string(),
  } satisfies FieldsOf<HeldMail>);

const resultFields = () => ({
  /** How many deliveries were removed since the last reset because a delivery log was full. */
  losses: lossesReply() as z.ZodType<DeliveryLosses>,
  /** The mail that is held because of a loop, at most the latest 100, with the reason; left out if there is none. */
  held: (z.array(heldMail()) as z.ZodType<readonly HeldMail[]>)
    .exactOptional()
    .describe('The mail that is held because of a loop; left out if there is none.'),
  /**
   * The webhooks whose deliveries were refused, each with its latest URL and the reason; left out if there are none.
   */
  refused: (z.array(z.strictObject(refusedFields())) as z.ZodType<readonly RefusedWebhook[]>)
    .exactOptional()
    .describe('The webhooks whose deliveries were refused; left out if there are none.'),
});

/** The schema of the reply to `settle`. */
export const settledReply = lazy(() => z.strictObject({ settled: z.literal(true), ...resultFields() }));

/** The result of `settled`. */
export interface Settled extends OutputOf<ReturnType<typeof resultFields>> {}

/**
 * Resolves when no work is due or running. It does not wait for work that is due later, such as a retry.
 *
 * @throws {ApiError} CONFLICT after the timeout, with the pending deliveries and answers of correspondents, or if a
 *   correspondent could not write its answer, or if a connected handler failed after its response;
 *   VALIDATION_ERROR for an invalid timeout;
 *   INTERNAL_ERROR if a bug in the emulator has stopped some work, with the error as its cause.
 */
export async function settle(scope: ControlScope, options: SettledOptions = {}): Promise<Settled> {
  const { worlds, dispatcher, service } = scope;
  const { timeout = DEFAULT_TIMEOUT_MS } = parseOrRefuse('The input of settled', settledOptions(), options);
  const timeoutMs = parseDuration(timeout);
  const { epoch } = worlds.mailbox;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<'late'>((resolve) => {
    // Unlike the timers of the environment, this timer keeps the process alive, because the caller awaits it.
    timer = setTimeout(() => resolve('late'), timeoutMs);
  });
  const outcome = await Promise.race([late, waitForIdle(worlds)]);
  clearTimeout(timer);
  if (outcome === 'late') throw createTimeoutError(timeoutMs, scope);
  // The clock of the mailbox, `worlds.clock`, runs the work that belongs to no tenant. Failures after a reset belong to
  // the next call.
  const owners = [worlds, ...worlds.all()].filter(({ parts }) => parts.epoch <= epoch);
  const failures = owners.flatMap(({ clock }) => clock.takeFailures());
  if (failures.length > 0) throw createFailureError(failures);
  const held = [...service.loops.held(worlds)];
  const refused = findRefused(dispatcher.list(worlds.all(), { state: 'refused' }));
  const losses = dispatcher.losses(worlds.all());
  return { losses, ...(held.length > 0 && { held }), ...(refused.length > 0 && { refused }) };
}

/** Returns the webhooks whose deliveries were refused, each once. */
function findRefused(deliveries: readonly Delivery[]): RefusedWebhook[] {
  const byWebhook = new Map(deliveries.map((delivery) => [delivery.webhookId, delivery]));
  return Array.from(byWebhook.values(), ({ webhookId, reason, attempts }) => {
    return { webhookId, url: attempts.at(-1)?.url ?? '', reason };
  });
}

function createFailureError(failures: readonly Failure[]): ApiError {
  const errors = failures.map(({ error }) => error);
  const missingAnswer = errors.find((error) => error instanceof CorrespondentError);
  if (missingAnswer) {
    return Object.assign(new ApiError('CONFLICT', missingAnswer.message), { cause: missingAnswer.cause });
  }
  const ofHandler = errors.find((error) => error instanceof HandlerError);
  if (ofHandler) return Object.assign(new ApiError('CONFLICT', ofHandler.message), { cause: ofHandler.thrown });
  const named = failures.slice(0, MAX_NAMED).map(({ what, error }) => `${what} (${messageOf(error)})`);
  const message = `A bug in the emulator has ended ${joinNames(named, failures.length)}.`;
  return Object.assign(new ApiError('INTERNAL_ERROR', message), { cause: errors[0] });
}

/** Joins the names to one text. If they are fewer than `total`, the text ends with the number of the missing names. */
function joinNames(named: readonly string[], total: number): string {
  const more = total - named.length;
  return named.join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** Resolves when no world has work. The work of one world, such as a mail, can cause work in a world that was idle. */
async function waitForIdle(worlds: ReachableWorlds): Promise<void> {
  do {
    await Promise.all(worlds.all().map(({ clock }) => clock.idle()));
  } while (worlds.all().some(({ clock }) => clock.runningWork > 0));
}

function createTimeoutError(timeoutMs: number, scope: ControlScope): ApiError {
  const { worlds, dispatcher, service } = scope;
  const inFlight = dispatcher.inFlight(worlds.all()).map(nameOf);
  const writing = worlds.all().flatMap((world) => service.correspondents.addressesOfWriters(world));
  const pending = [...inFlight, ...writing.map((address) => `the answer of the correspondent ${address}`)];
  const waiting = dispatcher.countWaiting(worlds.all());
  const named = pending.slice(0, MAX_NAMED);
  const openWork = named.length > 0 ? joinNames(named, pending.length) : 'work that has no name';
  const queued = waiting > 0 ? `; ${waiting} more wait for their turn` : '';
  const message = `Not settled after ${timeoutMs} ms; still pending: ${openWork}${queued}.${tellLatest(scope)}`;
  return Object.assign(new ApiError('CONFLICT', message), { pending });
}

/** Whether `settled` has failed only because something is still to be done; the mailbox and its correspondents work. */
export function isNotSettled(error: unknown): boolean {
  return error instanceof ApiError && 'pending' in error;
}

function nameOf({ id, event, webhookId }: Delivery): string {
  return `delivery ${id} of ${event} to webhook ${webhookId}`;
}
