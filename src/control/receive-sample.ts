import { ApiError } from '../contract/errors.ts';
import type { IncomingMessage } from '../contract/incoming-message.ts';
import type { IncomingSample } from '../contract/incoming-sample.ts';
import { acceptMessage, type ReceivedMessage } from '../mail/accept-message.ts';
import type { MailContext } from '../mail/mail-context.ts';
import type { Sample, SampleMail } from '../samples/sample.ts';
import type { SampleName } from '../samples/sample-names.ts';

/** What `receiveMessage` accepts: a mail, a sample by its name, or a sample from `createSample`. */
export type Receivable = IncomingMessage | IncomingSample | Pick<Sample, 'mails'>;

/** Accepts a mail, or each mail of a sample in turn. @throws {ApiError} as `acceptMessage` and `createSample` do. */
export async function receiveMailOrSample(
  context: MailContext,
  baseUrl: string,
  message: Receivable,
): Promise<ReceivedMessage[]> {
  if (typeof message !== 'object' || message === null) return acceptMessage(context, message);
  if ('mails' in message) return receiveAll(context, message.mails);
  if (!('sample' in message)) return acceptMessage(context, message);
  // The samples are loaded for the first one, because most processes receive none.
  const { createSample } = await import('../samples/create-sample.ts');
  const { sample, tenant, ...options } = message;
  return receiveAll(context, createSample(sample as SampleName, { baseUrl, ...options }).mails, tenant);
}

/** Adds the address that a control call used to the options of a sample that have none. */
export function addBaseUrlToSample(message: Receivable, host: string | null): Receivable {
  return 'sample' in message && host !== null ? { baseUrl: `http://${host}`, ...message } : message;
}

async function receiveAll(
  context: MailContext,
  mails: readonly SampleMail[],
  tenant?: string,
): Promise<ReceivedMessage[]> {
  if (!Array.isArray(mails)) throw new ApiError('VALIDATION_ERROR', 'The mails of a sample must be a list.');
  const received: ReceivedMessage[] = [];
  for (const mail of mails as readonly SampleMail[]) {
    received.push(...(await acceptMessage(context, { ...mail, tenant })));
  }
  return received;
}
