import { toBareAddress } from '../contract/email-address.ts';
import type { MessageRow } from '../store/rows.ts';
import type { World } from '../store/world.ts';
import { type BounceReport, readBounceReport } from './bounce-report.ts';
import type { Mention } from './bounce-text.ts';
import type { MailContext } from './mail-context.ts';
import { bounce } from './store-message.ts';

/** Publishes `message.bounced` for the mail that an inbound message reports as undelivered, if this inbox sent it. */
export function reportBounce(context: MailContext, world: World, message: MessageRow): void {
  const report = readBounceReport(message, () => world.attachments.by('messageId', message.id));
  const mail = report && findReportedMail(world, message.inboxId, report);
  if (!report || !mail) return;
  context.assume('sending.bounce.detection');
  const failures = failuresOf(report, mail);
  bounce(context, world, mail, {
    recipient: failures.map(({ recipient }) => toBareAddress(recipient)).join(', '),
    statusCode: failures.map(({ statusCode }) => statusCode ?? report.statusCode).join(', '),
  });
}

/** Returns the recipients that failed: those that the report says, or else every one in To. */
function failuresOf({ failures, isExact }: BounceReport, mail: MessageRow): readonly Mention[] {
  if (failures.length === 0) return mail.to.map((recipient) => ({ recipient, statusCode: undefined }));
  if (isExact) return failures;
  return prefer(
    prefer(failures, ({ recipient }) => isSentTo(mail, new Set([recipient]))),
    hasStatus,
  );
}

/** Returns the items that match, or all of them if none does. */
function prefer<T>(items: readonly T[], matches: (item: T) => boolean): readonly T[] {
  const found = items.filter(matches);
  return found.length > 0 ? found : items;
}

function hasStatus({ statusCode }: Mention): boolean {
  return statusCode !== undefined;
}

function isSentTo({ to, cc, bcc }: MessageRow, addresses: ReadonlySet<string>): boolean {
  return [...to, ...cc, ...bcc].some((recipient) => addresses.has(toBareAddress(recipient)));
}

/** Finds the mail by the Message-IDs in the report, or else the latest mail of the inbox to a recipient of it. */
function findReportedMail(world: World, inboxId: string, { messageIds, failures }: BounceReport) {
  for (const messageId of messageIds) {
    const mail = world.messages
      .by('messageIdHeader', messageId)
      .find((message) => message.inboxId === inboxId && message.direction === 'outbound');
    if (mail) return mail;
  }
  const addresses = new Set(prefer(failures, hasStatus).map(({ recipient }) => recipient.toLowerCase()));
  if (addresses.size === 0) return undefined;
  const sent = world.messageIndex.list([inboxId], 'outbound');
  return sent.slice(0, sent.length).findLast((mail) => isSentTo(mail, addresses));
}
