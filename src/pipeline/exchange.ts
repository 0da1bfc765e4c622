import type { Principal } from '../access/principal.ts';
import { createRecordingReader, type RecordingReader } from '../contract/behaviour-reader.ts';
import type { BehaviourValues } from '../contract/behaviours.ts';
import type { ApiError } from '../contract/errors.ts';
import type { RequestFault } from '../faults/request-fault.ts';
import type { ApiReply, ApiRequest } from './http.ts';
import type { OperationRow } from './operation-rows.ts';
import type { ReceivedBody } from './read-body.ts';

/**
 * One request and its reply, with the row, the principal and the behaviours that handling it has found. The stages of
 * `handle-request.ts` fill it in, in order. Observers receive it when it is finished.
 */
export interface Exchange extends RecordingReader {
  readonly request: ApiRequest;
  /** The start time, in milliseconds of `performance.now()`. */
  readonly startedMs: number;
  /** The row of the requested operation; `undefined` until it is found. */
  row: OperationRow | undefined;
  /** The caller; `undefined` until the key is checked, and for a public operation. */
  principal: Principal | undefined;
  /** The body of the request; `undefined` until it is read. */
  received: ReceivedBody | undefined;
  /** The faults that shaped the reply. */
  faults: readonly RequestFault[];
  /** The error of a refused request, with the reason that the reply omits; `undefined` after a success. */
  error: ApiError | undefined;
  /** The names of what the request has and the operation does not read, each with what may have been meant. */
  readonly ignored: string[];
  reply: ApiReply | undefined;
  /** The duration in milliseconds; 0 until it is finished. */
  durationMs: number;
}

/** A finished exchange. */
export type FinishedExchange = Exchange & { readonly reply: ApiReply };

/** Observes finished exchanges. */
export type ExchangeObserver = (exchange: FinishedExchange) => void;

const NO_FAULTS: readonly RequestFault[] = [];

/** Creates the exchange of a new request. */
export function createExchange(request: ApiRequest, behaviours: BehaviourValues): Exchange {
  return {
    request,
    startedMs: performance.now(),
    row: undefined,
    principal: undefined,
    received: undefined,
    faults: NO_FAULTS,
    error: undefined,
    ignored: [],
    reply: undefined,
    durationMs: 0,
    ...createRecordingReader(behaviours),
  };
}

/** Sets the reply and the duration of an exchange, and notifies the observers. */
export function finishExchange(
  exchange: Exchange,
  reply: ApiReply,
  observers: readonly ExchangeObserver[],
): FinishedExchange {
  const finished = Object.assign(exchange, { reply, durationMs: performance.now() - exchange.startedMs });
  for (const observe of observers) observe(finished);
  return finished;
}
