// The main entry for `require`, which loads msw when `handlers` are read for the first time.

import type { NamedFixture } from '../fixture/keys-and-ids.ts';
import type { createMailbox as CreateMailbox } from './create-mailbox.ts';
import { createMailboxWith, explainMswError } from './handler-parts.ts';
import type { MailboxOptions } from './mailbox.ts';
import type { createHandlers } from './msw.ts';

export * from './without-msw.ts';

/** The `require` of CommonJS. It exists, because the build turns this file into CommonJS. */
declare const require: (file: './msw.cjs') => { readonly createHandlers: typeof createHandlers };

function loadMsw(): typeof createHandlers {
  try {
    return require('./msw.cjs').createHandlers;
  } catch (error) {
    throw explainMswError(error);
  }
}

export const createMailbox: typeof CreateMailbox = (options?: MailboxOptions<NamedFixture>) =>
  createMailboxWith(options, loadMsw);
