import { z } from 'zod';
import type { InputOf, OutputOf } from '../basics/input-of.ts';
import { lazy } from '../basics/lazy.ts';
import { CLOSE_CODES } from '../contract/stream-protocol.ts';
import {
  type FaultIdentity,
  keyField,
  type ParsedOptions,
  planFields,
  standingFields,
  tierField,
  wholeNumber,
} from './target-fields.ts';

/** What each stream fault does instead of sending the event. */
export const STREAM_FAULTS = {
  close: 'The stream is closed, with the code in `code`.',
  stall: 'The stream stays open, but nothing is sent on it any more: no event, no ping and no reply.',
} as const;

/** The kind of a stream fault. */
export type StreamFaultKind = keyof typeof STREAM_FAULTS;

const KINDS = Object.keys(STREAM_FAULTS) as StreamFaultKind[];

// Without the fields that every fault has: comments of fields that are spread are lost in declaration files.
const ownOptions = () => ({
  /** What the fault applies to: events that are sent to streams. */
  on: z.literal('stream'),
  /** The kind of the fault. */
  kind: z.enum(KINDS, `must be one of ${KINDS.join(', ')}`),
  /** The key that opened the stream. Default: any key. */
  key: keyField().optional(),
  /** The tier of that key. Default: any tier. */
  tier: tierField().optional(),
  /** Only for `close`: the close code, from 4000 to 4999. Default: 4503. */
  code: wholeNumber(4000, 4999).default(CLOSE_CODES.fault),
});

/** The options of a fault of event streams. */
export type StreamFaultOptions = InputOf<ReturnType<typeof ownOptions> & ReturnType<typeof planFields>>;

const ownFields = () => ({
  /** What the fault happens to: `stream`. */
  on: z.literal('stream'),
  /** What goes wrong. */
  kind: z.enum(KINDS),
  /** The only key to whose streams it applies; null for any. */
  key: z.string().nullable(),
  /** The only tier of keys to whose streams it applies; null for any. */
  tier: tierField().nullable(),
  /** The close code, for `close`. */
  code: z.int(),
});

/** A fault of event streams that is set. */
export type StreamFault = OutputOf<ReturnType<typeof ownFields> & ReturnType<typeof standingFields>>;

/** The schemas of a fault of event streams, and what creates one. */
export const STREAM = {
  options: lazy(() => z.strictObject({ ...ownOptions(), ...planFields() })),
  listed: lazy(() => z.strictObject({ ...ownFields(), ...standingFields() })),
  create(
    { on, kind, key, tier, after = 0, times = 1, code }: ParsedOptions<typeof ownOptions>,
    identity: FaultIdentity,
  ): StreamFault {
    return { ...identity, on, kind, key: key ?? null, tier: tier ?? null, after, times, code };
  },
};
