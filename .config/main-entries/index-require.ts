// The main entry for `require`, which loads msw when `handlers` are read for the first time.

import type { NamedFixture } from '../../src/fixture/keys-and-ids.ts';
import type { createMailbox as CreateMailbox } from '../../src/mailbox/create-mailbox.ts';
import { explainMswError } from '../../src/mailbox/explain-msw-error.ts';
import { createMailboxWith, type MailboxOptions } from '../../src/mailbox/mailbox.ts';
import type { Msw } from '../../src/mailbox/msw.ts';

export * from '../../src/mailbox/without-msw.ts';

/** The `require` of CommonJS. It exists, because the build turns this file into CommonJS. */
declare const require: (name: 'msw') => Msw;

function loadMsw(): Msw {
  try {
    return require('msw');
  } catch (error) {
    throw explainMswError(error);
  }
}

export const createMailbox: typeof CreateMailbox = (options?: MailboxOptions<NamedFixture>) =>
  createMailboxWith(options, loadMsw);
