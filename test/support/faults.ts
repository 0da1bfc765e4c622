import type { DeliveryFault, DeliveryFaultOptions, Fault, FaultOptions, ReleaseOptions } from 'agent-mailbox-mock';
import type { ReceiverAnswer } from 'agent-mailbox-mock/receiver';
import { expect } from 'vitest';
import { type ControlAnswer, control } from './control.ts';
import type { Service } from './everywhere.ts';
import { hook, startReceiver } from './webhooks.ts';

/** Requests a fault: by the method in process, by the control plane over HTTP. */
export function askForFault(service: Service, options: unknown): Promise<ControlAnswer> {
  return control(service, 'POST /faults', options, () => service.mailbox.addFault(options as FaultOptions));
}

/** Adds a fault. */
export async function setFault(service: Service, fault: FaultOptions): Promise<Fault> {
  const { status, json } = await askForFault(service, fault);
  expect([status, json.error]).toEqual([200, undefined]);
  return json;
}

/** Adds a fault for deliveries. */
export async function addFault(service: Service, fault: Omit<DeliveryFaultOptions, 'on'>): Promise<DeliveryFault> {
  return (await setFault(service, { on: 'delivery', ...fault })) as DeliveryFault;
}

/** Lists the faults that have times left. */
export async function listFaults(service: Service): Promise<Fault[]> {
  const listed = () => ({ faults: service.mailbox.faults() });
  return (await control(service, 'GET /faults', undefined, listed)).json.faults;
}

/** Releases held deliveries, and returns their ids. */
export async function release(service: Service, options: ReleaseOptions = {}): Promise<string[]> {
  const released = () => ({ deliveries: service.mailbox.release(options) });
  const { status, json } = await control(service, 'POST /deliveries/release', options, released);
  expect([status, json.error]).toEqual([200, undefined]);
  return json.deliveries.map(({ id }: { id: string }) => id);
}

/** Creates a webhook, of Acme by default, at a receiver that verifies; time is frozen. */
export async function target(service: Service, answers: ReceiverAnswer[] = [], key = service.mailbox.keys.acme.tenant) {
  const receiver = startReceiver(service, ...answers);
  const { id, secret } = await hook(service, receiver, { key });
  return {
    id,
    secret,
    receiver,
    /** Fires an event with an id at this webhook, without waiting. */
    fire: (name: string) => service.mailbox.trigger('message.received', { webhookId: id, id: name })[0]?.id ?? '',
    /** The ids of the events that came in, in their order. */
    received: () => receiver.requests.map(({ headers }) => headers['webhook-id']),
    [Symbol.asyncDispose]: () => receiver.close(),
  };
}

/** Whether each request verified, and why not. */
export const seenBy = ({ receiver }: Awaited<ReturnType<typeof target>>) =>
  receiver.requests.map(({ verified, problem }) => [verified, problem]);
