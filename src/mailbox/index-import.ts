// The main entry for `import` in Node. If msw is not installed, only reading `handlers` fails. Bundlers use `index.ts`.

import type { NamedFixture } from '../fixture/keys-and-ids.ts';
import type { createMailbox as CreateMailbox } from './create-mailbox.ts';
import { createMailboxWith, explainMswError } from './handler-parts.ts';
import type { MailboxOptions } from './mailbox.ts';

export * from './without-msw.ts';

const loadMsw = await import('./msw.ts').then(
  ({ createHandlers }) =>
    () =>
      createHandlers,
  (error: unknown) => () => {
    throw explainMswError(error);
  },
);

export const createMailbox: typeof CreateMailbox = (options?: MailboxOptions<NamedFixture>) =>
  createMailboxWith(options, loadMsw);
