import { readKey } from '../access/credentials.ts';
import { tenantIdOf } from '../access/principal.ts';
import { ApiError, ERRORS } from '../contract/errors.ts';
import { newFraction } from '../environment.ts';
import type { FaultOccasion } from '../faults/faults.ts';
import { type RateLimitState, rateLimitHeaders } from '../faults/rate-limits.ts';
import type { RequestFault } from '../faults/request-fault.ts';
import { refuse } from './error-reply.ts';
import type { Exchange } from './exchange.ts';
import { type ApiReply, CUT_REPLY, FAULT_HEADER, isCut, jsonReply, textReply } from './http.ts';
import type { OperationRow } from './operation-rows.ts';
import type { Service } from './service.ts';

/**
 * Runs an operation under the faults that apply to its request: every rate limit, and unless one of them refuses the
 * request, one fault that decides the reply and one that only delays it.
 */
export async function runWithFaults(
  service: Service,
  exchange: Exchange,
  row: OperationRow,
  run: () => ApiReply,
): Promise<ApiReply> {
  const { faults, worlds } = service;
  const due = faults.due(occasionOf(exchange, row));
  const limits = due.filter(({ kind }) => kind === 'rate-limit');
  const limit = faults.rateLimits.count(limits, worldOf(service, exchange).clock);
  const counted = limit?.isExceeded ? [] : pickFaults(due);
  for (const fault of counted) faults.use(fault);
  exchange.faults = [...limits, ...counted];
  const attempt = () => runOrRefuse(service, exchange, run);
  const reply = limit?.isExceeded
    ? refuse(exchange, rateLimited(limit), worlds.environment.report)
    : replyUnder(counted, exchange, attempt);
  await waitFor(counted, service, exchange);
  return withFaultHeaders(reply, exchange, limit);
}

function occasionOf({ principal, request, readBehaviour }: Exchange, { id }: OperationRow): FaultOccasion<'request'> {
  const tenantId = principal ? tenantIdOf(principal) : null;
  const key = principal && readKey(request, readBehaviour);
  return { on: 'request', tenantId, operation: id, key, tier: principal?.tier };
}

/** Returns the part of the store that has the time of the caller: the tenant's world, or that of the operator. */
function worldOf({ worlds }: Service, { principal }: Exchange) {
  return principal && 'world' in principal ? principal.world : worlds;
}

/** Picks the first fault that decides the reply, and the first that only delays it. */
function pickFaults(due: readonly RequestFault[]): RequestFault[] {
  const isDelay = ({ kind }: RequestFault) => kind === 'latency';
  const deciding = due.find(({ kind }) => kind === 'reply' || kind === 'cut');
  return [deciding, due.find(isDelay)].flatMap((fault) => fault ?? []);
}

/** Runs an operation; if it refuses the request, returns the reply to that. */
function runOrRefuse({ worlds }: Service, exchange: Exchange, run: () => ApiReply): ApiReply {
  try {
    return run();
  } catch (thrown) {
    return refuse(exchange, thrown, worlds.environment.report);
  }
}

function rateLimited({ limit, perSeconds, resetSeconds }: RateLimitState): ApiError {
  return new ApiError(
    'RATE_LIMITED',
    `The rate limit of ${limit} requests in ${perSeconds} s is exceeded; try again in ${resetSeconds} s.`,
  );
}

/** Returns the reply under the fault that decides it, if there is one. */
function replyUnder(faults: readonly RequestFault[], exchange: Exchange, attempt: () => ApiReply): ApiReply {
  const fault = faults.find(({ kind }) => kind !== 'latency');
  if (!fault) return attempt();
  const own = fault.effect === 'applied' ? attempt() : CUT_REPLY;
  if (fault.kind === 'cut') return CUT_REPLY;
  const { status = own.status, body } = fault;
  const reply = body === undefined && fault.status === undefined ? own : newReply(status, body, exchange);
  return { ...reply, headers: { ...reply.headers, ...fault.headers } };
}

/** Creates a reply with a body; without one, the body of an error status is an error in the shape of the service. */
function newReply(status: number, body: unknown, { readBehaviour }: Exchange): ApiReply {
  if (typeof body === 'string') return textReply(status, body, 'text/plain; charset=utf-8');
  if (body !== undefined || status < 400) return jsonReply(status, body);
  const error = `A fault of the emulator replied with ${status}.`;
  const code = Object.entries(ERRORS).find(([, each]) => each.status === status)?.[0] ?? `HTTP_${status}`;
  return jsonReply(status, readBehaviour('errors.shape') === 'error-and-code' ? { error, code } : { error });
}

/** Waits as long as the faults say, in real time. */
async function waitFor(
  faults: readonly RequestFault[],
  { faults: { waits }, worlds }: Service,
  { principal }: Exchange,
): Promise<void> {
  const latencies = faults.flatMap(({ latency }) => latency ?? []);
  const durationMs = latencies.reduce(
    (sum, { ms, jitterMs }) => sum + ms + Math.floor(newFraction(worlds.environment) * (jitterMs + 1)),
    0,
  );
  if (durationMs > 0) await waits.wait(durationMs, principal ? tenantIdOf(principal) : null);
}

/** Adds the header that names the faults, and those of the tightest rate limit. */
function withFaultHeaders(reply: ApiReply, { faults, assume }: Exchange, limit: RateLimitState | undefined): ApiReply {
  if (faults.length === 0 || isCut(reply)) return reply;
  if (limit) assume('requests.rate-limits');
  const named = { [FAULT_HEADER]: faults.map(({ kind, id }) => `${kind} ${id}`).join(', ') };
  return { ...reply, headers: { ...reply.headers, ...(limit && rateLimitHeaders(limit)), ...named } };
}
