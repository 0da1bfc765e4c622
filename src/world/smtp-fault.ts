import { z } from 'zod';
import type { InputOf, OutputOf } from '../basics/input-of.ts';
import { lazy } from '../basics/lazy.ts';
import { type FaultIdentity, type ParsedOptions, planFields, standingFields, wholeNumber } from './target-fields.ts';

const MESSAGE_RULE = 'must be one line of at most 200 printable ASCII characters';
const RECIPIENT_RULE = 'must be a mail address without a display name';

// Without the fields that every fault has: comments of fields that are spread are lost in declaration files.
const ownOptions = () => ({
  /** What the fault applies to: recipients of mail over SMTP. */
  on: z.literal('smtp'),
  /** The address of the recipient that is refused; it must belong to an inbox. Default: any recipient. */
  recipient: z
    .string(RECIPIENT_RULE)
    .regex(/^[^\s<>@]+@[^\s<>@]+$/, RECIPIENT_RULE)
    .toLowerCase()
    .optional(),
  /** The reply code: 4xx asks the client to try again later, 5xx refuses for good. Default: 451. */
  status: wholeNumber(400, 599).default(451),
  /** The text after the reply code. Default: a text that says that a fault refuses the recipient. */
  message: z
    .string(MESSAGE_RULE)
    .regex(/^[\x20-\x7e]{1,200}$/, MESSAGE_RULE)
    .optional(),
});

/** The options of a fault of mail over SMTP. */
export type SmtpFaultOptions = InputOf<ReturnType<typeof ownOptions> & ReturnType<typeof planFields>>;

const ownFields = () => ({
  /** What the fault happens to: `smtp`. */
  on: z.literal('smtp'),
  /** The only address to which it applies, in lower case; null for any. */
  recipient: z.string().nullable().describe('The only address to which it applies; null for any.'),
  /** The reply code. */
  status: z.int(),
  /** The text after the reply code. */
  message: z.string(),
});

/** A fault of mail over SMTP that is set. */
export type SmtpFault = OutputOf<ReturnType<typeof ownFields> & ReturnType<typeof standingFields>>;

/** The schemas of a fault of mail over SMTP, and what creates one. */
export const SMTP = {
  options: lazy(() => z.strictObject({ ...ownOptions(), ...planFields() })),
  listed: lazy(() => z.strictObject({ ...ownFields(), ...standingFields() })),
  create(
    { on, recipient, status, message, after = 0, times = 1 }: ParsedOptions<typeof ownOptions>,
    identity: FaultIdentity,
  ): SmtpFault {
    // The text begins with an enhanced status code (RFC 3463) of the same class as the reply code.
    const text = message ?? `${Math.floor(status / 100)}.3.0 A fault of the emulator refuses this recipient.`;
    return { ...identity, on, recipient: recipient ?? null, status, message: text, after, times };
  },
};
