import type { Tier } from '../contract/tiers.ts';

/** What every fault has. */
export interface FaultBasis {
  /** The id of the fault, a UUID, for `removeFault`. */
  readonly id: string;
  /** The id of the only tenant that the fault applies to; null for any. */
  readonly tenantId: string | null;
  /** How many more matching events the fault ignores before it happens. */
  readonly after: number;
  /** How many more times it will happen. */
  readonly times: number;
}

/** What each kind of request fault does. The kind follows from the options. */
export const REQUEST_FAULTS = {
  reply: 'The reply has another status, body or headers.',
  cut: 'The connection is cut without a reply.',
  latency: 'The reply comes later.',
  'rate-limit': 'Requests above a limit are refused with 429.',
} as const;

/** The kind of a request fault. */
export type RequestFaultKind = keyof typeof REQUEST_FAULTS;

/** A fault of requests that is set. */
export interface RequestFault extends Omit<FaultBasis, 'times'> {
  /** What the fault happens to: `request`. */
  readonly on: 'request';
  /** What goes wrong. */
  readonly kind: RequestFaultKind;
  /** How many more times it will happen; null for a rate limit, which applies until it is removed. */
  readonly times: number | null;
  /** The only operation that the fault applies to; null for any. */
  readonly operation: string | null;
  /** The only key that the fault applies to; null for any. */
  readonly key: string | null;
  /** The only tier that the fault applies to; null for any. */
  readonly tier: Tier | null;
  /** Whether the operation runs. */
  readonly effect: 'applied' | 'none';
  /** The status of the reply. If it is left out, the reply has the status of the operation. */
  readonly status?: number | undefined;
  /** The body of the reply. If it is left out, the reply has the body of the operation or of an error. */
  readonly body?: unknown;
  /** The headers that are added to the reply. They replace headers of the reply with the same name. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** How long the reply waits, in real time. */
  readonly latency?:
    | {
        /** The time that it waits at least, in milliseconds. */
        readonly ms: number;
        /** How much longer it waits at most, in milliseconds. */
        readonly jitterMs: number;
      }
    | undefined;
  /** How many requests are allowed in a span of the tenant's time. */
  readonly rateLimit?:
    | {
        /** How many requests of one tenant are allowed. */
        readonly limit: number;
        /** The span of time in milliseconds. */
        readonly perMs: number;
      }
    | undefined;
}

/** What happens to the delivery, for each kind. A fault that changes the request affects the first attempt only. */
export const DELIVERY_FAULTS = {
  duplicate: 'It is sent twice, with the same `webhook-id`.',
  reorder: 'It is sent after the next delivery to the same webhook, or after a minute without a next delivery.',
  hold: 'It waits until it is released.',
  drop: 'It is never sent.',
  delay: 'It is sent after the time in `delay`.',
  'stale-timestamp': 'Its timestamp is an hour old, and the signature is valid.',
  'wrong-secret': 'It is signed with another secret.',
  'two-signatures': 'It has two signatures, as during a rotation of the secret; only the second is valid.',
  'truncated-body': 'Half of its body is missing, but the signature is for the whole body.',
  unreachable: 'The first attempt fails as if no program listened at the URL.',
  'oversize-body': 'Its body has 1 MiB of extra padding, and the signature is valid.',
} as const;

/** The kind of a delivery fault. */
export type DeliveryFaultKind = keyof typeof DELIVERY_FAULTS;

/** Every kind of delivery fault. */
export const DELIVERY_FAULT_KINDS = Object.keys(DELIVERY_FAULTS) as DeliveryFaultKind[];

/** A fault of deliveries that is set. */
export interface DeliveryFault extends FaultBasis {
  /** What the fault happens to: `delivery`. */
  readonly on: 'delivery';
  /** What goes wrong. */
  readonly kind: DeliveryFaultKind;
  /** The id of the only webhook that the fault applies to; null for any. */
  readonly webhookId: string | null;
  /** The delay in milliseconds; 0 unless the kind is `delay`. */
  readonly delayMs: number;
}

/** What happens instead of sending the event, for each kind of stream fault. */
export const STREAM_FAULTS = {
  close: 'The stream is closed, with the code in `code`.',
  stall: 'The stream stays open, but nothing is sent on it any more: no event, no ping and no reply.',
} as const;

/** The kind of a stream fault. */
export type StreamFaultKind = keyof typeof STREAM_FAULTS;

/** A fault of event streams that is set. */
export interface StreamFault extends FaultBasis {
  /** What the fault happens to: `stream`. */
  readonly on: 'stream';
  /** What goes wrong. */
  readonly kind: StreamFaultKind;
  /** The fault applies only to streams that were opened with this key; null for any key. */
  readonly key: string | null;
  /** The fault applies only to streams that were opened with a key of this tier; null for any tier. */
  readonly tier: Tier | null;
  /** The close code, for `close`. */
  readonly code: number;
}

/** A fault of mail over SMTP that is set. */
export interface SmtpFault extends FaultBasis {
  /** What the fault happens to: `smtp`. */
  readonly on: 'smtp';
  /** The only address to which the fault applies, in lower case; null for any. */
  readonly recipient: string | null;
  /** The reply code. */
  readonly status: number;
  /** The text after the reply code. */
  readonly message: string;
}

/**
 * What each IMAP fault does. The first three affect a session from its login to its end, the next two affect a login,
 * and each of the others affects one command or one new mail of a session.
 */
export const IMAP_FAULTS = {
  'id-required': 'No folder can be opened until the client has sent ID.',
  disconnect: 'The connection is cut after `commands` commands or, without that option, after the time in `delay`.',
  slow: 'Each reply waits for the time in `delay`.',
  'login-refused': 'The login fails, although the password is right.',
  'too-many-connections': 'The login fails, because the inbox has too many connections.',
  'id-refused': 'The command ID is answered with BAD.',
  'repeated-exists': 'EXISTS is sent three times for one new mail.',
  'new-uidvalidity': 'The UIDVALIDITY of the open folder changes before the next command.',
  'cut-literal': 'The connection is cut in the middle of the content of a mail.',
} as const;

/** The kind of an IMAP fault. */
export type ImapFaultKind = keyof typeof IMAP_FAULTS;

/** A fault of IMAP sessions that is set. */
export interface ImapFault extends FaultBasis {
  /** What the fault happens to: `imap`. */
  readonly on: 'imap';
  /** What goes wrong. */
  readonly kind: ImapFaultKind;
  /** The address of the only inbox to which the fault applies, in lower case; null for any. */
  readonly inbox: string | null;
  /** The delay in milliseconds; 0 unless the kind is `slow` or `disconnect`. */
  readonly delayMs: number;
  /** The number of commands after which the connection ends; null if `delayMs` decides. */
  readonly commands: number | null;
}

/** A fault that is set. `on` says what it applies to, and `times` how often it will still happen. */
export type Fault = RequestFault | DeliveryFault | StreamFault | SmtpFault | ImapFault;

/** What a fault applies to. */
export type FaultTarget = Fault['on'];
