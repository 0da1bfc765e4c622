import { z } from 'zod';
import type { InputOf } from '../basics/lazy-schema.ts';
import { isIncomingAddress } from './addresses/email-address.ts';

const result = <const Values extends readonly string[]>(values: Values) =>
  z.enum(values, `must be one of ${values.join(', ')}`).optional();

const authFields = () => ({
  /** Whether the host that sent the mail may send for the domain of the envelope sender (RFC 7208). */
  spf: result(['none', 'neutral', 'pass', 'fail', 'softfail', 'policy', 'temperror', 'permerror']),
  /** Whether the mail has a valid signature (RFC 6376). */
  dkim: result(['none', 'pass', 'fail', 'policy', 'neutral', 'temperror', 'permerror']),
  /** Whether SPF or DKIM passed for the domain in From (RFC 7489). */
  dmarc: result(['none', 'pass', 'fail', 'temperror', 'permerror']),
});

/** The result of each method by which the mail was authenticated, in the words of RFC 8601. */
export type MailAuth = InputOf<ReturnType<typeof authFields>>;

const RULE = 'must be an e-mail address without a name, or empty for the null sender';

/** The envelope of an inbound mail. */
export const envelopeFields = () => ({
  /**
   * The envelope sender, which becomes `Return-Path`: an address without a name; empty or `<>` for the null sender,
   * which delivery reports use. Default: the address in From; for a raw mail, no envelope.
   */
  envelopeFrom: z
    .string(RULE)
    .transform((text) => text.replace(/^<(.*)>$/, '$1'))
    .refine((text) => text === '' || isIncomingAddress(text), RULE)
    .optional(),
  /** The results of SPF, DKIM and DMARC, which `Authentication-Results` shows. Default: no results. */
  auth: (
    z.strictObject(authFields(), 'must be an object, such as { spf: "pass" }') as z.ZodType<MailAuth, MailAuth>
  ).optional(),
});
