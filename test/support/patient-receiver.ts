import { createReceiver, type Receiver, type ReceiverOptions } from 'agent-mailbox-mock/receiver';
import { PATIENCE_MS } from './patience.ts';

/** Creates a receiver that waits longer for its requests by default, for when other tests keep this machine busy. */
export function createPatientReceiver(options?: ReceiverOptions): Receiver {
  const receiver = createReceiver(options);
  const { received } = receiver;
  return Object.assign(receiver, { received: (count: number, timeoutMs = PATIENCE_MS) => received(count, timeoutMs) });
}
