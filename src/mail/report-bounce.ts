import { toBareAddress } from '../contract/email-address.ts';
import type { MessageRow } from '../store/rows.ts';
import type { World } from '../store/world.ts';
import { type BounceReport, readBounceReport, UNKNOWN_STATUS } from './bounce-report.ts';
import type { MailContext } from './mail-context.ts';
import { bounce } from './store-message.ts';

/** Publishes `message.bounced` for the mail that an inbound message reports as undelivered, if this inbox sent it. */
export function reportBounce(context: MailContext, world: World, message: MessageRow): void {
  const report = readBounceReport(message, () => world.attachments.by('messageId', message.id));
  const mail = report && findReportedMail(world, message.inboxId, report);
  if (!report || !mail) return;
  context.assume('sending.bounce.detection');
  const { failures } = report;
  const known = failures.length > 0 ? failures : mail.to.map((recipient) => ({ recipient, ...UNKNOWN_STATUS }));
  bounce(context, world, mail, {
    recipient: known.map(({ recipient }) => toBareAddress(recipient)).join(', '),
    statusCode: known.map(({ statusCode }) => statusCode).join(', '),
  });
}

/** Finds the mail by the Message-IDs in the report, or else the latest mail of the inbox to a recipient of it. */
function findReportedMail(world: World, inboxId: string, { messageIds, failures }: BounceReport) {
  for (const messageId of messageIds) {
    const mail = world.messages
      .by('messageIdHeader', messageId)
      .find((message) => message.inboxId === inboxId && message.direction === 'outbound');
    if (mail) return mail;
  }
  const addresses = new Set(failures.map(({ recipient }) => recipient.toLowerCase()));
  if (addresses.size === 0) return undefined;
  const sent = world.messageIndex.list([inboxId], 'outbound');
  return sent
    .slice(0, sent.length)
    .findLast(({ to, cc, bcc }) => [...to, ...cc, ...bcc].some((recipient) => addresses.has(toBareAddress(recipient))));
}
