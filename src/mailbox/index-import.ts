// The main entry for `import` in Node. It needs msw only when `handlers` are read. Bundlers take `index.ts`.

import type { NamedFixture } from '../fixture/keys-and-ids.ts';
import type { createMailbox as CreateMailbox } from './create-mailbox.ts';
import { createMailboxWith, explainMsw } from './handler-parts.ts';
import type { MailboxOptions } from './mailbox.ts';

export * from './without-msw.ts';

const loadMsw = await import('./msw.ts').then(
  ({ createHandlers }) =>
    () =>
      createHandlers,
  (error: unknown) => () => {
    throw explainMsw(error);
  },
);

export const createMailbox: typeof CreateMailbox = (options?: MailboxOptions<NamedFixture>) =>
  createMailboxWith(options, loadMsw);
