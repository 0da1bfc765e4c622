// The main entry for `import` in Node. If msw is not installed, only reading `handlers` fails. Bundlers use `index.ts`.

import type { NamedFixture } from '../../src/fixture/keys-and-ids.ts';
import type { createMailbox as CreateMailbox } from '../../src/mailbox/create-mailbox.ts';
import { explainMswError } from '../../src/mailbox/explain-msw-error.ts';
import { createMailboxWith, type MailboxOptions } from '../../src/mailbox/mailbox.ts';

export * from '../../src/mailbox/without-msw.ts';

const loadMsw = await import('msw').then(
  (msw) => () => msw,
  (error: unknown) => () => {
    throw explainMswError(error);
  },
);

export const createMailbox: typeof CreateMailbox = (options?: MailboxOptions<NamedFixture>) =>
  createMailboxWith(options, loadMsw);
