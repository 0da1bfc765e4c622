/** Maximum size of one inbound mail with its attachments, in bytes. */
export const MAX_MAIL_BYTES = 10 * 1024 * 1024;

/** Thrown when a mailbox cannot start with the given limit of stored mail. */
export class MailLimitError extends RangeError {
  override readonly name = 'MailLimitError';
}
