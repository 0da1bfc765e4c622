import type { BehaviourReader } from '../../contract/behaviours.ts';
import { ApiError, parseOrRefuse } from '../../contract/errors.ts';
import { linksOf, misleadingLinksOf, type ShownLink } from '../../service/mail/html.ts';
import { composeMail, composeWithTrace } from '../../service/mail/mime/compose-mail.ts';
import { type HeaderField, listHeaders, writeShownTrace } from '../../service/mail/mime/header.ts';
import { showMessage } from '../../service/operations/replies/show-message.ts';
import type { ReachableWorlds } from '../../world/store/reachable-worlds.ts';
import type { AttachmentRow, InboxRow, MessageRow } from '../../world/store/rows.ts';
import { type ShownRow, showRow } from '../../world/store/seed/show-row.ts';
import { canonicalAddress, primaryAddress, type World } from '../../world/store/world.ts';
import { findStoredRow, notFound } from '../find-worlds.ts';
import {
  type DraftFilter,
  type DraftPage,
  draftFilter,
  listDrafts,
  type MailPage,
  type MailSearch,
  type MailSummary,
  mailSearch,
  searchMail,
  showMailSummary,
} from './mail-search.ts';

/** An inbox with the numbers of its messages. */
export interface InboxSummary extends Pick<InboxRow, 'id' | 'displayName' | 'isPaused'> {
  /** The address from which it sends. */
  readonly address: string;
  /** How many messages it has, without those in the trash. */
  readonly messages: number;
  /** How many messages of its folder `inbox` are unread. */
  readonly unread: number;
}

/** A workspace with its inboxes. */
export interface WorkspaceSummary {
  /** The id of the workspace. */
  readonly id: string;
  /** Its name. */
  readonly name: string;
  /** Its inboxes, without deleted ones. */
  readonly inboxes: readonly InboxSummary[];
}

/** A tenant with everything that contains mail. */
export interface TenantSummary {
  /** The id of the tenant. */
  readonly id: string;
  /** Its name. */
  readonly name: string;
  /** Whether it is a sandbox. */
  readonly isSandbox: boolean;
  /** Its workspaces. */
  readonly workspaces: readonly WorkspaceSummary[];
}

/** A mail with everything that is known about it. */
export interface MailDetails
  extends MailSummary,
    Pick<
      MessageRow,
      | 'cc'
      | 'bcc'
      | 'replyTo'
      | 'plainBody'
      | 'htmlBody'
      | 'messageIdHeader'
      | 'inReplyTo'
      | 'references'
      | 'isArchived'
    > {
  /** The address of its inbox. */
  readonly inbox: string;
  /** When it was deleted; null if it was not. */
  readonly deletedAt: string | null;
  /** The header fields of the raw form, in order. */
  readonly headers: readonly HeaderField[];
  /** The files, without their bytes. */
  readonly files: readonly Pick<AttachmentRow, 'id' | 'filename' | 'contentType' | 'sizeBytes'>[];
  /** The web addresses that it links to, each once. */
  readonly links: readonly string[];
  /** The links of the HTML whose text shows an address of another host. */
  readonly misleadingLinks: readonly ShownLink[];
  /** The messages of its thread, oldest first, this one and deleted ones too. */
  readonly thread: readonly MailSummary[];
  /** The id of the request that sent it, if the journal has it; null otherwise. */
  readonly request: string | null;
  /** The ids of its deliveries in the log, oldest first. */
  readonly deliveries: readonly string[];
  /** What the service replies to a request for this message. */
  readonly api: Readonly<Record<string, unknown>>;
}

/** The control methods that show all mail, that of the fixture too. They change nothing: no mail becomes read. */
export interface MailInspection {
  /** Returns the tenants with their workspaces, inboxes and numbers of messages; sandboxes come last. */
  tenants(): TenantSummary[];
  /**
   * Searches all mail, newest first.
   *
   * @throws {ApiError} VALIDATION_ERROR for an invalid search, NOT_FOUND for an unknown tenant.
   * @example
   * const { total, messages } = mailbox.searchMail({ inbox: mailbox.ids.acme.inboxes.helpdesk, search: 'invoice' });
   */
  searchMail(search?: MailSearch): MailPage;
  /**
   * Returns the drafts of all inboxes; the one that was changed last comes first.
   *
   * @throws {ApiError} VALIDATION_ERROR for an invalid filter, NOT_FOUND for an unknown tenant.
   */
  drafts(filter?: DraftFilter): DraftPage;
  /** Returns a mail with everything that is known about it. @throws {ApiError} NOT_FOUND for an unknown id. */
  mail(id: string): MailDetails;
  /** Returns a mail as RFC 5322, as `…/raw` does. @throws {ApiError} NOT_FOUND for an unknown id. */
  mailSource(id: string): Uint8Array<ArrayBuffer>;
  /** Returns a file of a mail with its bytes in base64. @throws {ApiError} NOT_FOUND for an unknown id. */
  mailFile(id: string, fileId: string): ShownRow<AttachmentRow>;
}

/** Creates the methods that show all mail. */
export function createMailInspection(
  worlds: ReachableWorlds,
  readBehaviour: BehaviourReader['readBehaviour'],
  findLinks: (world: World, id: string) => Pick<MailDetails, 'request' | 'deliveries'>,
): MailInspection {
  const find = (id: string) => {
    const found = findStoredRow(worlds, 'messages', id);
    if (!found) throw notFound('message');
    return { world: found.world, message: found.row };
  };
  return {
    tenants: () => worlds.all().map((world) => showTenant(world, !worlds.neighbours().includes(world))),
    searchMail: (search = {}) => searchMail(worlds, parseOrRefuse('The search', mailSearch(), search)),
    drafts: (filter = {}) => listDrafts(worlds, parseOrRefuse('The filter', draftFilter(), filter)),
    mail(id) {
      const { world, message } = find(id);
      const trace = writeShownTrace(message, readBehaviour);
      const headers = listHeaders(trace, composeMail(message, world.attachments.by('messageId', id)));
      const api = showMessage(world, message, readBehaviour);
      return { ...showDetails(world, message), headers, ...findLinks(world, id), api };
    },
    mailSource(id) {
      const { world, message } = find(id);
      return composeWithTrace(writeShownTrace(message, readBehaviour), message, world.attachments.by('messageId', id));
    },
    mailFile(id, fileId) {
      const file = find(id).world.attachments.get(fileId);
      if (file?.messageId !== id) throw new ApiError('NOT_FOUND', 'The message has no file with this id.');
      return showRow(file);
    },
  };
}

function showTenant(world: World, isSandbox: boolean): TenantSummary {
  const inboxes = world.inboxes.all().filter(({ deletedAt }) => deletedAt === null);
  return {
    id: world.id,
    name: world.tenants.get(world.id)?.name ?? '',
    isSandbox,
    workspaces: world.workspaces
      .all()
      .map(({ id, name }) => ({
        ...{ id, name },
        inboxes: inboxes.filter(({ workspaceId }) => workspaceId === id).map((inbox) => showInbox(world, inbox)),
      })),
  };
}

function showInbox(world: World, inbox: InboxRow): InboxSummary {
  const { id, displayName, isPaused } = inbox;
  const count = (list: 'visible' | 'unreadInbox') => world.messageIndex.list([id], list).length;
  const address = primaryAddress(world, inbox);
  return { id, address, displayName, isPaused, messages: count('visible'), unread: count('unreadInbox') };
}

function showDetails(
  world: World,
  message: MessageRow,
): Omit<MailDetails, 'api' | 'headers' | 'request' | 'deliveries'> {
  const { id, inboxId, threadId, cc, bcc, replyTo, plainBody, htmlBody, messageIdHeader, inReplyTo } = message;
  const { references, isArchived, deletedAt } = message;
  const inbox = world.inboxes.get(inboxId);
  return {
    ...showMailSummary(world, message),
    ...{ cc, bcc, replyTo, plainBody, htmlBody, messageIdHeader },
    ...{ inReplyTo, references, isArchived, deletedAt },
    inbox: inbox ? canonicalAddress(inbox) : '',
    files: world.attachments
      .by('messageId', id)
      .map(({ id, filename, contentType, sizeBytes }) => ({ id, filename, contentType, sizeBytes })),
    links: linksOf(message),
    misleadingLinks: misleadingLinksOf(message),
    thread: (world.messageIndex.thread(inboxId, threadId)?.messages() ?? []).map((row) => showMailSummary(world, row)),
  };
}
