import { createReceiver, type Receiver, type ReceiverOptions } from 'agent-mailbox-mock/receiver';

/** Creates a receiver that waits longer for its requests by default, for when other tests keep this machine busy. */
export function createPatientReceiver(options?: ReceiverOptions): Receiver {
  const receiver = createReceiver(options);
  const { received } = receiver;
  return Object.assign(receiver, { received: (count: number, timeoutMs = 20_000) => received(count, timeoutMs) });
}
