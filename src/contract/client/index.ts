export { ApiReplyError, type ErrorReply, type RefusedRequest } from './api-reply-error.ts';
export type { CallOptions, ServiceClient } from './client-types.ts';
export { type ClientOptions, createClient } from './create-client.ts';
export { parseHeaders } from './parse-headers.ts';
