export type { ReceiverAnswer } from './receiver.ts';
export {
  createReceiver,
  type ReceivedRequest,
  type Receiver,
  type ReceiverOptions,
} from './receiver.ts';
