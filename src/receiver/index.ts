export {
  createReceiver,
  type ReceivedRequest,
  type Receiver,
  type ReceiverAnswer,
  type ReceiverOptions,
} from './receiver.ts';
