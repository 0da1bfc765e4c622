import type { Work } from '../../basics/work.ts';
import { isBodyText } from '../mail/incoming/parse-eml.ts';
import type { MailPart } from '../mail/mime/split-parts.ts';
import { type FetchedMail, findPart } from './fetched-mail.ts';

/** What a section is. */
export interface SectionName {
  /** The numbers of a part; none for the whole mail. */
  readonly numbers: readonly number[];
  /** `HEADER`, `HEADER.FIELDS`, `HEADER.FIELDS.NOT`, `TEXT` or `MIME`; an empty text for all of it. */
  readonly what: string;
  /** The names of the header fields that it selects, in lower case. */
  readonly names: ReadonlySet<string>;
}

/** Notes what a section shows of a mail, if all of it is sent. */
export function* noteSection(mail: FetchedMail, { numbers, what, names }: SectionName): Work<void> {
  const { reader, source, inbox, shown } = mail;
  const { id } = source.item;
  const files = inbox.world.attachments.by('messageId', id);
  if (numbers.length === 0 && what === '') {
    shown.parts.add('raw');
    for (const file of files) shown.attachmentIds.add(file.id);
    return;
  }
  if (numbers.length === 0 && what.startsWith('HEADER')) {
    const hasSubject = what === 'HEADER' || (what === 'HEADER.FIELDS') === names.has('subject');
    if (hasSubject) shown.parts.add('headers');
    return;
  }
  const root = yield* reader.rootOf(source);
  const part = numbers.length === 0 ? root : findPart(root, numbers);
  if (!part) return;
  if (what === 'MIME') {
    if (isFile(part)) shown.parts.add('fileNames');
    return;
  }
  // A part of a mail within this mail, or the text or the header of such a mail, is only a piece of a file.
  if (isWithinMail(part) || (numbers.length > 0 && what !== '')) {
    shown.parts.add('snippet');
    return;
  }
  mail.leaves ??= listLeaves(root);
  const shownLeaves = new Set(listLeaves(part));
  const left = mail.leaves.filter((leaf) => !isFile(leaf) && !shownLeaves.has(leaf));
  const isHtmlLeft = left.some(({ subtype }) => subtype === 'html');
  const isPlainLeft = left.some(({ subtype }) => subtype === 'plain');
  // The files of a mail are in the order of its parts.
  const fileParts = new Map(mail.leaves.filter(isFile).map((leaf, index) => [leaf, index]));
  for (const leaf of shownLeaves) {
    if (isFile(leaf)) {
      const file = files[fileParts.get(leaf) ?? -1];
      if (!file) continue;
      shown.parts.add('attachment');
      shown.attachmentIds.add(file.id);
      // A section with several parts has the headers of these parts, too.
      if (leaf !== part) shown.parts.add('fileNames');
    } else if (leaf.subtype === 'html') shown.parts.add(isHtmlLeft ? 'snippet' : 'htmlBody');
    else shown.parts.add(isPlainLeft ? 'snippet' : 'plainBody');
  }
}

/** Lists the parts without parts in a part, in order. A mail within the mail is one part. */
function listLeaves(part: MailPart): MailPart[] {
  const leaves: MailPart[] = [];
  const pending = [part];
  for (let next = pending.pop(); next; next = pending.pop()) {
    if (next.type === 'multipart') pending.push(...next.parts.toReversed());
    else leaves.push(next);
  }
  return leaves;
}

function isFile(part: MailPart): boolean {
  return part.type !== 'multipart' && !isBodyText(part, `${part.type}/${part.subtype}`);
}

function isWithinMail({ parent }: MailPart): boolean {
  for (let container = parent; container; container = container.parent) {
    if (container.type !== 'multipart') return true;
  }
  return false;
}
