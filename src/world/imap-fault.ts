import { z } from 'zod';
import type { InputOf, OutputOf } from '../basics/input-of.ts';
import { lazy } from '../basics/lazy.ts';
import { durationField, parseDuration } from './clock.ts';
import {
  type FaultIdentity,
  MAX_COUNT,
  type ParsedOptions,
  planFields,
  standingFields,
  wholeNumber,
} from './target-fields.ts';

/** What each IMAP fault does. The first four happen to a session, when it logs in. */
export const IMAP_FAULTS = {
  'id-required': 'No folder can be opened until the client has sent ID.',
  disconnect: 'The connection ends without a word after the number in `commands`, or else after the time in `delay`.',
  slow: 'Each reply waits for the time in `delay`.',
  'login-refused': 'The login fails, although the password is right.',
  'too-many-connections': 'The login fails, because the inbox has too many connections.',
  'id-refused': 'The command ID is answered with BAD.',
  'repeated-exists': 'EXISTS is sent three times for one new mail.',
  'new-uidvalidity': 'The UIDVALIDITY of the open folder changes before the next command.',
  'cut-literal': 'The content of a mail ends in its middle, and the connection with it.',
} as const;

/** The kind of an IMAP fault. */
export type ImapFaultKind = keyof typeof IMAP_FAULTS;

/** Every kind of IMAP fault. */
const KINDS = Object.keys(IMAP_FAULTS) as ImapFaultKind[];

const INBOX_RULE = 'must be a mail address without a display name';

// Without the fields that every fault has: comments of fields that are spread are lost in declaration files.
const ownOptions = () => ({
  /** What the fault applies to: IMAP sessions. */
  on: z.literal('imap'),
  /** The kind of the fault. */
  kind: z.enum(KINDS, `must be one of ${KINDS.join(', ')}`),
  /** An address of the inbox that it applies to. Default: any inbox. */
  inbox: z
    .string(INBOX_RULE)
    .regex(/^[^\s<>@]+@[^\s<>@]+$/, INBOX_RULE)
    .toLowerCase()
    .optional(),
  /** Only for `slow` and `disconnect`: how long. Default: two seconds. */
  delay: durationField().default('2s'),
  /** Only for `disconnect`: how many commands after the login are answered. Default: the time decides. */
  commands: wholeNumber(1, MAX_COUNT).optional(),
});

/** The options of a fault of IMAP sessions. */
export type ImapFaultOptions = InputOf<ReturnType<typeof ownOptions> & ReturnType<typeof planFields>>;

const ownFields = () => ({
  /** What the fault happens to: `imap`. */
  on: z.literal('imap'),
  /** What goes wrong. */
  kind: z.enum(KINDS),
  /** The address of the only inbox to which it applies, in lower case; null for any. */
  inbox: z.string().nullable().describe('The address of the only inbox to which it applies; null for any.'),
  /** The delay in milliseconds; 0 unless the kind is `slow` or `disconnect`. */
  delayMs: z.number().describe('The delay in milliseconds, for the kinds slow and disconnect.'),
  /** The number of commands after which the connection ends; null if the time decides. */
  commands: z.int().nullable().describe('The number of commands after which the connection ends, for disconnect.'),
});

/** A fault of IMAP sessions that is set. */
export type ImapFault = OutputOf<ReturnType<typeof ownFields> & ReturnType<typeof standingFields>>;

/** The schemas of a fault of IMAP sessions, and what creates one. */
export const IMAP = {
  options: lazy(() => z.strictObject({ ...ownOptions(), ...planFields() })),
  listed: lazy(() => z.strictObject({ ...ownFields(), ...standingFields() })),
  create(
    { on, kind, inbox, delay, commands, after = 0, times = 1 }: ParsedOptions<typeof ownOptions>,
    identity: FaultIdentity,
  ): ImapFault {
    const delayMs = kind === 'slow' || kind === 'disconnect' ? parseDuration(delay) : 0;
    const count = kind === 'disconnect' ? (commands ?? null) : null;
    return { ...identity, on, kind, inbox: inbox ?? null, delayMs, commands: count, after, times };
  },
};
