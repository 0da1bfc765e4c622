// What the files that import msw use: `create-mailbox.ts`, `adapters/msw.ts` and `vitest/`. It is not public. Node loads
// one copy of it for `import` and `require`.
export { sentKey } from './access/credentials.ts';
export { checkOptions } from './contract/check-options.ts';
export { isServicePath } from './contract/service-path.ts';
export { CLOSE_CODES } from './contract/stream-protocol.ts';
export { buildMailbox } from './mailbox.ts';
export { SHARED_OPTION_NAMES } from './option-names.ts';
export { toApiError } from './pipeline/error-reply.ts';
export { keepInPage } from './state/page-storage.ts';
export { isStreamPath } from './stream/check-stream-access.ts';
