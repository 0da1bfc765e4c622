import type { ReadBehaviour } from '../../contract/behaviours.ts';
import { domainOf, formatAddress } from '../../contract/email-address.ts';
import type { DraftRow, MessageRow } from '../../world/store/rows.ts';
import { primaryAddress, type World } from '../../world/store/world.ts';
import { composeMail } from '../mail/mime/compose-mail.ts';
import { findHeaderEnd, toBinary } from '../mail/mime/decode.ts';
import { writeTraceFields } from '../mail/mime/header.ts';
import { type MailPart, splitMail } from '../mail/mime/split-parts.ts';
import type { Item } from './folder.ts';
import type { ImapInbox } from './imap-inbox.ts';
import { envelopeFields, writeEnvelope, writeStructure } from './structure.ts';

/** A mail with its bytes. */
export interface OpenMail {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The bytes as a text, in which one character stands for each byte. */
  readonly text: string;
  readonly root: MailPart;
}

/** How much of a mail is searched for the end of its header. */
const HEADER_BYTES = 256 * 1024;

/** Reads the mails of an inbox. It keeps the mail that was read last, because clients read a mail in several steps. */
export class MailReader {
  #last: { readonly item: Item; readonly mail: OpenMail } | undefined;

  constructor(
    readonly inbox: ImapInbox,
    readonly readBehaviour: ReadBehaviour,
  ) {}

  /** Returns a mail; `undefined` if it is gone. */
  read(item: Item): OpenMail | undefined {
    if (this.#last?.item === item && !item.isGone) return this.#last.mail;
    const bytes = this.bytesOf(item);
    if (!bytes) return undefined;
    const text = toBinary(bytes);
    const mail = { bytes, text, root: splitMail(text) };
    this.#last = { item, mail };
    return mail;
  }

  /** Returns the bytes of a mail: the raw form of a message, or the stored or composed bytes of a draft. */
  bytesOf(item: Item): Uint8Array<ArrayBuffer> | undefined {
    const { world } = this.inbox;
    const message = this.inbox.messageOf(item);
    if (message) {
      const files = world.attachments.by('messageId', message.id);
      const trace = writeTraceFields(message, this.readBehaviour);
      // Without a trace the stored bytes are returned, because nobody changes them here.
      return composeMail(message, files, trace.length === 0 ? undefined : trace);
    }
    const draft = this.inbox.draftOf(item);
    return draft && (draft.raw ?? composeMail(toMessage(world, draft), []));
  }

  sizeOf(item: Item): string {
    return this.#remember(item, 'size', () => String(this.bytesOf(item)?.length ?? 0));
  }

  envelopeOf(item: Item): string {
    return this.#remember(item, 'envelope', () => writeEnvelope(envelopeFields(this.headerOf(item))));
  }

  structureOf(item: Item, isExtended: boolean): string {
    return this.#remember(item, isExtended ? 'bodystructure' : 'body', () => {
      const mail = this.read(item);
      return mail ? writeStructure(mail.root, mail.text, isExtended) : 'NIL';
    });
  }

  /** Returns the header of a mail, including the empty line after it. */
  headerOf(item: Item): string {
    if (this.#last?.item === item) return this.#last.mail.text.slice(0, this.#last.mail.root.bodyStart);
    const bytes = this.bytesOf(item) ?? new Uint8Array();
    item.computed.set('size', String(bytes.length));
    const start = toBinary(bytes.subarray(0, HEADER_BYTES));
    return start.slice(0, findHeaderEnd(start));
  }

  #remember(item: Item, what: string, compute: () => string): string {
    const known = item.computed.get(what) ?? compute();
    item.computed.set(what, known);
    return known;
  }
}

/** Returns a draft as a message, with the header field Bcc. */
function toMessage(world: World, draft: DraftRow): MessageRow {
  const { id, inboxId, to, cc, bcc, subject, plainBody, htmlBody, replyToMessageId, updatedAt } = draft;
  const inbox = world.inboxes.get(inboxId);
  const address = inbox ? primaryAddress(world, inbox) : '';
  const original = world.messages.get(replyToMessageId ?? '');
  return {
    id,
    inboxId,
    threadId: original?.threadId ?? '',
    direction: 'outbound',
    to,
    cc,
    bcc,
    replyTo: null,
    from: formatAddress({ name: inbox?.displayName ?? '', address }),
    fromAddress: address,
    subject: subject ?? '',
    plainBody: plainBody ?? '',
    htmlBody,
    raw: null,
    receivedAt: updatedAt,
    isRead: true,
    isStarred: false,
    isArchived: false,
    deletedAt: null,
    bouncedAt: null,
    messageIdHeader: `<${id}@${domainOf(address)}>`,
    inReplyTo: original?.messageIdHeader ?? null,
    references: original ? [...original.references, original.messageIdHeader] : [],
    headers: bcc.length > 0 ? { Bcc: bcc.join(', ') } : null,
  };
}
