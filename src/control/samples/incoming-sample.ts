import { z } from 'zod';
import { type InputOf, lazy } from '../../basics/lazy-schema.ts';
import { messageId, recipients, tenant } from '../../contract/incoming-message.ts';
import { url } from '../../contract/schemas.ts';

const SEED_RULE = 'must be a whole number from 0 to 9007199254740991';

const sampleFields = () => ({
  /** The name of the sample, such as `out-of-office`; `samples list` shows them all. */
  sample: z.string('must be the name of a sample'),
  /** The recipients: inboxes of this emulator. */
  to: recipients(),
  /** The seed of the names, numbers and codes in the mail: a whole number from 0 to 2^53 - 1. Default: 1. */
  seed: z.int(SEED_RULE).min(0, SEED_RULE).optional(),
  /**
   * The Message-ID of the mail that the sample is about, such as your mail that bounced. Default: an invented
   * Message-ID.
   */
  inReplyTo: messageId().optional(),
  /** The URL of the emulator, to which the link of `injection-link` leads. Default: the URL that was called. */
  baseUrl: url(/^https?$/, 'must be an http or https URL').optional(),
  /** The id of a tenant. If set, every recipient must be an inbox of this tenant. */
  tenant: tenant(),
});

/** The schema of a sample that is given by its name. */
export const incomingSample = lazy(() => z.strictObject(sampleFields()));

/**
 * A sample: one or several mails with which agents have difficulties.
 *
 * @example
 * await mailbox.receiveMessage({ sample: 'out-of-office', to: 'helpdesk@acme.test' });
 */
export type IncomingSample = InputOf<ReturnType<typeof sampleFields>>;
