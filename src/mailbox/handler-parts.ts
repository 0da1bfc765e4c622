// Everything that the files that import msw use: `create-mailbox.ts`, `msw.ts` and `testing/vitest/`. It is not public.
// Node loads one copy of this file for `import` and `require`.

export { isServicePath } from '../contract/service-path.ts';
export { CLOSE_CODES, isStreamPath } from '../contract/stream-protocol.ts';
export { sentKey } from '../service/pipeline/access/principal.ts';
export { toApiError } from '../service/pipeline/exchange.ts';
export { createMailboxWith, explainMsw } from './mailbox.ts';
