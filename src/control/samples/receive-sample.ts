import { ApiError } from '../../contract/errors.ts';
import type { EventKind } from '../../contract/events.ts';
import type { IncomingMessage } from '../../contract/incoming-message.ts';
import { acceptMessage, type ReceivedMessage } from '../../service/mail/incoming/accept-message.ts';
import type { MailContext } from '../../service/mail/store-message.ts';
import { newId, timestampNow } from '../../world/environment.ts';
import type { MessageRow } from '../../world/store/rows.ts';
import { canonicalAddress, type World } from '../../world/store/world.ts';
import type { DeliveredSample } from './delivered-samples.ts';
import type { IncomingSample } from './incoming-sample.ts';
import type { Sample, SampleMail } from './sample.ts';
import type { SampleName } from './sample-names.ts';

/** What `receiveMessage` accepts: a mail, a sample by its name, or a sample from `createSample`. */
export type Receivable = IncomingMessage | IncomingSample | Pick<Sample, 'mails'>;

/**
 * Accepts a mail, or each mail of a sample in turn. After all mails of a sample, calls `onDelivered`.
 *
 * @throws {ApiError} as `acceptMessage` and `createSample` do.
 */
export async function receiveMailOrSample(
  context: MailContext,
  baseUrl: string,
  message: Receivable,
  onDelivered: (sample: DeliveredSample) => void,
): Promise<ReceivedMessage[]> {
  if (typeof message !== 'object' || message === null) return acceptMessage(context, message);
  if ('mails' in message) {
    const messages = await receiveAll(context, message.mails);
    // An object that has only mails has no oracle, so it is not kept as a delivered sample.
    if ('breaches' in message) onDelivered({ sample: message as Sample, messages });
    return messages;
  }
  if (!('sample' in message)) return acceptMessage(context, message);
  // The code of the samples is loaded only here, because most processes receive none.
  const { createSample } = await import('./create-sample.ts');
  const { sample, tenant, ...options } = message;
  const created = createSample(sample as SampleName, { baseUrl, ...options });
  const messages = await receiveAll(context, created.mails, tenant);
  onDelivered({ sample: created, messages });
  return messages;
}

/** Sets `baseUrl` in the options of a sample, if it is missing, to the URL to which the control call was sent. */
export function addBaseUrlToSample(message: Receivable, host: string | null): Receivable {
  return 'sample' in message && host !== null ? { baseUrl: `http://${host}`, ...message } : message;
}

async function receiveAll(context: MailContext, mails: readonly SampleMail[], tenant?: string) {
  if (!Array.isArray(mails)) throw new ApiError('VALIDATION_ERROR', 'The mails of a sample must be a list.');
  const received: ReceivedMessage[] = [];
  for (const mail of mails as readonly SampleMail[]) {
    received.push(...(await acceptMessage(context, { ...mail, tenant })));
  }
  return received;
}

const CUSTOMER = { display: 'Dana Reyes <dana@customer.test>', address: 'dana@customer.test' };

/** Creates a message for an event that a test triggers. The message is not stored. */
export function createEventMessage(world: World, inboxId: string, kind: EventKind, id: string): MessageRow {
  const { environment } = world;
  const inbox = world.inboxes.get(inboxId);
  const address = inbox ? canonicalAddress(inbox) : CUSTOMER.address;
  const isInbound = kind === 'message.received';
  const now = timestampNow(environment);
  return {
    id,
    inboxId,
    threadId: newId(environment),
    direction: isInbound ? 'inbound' : 'outbound',
    from: isInbound ? CUSTOMER.display : address,
    fromAddress: isInbound ? CUSTOMER.address : address,
    to: [isInbound ? address : CUSTOMER.address],
    cc: [],
    bcc: [],
    replyTo: null,
    subject: 'Hello',
    plainBody: 'Hello!',
    htmlBody: null,
    isRead: false,
    isStarred: false,
    isArchived: false,
    deletedAt: null,
    bouncedAt: kind === 'message.bounced' ? now : null,
    messageIdHeader: `<${id}@customer.test>`,
    inReplyTo: null,
    references: [],
    headers: null,
    raw: null,
    receivedAt: now,
  };
}
