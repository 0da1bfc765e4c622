// Internal functions for the files that are ES modules only, because they import msw, vitest or Playwright:
// `create-mailbox.ts`, `msw.ts`, `testing/vitest/` and `testing/playwright/`. Node loads one copy of this file for both
// `import` and `require`.

export { checkOptions } from '../basics/check-options.ts';
export { fillPath } from '../basics/fill-path.ts';
export { lazy } from '../basics/lazy-schema.ts';
export { LineSplitter } from '../basics/line-splitter.ts';
export { trimEndSlashes } from '../basics/text.ts';
export { ApiError } from '../contract/errors.ts';
export { isServicePath } from '../contract/service-path.ts';
export { CLOSE_CODES, isStreamPath } from '../contract/stream-protocol.ts';
export { sentKey } from '../service/access/principal.ts';
export { toApiError } from '../service/pipeline/exchange.ts';
export { explainMswError, explainOldMsw, OLDEST_MSW } from './explain-msw-error.ts';
export { createMailboxWith, parseBaseUrl, SHARED_OPTION_NAMES } from './mailbox.ts';
