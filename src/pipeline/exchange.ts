import type { Principal } from '../access/principal.ts';
import type { Choices } from '../contract/behaviours.ts';
import type { ApiError } from '../contract/errors.ts';
import { createLedgerReader, type LedgerReader } from '../contract/ledger-reader.ts';
import type { ApiReply, ApiRequest } from './http.ts';
import type { OperationRow } from './operation-rows.ts';

/**
 * One request on its way to its reply, and all that is known of it. The stages of `handle-request.ts` fill it in, each
 * once and in order; observers look at it when it is done.
 */
export interface Exchange extends LedgerReader {
  readonly request: ApiRequest;
  /** When it began, in milliseconds of `performance.now()`. */
  readonly startedMs: number;
  /** The operation that it asks for; `undefined` until one is found. */
  row: OperationRow | undefined;
  /** Who calls; `undefined` until the key is known to be valid, and for a public operation. */
  principal: Principal | undefined;
  /** Why it was refused, with the reason that the reply does not tell; `undefined` after a success. */
  error: ApiError | undefined;
  reply: ApiReply | undefined;
  /** How long it took, once it is done. */
  durationMs: number;
}

/** An exchange that is done. */
export type FinishedExchange = Exchange & { readonly reply: ApiReply };

/** Looks at an exchange that is done. */
export type ExchangeObserver = (exchange: FinishedExchange) => void;

/** Creates the exchange of a request that has just arrived. */
export function createExchange(request: ApiRequest, choices: Choices): Exchange {
  return {
    request,
    startedMs: performance.now(),
    row: undefined,
    principal: undefined,
    error: undefined,
    reply: undefined,
    durationMs: 0,
    ...createLedgerReader(choices),
  };
}
