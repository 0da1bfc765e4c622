export type { ReceiverAnswer } from './answer.ts';
export {
  createReceiver,
  type ReceivedRequest,
  type Receiver,
  type ReceiverOptions,
} from './receiver.ts';
