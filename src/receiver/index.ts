export {
  createReceiver,
  type ReceivedRequest,
  type Receiver,
  type ReceiverOptions,
} from './receiver.ts';
export type { ReceiverAnswer } from './scripted-answer.ts';
