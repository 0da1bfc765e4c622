import { toBase64 } from '../../contract/base64.ts';
import { parseAddress } from '../../contract/email-address.ts';
import { ApiError } from '../../contract/errors.ts';
import { MAX_MAIL_BYTES, showSize } from '../../contract/size.ts';
import { mediaTypeOf } from '../../mail/mime/media-type.ts';
import { parseEml } from '../../mail/parse-eml.ts';

/** A mail of a file. */
export interface FileMail {
  /** Its fields as a message of a fixture has them. What it does not name is left out and gets the usual default. */
  readonly message: Readonly<Record<string, unknown>>;
  /** The bare address of the sender; empty if there is none. */
  readonly from: string;
  /** Everybody whom its header names as a recipient. */
  readonly recipients: readonly string[];
}

/**
 * Reads the bytes of a mail as a message of a fixture. It arrives at the time in its Date field. Its `to` and `cc` are
 * without addresses to which the service cannot send; the raw mail has them.
 *
 * @throws {ApiError} VALIDATION_ERROR if it is too large or cannot be parsed.
 */
export async function toFixtureMessage(bytes: Uint8Array): Promise<FileMail> {
  if (bytes.length > MAX_MAIL_BYTES) {
    throw new ApiError(
      'VALIDATION_ERROR',
      `it has a mail of ${showSize(bytes.length)}, and the limit is ${showSize(MAX_MAIL_BYTES)}`,
    );
  }
  const { mail, recipients, deliveredTo, date } = parseEml(bytes, '');
  const { messageIdHeader, attachments, ...fields } = mail;
  const [to = [], cc = []] = [mail.to, mail.cc].map((list) => list.filter((text) => parseAddress(text) !== undefined));
  return {
    from: mail.from,
    recipients: [...recipients, ...deliveredTo],
    message: {
      ...fields,
      cc,
      to: to.length > 0 ? to : undefined,
      ...(messageIdHeader !== '' && { messageIdHeader }),
      // The schema of fixtures knows no years of five digits.
      ...(/^\d{4}-.*Z$/.test(date ?? '') && { receivedAt: date }),
      attachments: attachments.map(({ filename, contentType, content }) => ({
        filename: filename.replace(/\p{Cc}/gu, ' '),
        contentType: mediaTypeOf(contentType),
        content: toBase64(content),
      })),
      raw: toBase64(bytes),
    },
  };
}
