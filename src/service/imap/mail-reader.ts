import type { Work } from '../../basics/work.ts';
import { domainOf, formatAddress } from '../../contract/addresses/email-address.ts';
import type { ReadBehaviour } from '../../contract/behaviours.ts';
import type { AttachmentRow, DraftRow, MessageRow } from '../../world/store/rows.ts';
import { primaryAddress, type World } from '../../world/store/world.ts';
import { composeMail } from '../mail/mime/compose-mail.ts';
import { findHeaderEnd, toBinary } from '../mail/mime/decode.ts';
import { CRLF, writeTraceFields } from '../mail/mime/header.ts';
import { listParts, type MailPart, splitMail, textOfBytes } from '../mail/mime/split-parts.ts';
import type { Item } from './folder.ts';
import type { ImapInbox } from './imap-inbox.ts';
import { countWithCrlf, writeWithCrlf } from './line-ends.ts';
import { envelopeFields, writeEnvelope, writeStructure } from './structure.ts';

/**
 * What a mail is written from. It stays readable if the mail is removed while a client reads it, because a reply that
 * has begun must be completed.
 */
export interface MailSource {
  readonly item: Item;
  /** The message, or a draft as a message. */
  readonly message: MessageRow;
  readonly files: readonly AttachmentRow[];
  /** The header fields before the mail. */
  readonly trace: Uint8Array;
}

/** What was computed of a mail and takes memory. */
interface OpenMail {
  /** The id of the row, and the size of its trace, which a setting can hide. */
  readonly of: string;
  /** The bytes, if they are not those of the row. */
  copy?: Uint8Array<ArrayBuffer>;
  root?: MailPart;
  /** Its parts, and those of the mails within it. */
  parts?: readonly MailPart[];
  /** The BODY and the BODYSTRUCTURE, if they are long. */
  readonly structures: Map<string, string>;
  /** About how much memory all this takes. */
  bytes: number;
}

/** How much memory the open mails of all sessions may take together. */
const MAX_OPEN_BYTES = 32 * 1024 * 1024;

/** About how much memory a part of a mail takes. */
const PART_BYTES = 1_000;

/**
 * The mails that were read last, because clients read a mail in several steps. All sessions of a server share them, and
 * their memory has a limit. So whoever reads a mail asks for it again after each pause.
 */
export class OpenMails {
  /** The mails by their items. The one that was used last is at the end. */
  readonly #mails = new Map<Item, OpenMail>();
  #bytes = 0;
  #isBusy = false;

  get({ item, message, trace }: MailSource): OpenMail | undefined {
    const mail = this.#mails.get(item);
    if (mail?.of !== `${message.id} ${trace.length}`) return undefined;
    this.#mails.delete(item);
    this.#mails.set(item, mail);
    return mail;
  }

  /** Computes something of a mail. Only one is computed at a time, because what is not complete is not counted. */
  *compute<Result>(work: Work<Result>): Work<Result> {
    while (this.#isBusy) yield;
    this.#isBusy = true;
    try {
      return yield* work;
    } finally {
      this.#isBusy = false;
    }
  }

  /** Keeps something that was computed of a mail and takes so many bytes. */
  keep(source: MailSource, bytes: number, change: (mail: OpenMail) => void): void {
    const { item, message, trace } = source;
    const known = this.get(source);
    const mail = known ?? { of: `${message.id} ${trace.length}`, structures: new Map<string, string>(), bytes: 0 };
    if (!known) {
      this.#remove(item);
      this.#mails.set(item, mail);
    }
    change(mail);
    mail.bytes += bytes;
    this.#bytes += bytes;
    for (const oldest of this.#mails.keys()) {
      if (this.#bytes <= MAX_OPEN_BYTES || oldest === item) return;
      this.#remove(oldest);
    }
  }

  #remove(item: Item): void {
    this.#bytes -= this.#mails.get(item)?.bytes ?? 0;
    this.#mails.delete(item);
  }
}

/** Where the header of a mail must end: a mail with a longer header is not accepted. */
const HEADER_BYTES = 512 * 1024;

/** The size up to which what was computed of a mail is kept as long as the mail. */
const MAX_KEPT_LENGTH = 2_000;

const NO_BYTES = new Uint8Array();

/** Reads the mails of an inbox. */
export class MailReader {
  constructor(
    readonly inbox: ImapInbox,
    readonly readBehaviour: ReadBehaviour,
    readonly open = new OpenMails(),
  ) {}

  /** Returns what a mail is written from; `undefined` if the mail is gone. */
  find(item: Item): MailSource | undefined {
    const { world } = this.inbox;
    const message = this.inbox.messageOf(item);
    if (message) {
      const fields = writeTraceFields(message, this.readBehaviour);
      const trace =
        fields.length === 0 ? NO_BYTES : new TextEncoder().encode(fields.map((each) => each + CRLF).join(''));
      const files = message.raw === null ? world.attachments.by('messageId', message.id) : [];
      return { item, message, files, trace };
    }
    const draft = this.inbox.draftOf(item);
    return draft && { item, message: toMessage(world, draft), files: [], trace: NO_BYTES };
  }

  /** Returns the size of a mail in bytes, as IMAP shows it. */
  *sizeOf(source: MailSource): Work<number> {
    const { item, message, trace } = source;
    const name = `size ${trace.length}`;
    const known = item.computed.get(name);
    if (known !== undefined) return Number(known);
    const size =
      message.raw === null ? (yield* this.bytesOf(source)).length : trace.length + (yield* countWithCrlf(message.raw));
    item.computed.set(name, String(size));
    return size;
  }

  /** Returns the bytes of a mail, as IMAP shows it: its raw form, in which each line ends with CRLF. */
  *bytesOf(source: MailSource): Work<Uint8Array<ArrayBuffer>> {
    const { raw } = source.message;
    if (raw !== null && (yield* this.sizeOf(source)) === raw.length) return raw;
    const known = this.open.get(source)?.copy;
    if (known) return known;
    const copy = yield* this.open.compute(writeBytes(source));
    this.open.keep(source, copy.length, (mail) => {
      mail.copy = copy;
    });
    return copy;
  }

  /** Returns the mail with its parts. */
  *rootOf(source: MailSource): Work<MailPart> {
    const known = this.open.get(source)?.root;
    if (known) return known;
    const bytes = yield* this.bytesOf(source);
    const root = yield* this.open.compute(splitMail(textOfBytes(bytes)));
    const parts = listParts(root);
    this.open.keep(source, parts.length * PART_BYTES, (mail) => {
      mail.root = root;
      mail.parts = parts;
    });
    return root;
  }

  /** Returns the parts of a mail, and those of the mails within it, in order. */
  *partsOf(source: MailSource): Work<readonly MailPart[]> {
    const known = this.open.get(source)?.parts;
    if (known) return known;
    const root = yield* this.rootOf(source);
    return this.open.get(source)?.parts ?? listParts(root);
  }

  /** Returns the header of a mail, including the empty line after it. */
  *headerOf(source: MailSource): Work<string> {
    const bytes = yield* this.bytesOf(source);
    const start = toBinary(bytes.subarray(0, HEADER_BYTES));
    return start.slice(0, findHeaderEnd(start));
  }

  *envelopeOf(source: MailSource): Work<string> {
    const { computed } = source.item;
    const known = computed.get('envelope');
    if (known !== undefined) return known;
    const envelope = writeEnvelope(envelopeFields(yield* this.headerOf(source)));
    if (envelope.length <= MAX_KEPT_LENGTH) computed.set('envelope', envelope);
    return envelope;
  }

  /** Returns the BODYSTRUCTURE of a mail, or its BODY if `isExtended` is false. */
  *structureOf(source: MailSource, isExtended: boolean): Work<string> {
    const name = isExtended ? 'bodystructure' : 'body';
    const { computed } = source.item;
    const known = computed.get(name) ?? this.open.get(source)?.structures.get(name);
    if (known !== undefined) return known;
    const root = yield* this.rootOf(source);
    const bytes = yield* this.bytesOf(source);
    const structure = yield* this.open.compute(writeStructure(root, textOfBytes(bytes), isExtended));
    if (structure.length <= MAX_KEPT_LENGTH) computed.set(name, structure);
    else this.open.keep(source, structure.length, (mail) => mail.structures.set(name, structure));
    return structure;
  }
}

/** Writes the bytes of a mail. */
function* writeBytes({ message, files, trace }: MailSource): Work<Uint8Array<ArrayBuffer>> {
  const mail = composeMail(message, files);
  yield;
  if (trace.length === 0 && message.raw === null) return mail;
  return yield* writeWithCrlf(trace, mail, trace.length + (yield* countWithCrlf(mail)));
}

/** Returns a draft as a message, with the header field Bcc. */
function toMessage(world: World, draft: DraftRow): MessageRow {
  const { id, inboxId, to, cc, bcc, subject, plainBody, htmlBody, replyToMessageId, updatedAt, raw } = draft;
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
    raw,
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
