import { ApiError, ERRORS } from '../../contract/errors.ts';
import { type Environment, newFraction } from '../../world/environment.ts';
import type { RequestFault } from '../../world/fault.ts';
import { type RateLimitState, rateLimitHeaders } from '../../world/rate-limits.ts';
import type { Exchange } from './exchange.ts';
import { refuse } from './exchange.ts';
import type { ApiReply } from './reply.ts';
import { CUT_REPLY, FAULT_HEADER, isCut, jsonReply, textReply } from './reply.ts';
import type { Service } from './service.ts';

/**
 * Runs an operation with the faults that apply to its request. Every rate limit counts the request. If none of them
 * refuses it, at most one other fault decides the reply, and at most one delays the reply.
 */
export async function runWithFaults(service: Service, exchange: Exchange, run: () => ApiReply): Promise<ApiReply> {
  const { faults, worlds } = service;
  const { principal, row } = exchange;
  const { world, tier } = principal ?? {};
  const key = principal && exchange.sender.key;
  const due = faults.countOccasion({ on: 'request', world, operation: row?.id, key, tier });
  const limits = due.filter(({ kind }) => kind === 'rate-limit');
  const { clock } = world ?? worlds;
  const strictest = limits.length === 0 ? undefined : faults.rateLimitsOf(world).count(limits, clock);
  const applied = strictest?.isExceeded ? [] : pickFaults(due);
  for (const fault of applied) faults.use(fault);
  exchange.faults = [...limits, ...applied];
  const runWithinLimit = strictest?.isExceeded ? () => refuseByLimit(strictest) : run;
  const reply = applyFault(applied, exchange, () => runOrRefuse(service, exchange, runWithinLimit));
  const delayMs = delayOf(applied, worlds.environment);
  if (delayMs > 0) await faults.wait(delayMs, world);
  return addFaultHeaders(reply, exchange, strictest);
}

/** Picks the first fault that decides the reply, and the first that only delays it. */
function pickFaults(due: readonly RequestFault[]): RequestFault[] {
  const isDelay = ({ kind }: RequestFault) => kind === 'latency';
  const deciding = due.find(({ kind }) => kind === 'reply' || kind === 'cut');
  return [deciding, due.find(isDelay)].flatMap((fault) => fault ?? []);
}

/** Runs an operation. If it throws, returns the error reply. */
function runOrRefuse({ worlds }: Service, exchange: Exchange, run: () => ApiReply): ApiReply {
  try {
    return run();
  } catch (thrown) {
    return refuse(exchange, thrown, worlds.environment.report);
  }
}

function refuseByLimit({ limit, perSeconds, resetSeconds }: RateLimitState): never {
  const message = `The rate limit of ${limit} requests in ${perSeconds} s is exceeded; try again in ${resetSeconds} s.`;
  throw new ApiError('RATE_LIMITED', message);
}

/** Returns the reply that a fault decides. Without such a fault, runs the operation and returns its reply. */
function applyFault(faults: readonly RequestFault[], exchange: Exchange, runOperation: () => ApiReply): ApiReply {
  const fault = faults.find(({ kind }) => kind !== 'latency');
  if (!fault) return runOperation();
  // If the operation does not run, the fault has a status or cuts the connection.
  const original = fault.effect === 'applied' ? runOperation() : CUT_REPLY;
  const { status = original.status, body } = fault;
  const isReplaced = fault.kind === 'cut' || body !== undefined || fault.status !== undefined;
  if (isReplaced) exchange.shown = undefined;
  if (fault.kind === 'cut') return CUT_REPLY;
  const reply = isReplaced ? createFaultReply(status, body, exchange) : original;
  return { ...reply, headers: { ...reply.headers, ...fault.headers } };
}

/** Creates the reply of a fault. An error status without a body gets an error body in the shape of the service. */
function createFaultReply(status: number, body: unknown, { readBehaviour }: Exchange): ApiReply {
  if (typeof body === 'string') return textReply(status, body, 'text/plain; charset=utf-8');
  if (body !== undefined || status < 400) return jsonReply(status, body);
  const error = `A fault of the emulator replied with ${status}.`;
  const code = Object.entries(ERRORS).find(([, each]) => each.status === status)?.[0] ?? `HTTP_${status}`;
  return jsonReply(status, readBehaviour('errors.shape') === 'error-and-code' ? { error, code } : { error });
}

/** Returns how long the faults delay the reply, in milliseconds of real time. */
function delayOf(applied: readonly RequestFault[], environment: Environment): number {
  const latencies = applied.flatMap(({ latency }) => latency ?? []);
  const pickJitter = (jitterMs: number) => Math.floor(newFraction(environment) * (jitterMs + 1));
  return latencies.reduce((sum, { ms, jitterMs }) => sum + ms + pickJitter(jitterMs), 0);
}

/** Adds the header that names the faults, and the headers of the strictest rate limit. */
function addFaultHeaders(reply: ApiReply, { faults }: Exchange, limit: RateLimitState | undefined): ApiReply {
  if (faults.length === 0 || isCut(reply)) return reply;
  const faultHeader = { [FAULT_HEADER]: faults.map(({ kind, id }) => `${kind} ${id}`).join(', ') };
  return { ...reply, headers: { ...reply.headers, ...(limit && rateLimitHeaders(limit)), ...faultHeader } };
}
