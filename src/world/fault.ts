import { z } from 'zod';
import { lazy } from '../basics/lazy.ts';
import {
  createDeliveryFault,
  type DeliveryFault,
  type DeliveryFaultOptions,
  deliveryFault,
  deliveryFaultOptions,
} from './delivery-fault.ts';
import { createImapFault, type ImapFault, type ImapFaultOptions, imapFault, imapFaultOptions } from './imap-fault.ts';
import {
  createRequestFault,
  type RequestFault,
  type RequestFaultOptions,
  requestFault,
  requestFaultOptions,
} from './request-fault.ts';
import { createSmtpFault, type SmtpFault, type SmtpFaultOptions, smtpFault, smtpFaultOptions } from './smtp-fault.ts';
import {
  createStreamFault,
  type StreamFault,
  type StreamFaultOptions,
  streamFault,
  streamFaultOptions,
} from './stream-fault.ts';
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
    [requestFaultOptions(), deliveryFaultOptions(), streamFaultOptions(), smtpFaultOptions(), imapFaultOptions()],
    {
      error: ({ code }) =>
        code === 'invalid_union' ? 'must be one of request, delivery, stream, smtp, imap' : 'must be an object',
    },
  ),
);

/** The schema of the option with the faults that a mailbox starts with. */
export const firstFaults = lazy(() => z.object({ faults: z.array(faultOptions(), 'must be a list of faults') }));

/** The schema of a fault that is set. */
export const anyFault = lazy(() =>
  z.discriminatedUnion('on', [requestFault(), deliveryFault(), streamFault(), smtpFault(), imapFault()]),
);

/** Creates a fault from its options. */
export function createFault(options: z.output<ReturnType<typeof faultOptions>>, identity: FaultIdentity): Fault {
  switch (options.on) {
    case 'request':
      return createRequestFault(options, identity);
    case 'delivery':
      return createDeliveryFault(options, identity);
    case 'stream':
      return createStreamFault(options, identity);
    case 'smtp':
      return createSmtpFault(options, identity);
    case 'imap':
      return createImapFault(options, identity);
  }
}
