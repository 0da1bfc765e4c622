import { z } from 'zod';
import { lazy } from '../basics/lazy.ts';
import { DELIVERY, type DeliveryFault, type DeliveryFaultOptions } from './delivery-fault.ts';
import { IMAP, type ImapFault, type ImapFaultOptions } from './imap-fault.ts';
import { REQUEST, type RequestFault, type RequestFaultOptions } from './request-fault.ts';
import { SMTP, type SmtpFault, type SmtpFaultOptions } from './smtp-fault.ts';
import { STREAM, type StreamFault, type StreamFaultOptions } from './stream-fault.ts';
import type { FaultIdentity } from './target-fields.ts';

/** The options of `addFault`: what the fault applies to, what happens, and by which plan. */
export type FaultOptions =
  | RequestFaultOptions
  | DeliveryFaultOptions
  | StreamFaultOptions
  | SmtpFaultOptions
  | ImapFaultOptions;

/** A fault that is set, with the number of times that it still applies; `on` says what it applies to. */
export type Fault = RequestFault | DeliveryFault | StreamFault | SmtpFault | ImapFault;

/** What a fault applies to. */
export type FaultTarget = Fault['on'];

/** The schema of the options of `addFault`. */
export const faultOptions = lazy(() =>
  z.discriminatedUnion(
    'on',
    [REQUEST.options(), DELIVERY.options(), STREAM.options(), SMTP.options(), IMAP.options()],
    {
      error: ({ code }) =>
        code === 'invalid_union' ? 'must be one of request, delivery, stream, smtp, imap' : 'must be an object',
    },
  ),
);

/** The schema of the option with the faults that a mailbox starts with. */
export const initialFaults = lazy(() => z.object({ faults: z.array(faultOptions(), 'must be a list of faults') }));

/** The schema of a fault that is set. */
export const anyFault = lazy(() =>
  z.discriminatedUnion('on', [REQUEST.listed(), DELIVERY.listed(), STREAM.listed(), SMTP.listed(), IMAP.listed()]),
);

const TARGETS = { request: REQUEST, delivery: DELIVERY, stream: STREAM, smtp: SMTP, imap: IMAP };

/** Creates a fault from its options. */
export function createFault(options: z.output<ReturnType<typeof faultOptions>>, identity: FaultIdentity): Fault {
  return TARGETS[options.on].create(options as never, identity);
}
