// Internal functions for the files that import msw: `create-mailbox.ts`, `msw.ts` and `testing/vitest/`. Node loads one
// copy of this file for both `import` and `require`.

export { isServicePath } from '../contract/service-path.ts';
export { CLOSE_CODES, isStreamPath } from '../contract/stream-protocol.ts';
export { sentKey } from '../service/pipeline/access/principal.ts';
export { toApiError } from '../service/pipeline/exchange.ts';
export { createMailboxWith, explainMswError } from './mailbox.ts';
