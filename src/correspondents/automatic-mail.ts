import { toBareAddress } from '../contract/email-address.ts';
import type { Mail } from '../mail/show-mail.ts';

/** The part of a mail that says whether a program sent it. */
type Origin = Pick<Mail, 'from' | 'headers'>;

/** Names of senders that no automatic mail may answer (RFC 3834, section 2, and those of common use). */
const UNATTENDED_SENDER = /^(?:mailer-daemon|postmaster|no-?reply|do-?not-?reply|owner-.*|.*-(?:request|bounces?))@/;

/** Returns whether a mail comes from a program, so that no program may answer it (RFC 3834, section 2). */
export function isAutomatic({ from, headers }: Origin): boolean {
  const {
    'auto-submitted': autoSubmitted = 'no',
    precedence = '',
    'return-path': returnPath = '',
    'x-auto-response-suppress': suppressed = 'none',
  } = headers;
  return (
    !/^no\b/i.test(autoSubmitted) ||
    /^(?:bulk|list|junk)\b/i.test(precedence) ||
    returnPath.trim() === '<>' ||
    !/^none\b/i.test(suppressed) ||
    Object.keys(headers).some((name) => name.startsWith('list-')) ||
    UNATTENDED_SENDER.test(toBareAddress(from))
  );
}
