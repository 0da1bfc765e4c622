import type { Mailbox } from 'agent-mailbox-mock';
import type { ShownPart } from '../../src/service/journal/entry-data.ts';

/** Texts that are nowhere else, one for each place of a marked mail. No encoding of mail changes them. */
const placesOf = (name: string) => ({
  subject: `${name}subjectq`,
  plainStart: `${name}plainstartq`,
  plainEnd: `${name}plainendq`,
  htmlStart: `${name}htmlstartq`,
  htmlEnd: `${name}htmlendq`,
  fileName: `${name}fileq.txt`,
  file: `${name}contentq`,
});

/** A mail whose places can be told from what a reply contains. */
export interface MarkedMail {
  readonly id: string;
  readonly threadId: string;
  readonly attachmentIds: readonly string[];
  readonly messageIdHeader: string;
  readonly name: string;
}

/** Delivers a mail with two bodies and a file. `name` must be letters. */
export async function receiveMarked(mailbox: Mailbox, name: string, inReplyTo?: string): Promise<MarkedMail> {
  const marks = placesOf(name);
  const filler = 'Much text between.\n'.repeat(20);
  const [{ id = '' } = {}] = await mailbox.receiveMessage({
    to: 'helpdesk@acme.test',
    from: 'dana@customer.test',
    subject: marks.subject,
    plainBody: `${marks.plainStart}\n${filler}${marks.plainEnd}`,
    htmlBody: `<p>${marks.htmlStart}</p>\n${filler}<p>${marks.htmlEnd}</p>`,
    attachments: [{ filename: marks.fileName, content: Buffer.from(marks.file).toString('base64') }],
    ...(inReplyTo !== undefined && { inReplyTo }),
  } as never);
  const { threadId, messageIdHeader, attachments } = mailbox.mail(id).api as never as {
    threadId: string;
    messageIdHeader: string;
    attachments: { id: string }[];
  };
  return { id, threadId, messageIdHeader, attachmentIds: attachments.map((file) => file.id), name };
}

/** Returns what a text, such as a reply as it came over the wire, shows of a marked mail. */
export function partsSeenIn(text: string, { name }: MarkedMail): ShownPart[] {
  const marks = placesOf(name);
  const has = (place: keyof typeof marks) => text.includes(marks[place]);
  const parts = new Set<ShownPart>();
  if (has('subject')) parts.add('headers');
  if (['plainStart', 'plainEnd', 'htmlStart', 'htmlEnd'].some((place) => has(place as 'plainEnd')))
    parts.add('snippet');
  if (has('plainStart') && has('plainEnd')) parts.add('plainBody');
  if (has('htmlStart') && has('htmlEnd')) parts.add('htmlBody');
  if (has('fileName')) parts.add('fileNames');
  if (has('file') || text.includes(Buffer.from(marks.file).toString('base64'))) parts.add('attachment');
  return [...parts].sort();
}

/** Returns what the journal says that clients were shown of a mail, with what each part includes. */
export function partsInJournal(mailbox: Pick<Mailbox, 'journal'>, { id }: MarkedMail): ShownPart[] {
  const parts = new Set<ShownPart>();
  for (const { data } of mailbox.journal({ kinds: ['read'] })) {
    if (!data.messageIds.includes(id)) continue;
    for (const part of data.parts) {
      const all: readonly ShownPart[] =
        part === 'raw' ? ['headers', 'plainBody', 'htmlBody', 'fileNames', 'attachment'] : [part];
      for (const each of all) parts.add(each);
      if (part !== 'headers' && all.some((each) => each === 'plainBody' || each === 'htmlBody')) parts.add('snippet');
    }
  }
  return [...parts].sort();
}
