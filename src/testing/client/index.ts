export { ApiReplyError, type ErrorReply, type RefusedRequest } from '../../contract/client/api-reply-error.ts';
export type { CallOptions, ServiceClient } from '../../contract/client/client-types.ts';
export { type ClientOptions, createClient } from '../../contract/client/create-client.ts';
export { parseHeaders } from '../../contract/client/parse-headers.ts';
export {
  type ClockClient,
  connectEmulator,
  type EmulatorAddress,
  type EmulatorClient,
  type EmulatorOptions,
  type MailboxClient,
  type SandboxClient,
} from './mailbox-client.ts';
