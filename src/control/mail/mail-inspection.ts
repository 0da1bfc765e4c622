import { z } from 'zod';
import { lazy, type OutputOf } from '../../basics/lazy-schema.ts';
import { ApiError, parseOrRefuse } from '../../contract/errors.ts';
import { composeMail } from '../../service/mail/mime/compose-mail.ts';
import { type HeaderField, listHeaders, writeTraceFields } from '../../service/mail/mime/header.ts';
import { FILE_COLUMNS, fileFields, type MailFile, viewFields } from '../../service/mail/show-mail.ts';
import { showMessage } from '../../service/operations/replies.ts';
import type { ReachableWorlds } from '../../world/store/reachable-worlds.ts';
import type { AttachmentRow, InboxRow, ShownFields } from '../../world/store/rows.ts';
import { pick, shownFields } from '../../world/store/rows.ts';
import { type ShownRow, showRow } from '../../world/store/state.ts';
import { primaryAddress, type World } from '../../world/store/world.ts';
import { type ControlScope, findStoredRow, notFound } from '../control-scope.ts';
import { findRequestOf } from '../journal/find-requests.ts';
import { detailMail } from '../journal/from-entries/mail-list.ts';
import { linksOf, misleadingLinksOf, type ShownLink } from './mail-links.ts';
import type { DraftFilter, DraftPage, MailPage, MailSearch, MailSummary } from './mail-search.ts';
import {
  createLookUp,
  draftFilter,
  listDrafts,
  mailSearch,
  mailSummary,
  StoredMail,
  searchMail,
} from './mail-search.ts';

const inboxColumns = (): ShownFields<InboxRow, 'id' | 'displayName' | 'isPaused'> =>
  shownFields('inboxes', ['id', 'displayName', 'isPaused']);

const inboxFields = () => ({
  /** The address from which the inbox sends. */
  address: z.string(),
  /** How many messages the inbox has, without the messages in the trash. */
  messages: z.int().min(0).describe('Without those in the trash.'),
  /** How many messages of its folder `inbox` are unread. */
  unread: z.int().min(0),
});

/** An inbox with the numbers of its messages. */
export interface InboxSummary extends OutputOf<ReturnType<typeof inboxColumns> & ReturnType<typeof inboxFields>> {}

const inboxSummary = () => {
  const { id, ...columns } = inboxColumns();
  const { address, ...counts } = inboxFields();
  return z.strictObject({ id, address, ...columns, ...counts }) as z.ZodType<InboxSummary>;
};

const workspaceFields = () => ({
  /** The id of the workspace. */
  id: z.string(),
  /** Its name. */
  name: z.string(),
  /** Its inboxes, without deleted inboxes. */
  inboxes: z.array(inboxSummary()),
});

/** A workspace with its inboxes. */
export interface WorkspaceSummary extends OutputOf<ReturnType<typeof workspaceFields>> {}

const tenantFields = () => ({
  /** The id of the tenant. */
  id: z.string(),
  /** Its name. */
  name: z.string(),
  /** Whether it is a sandbox. */
  isSandbox: z.boolean(),
  /** Its workspaces. */
  workspaces: z.array(z.strictObject(workspaceFields()) as z.ZodType<WorkspaceSummary>),
});

/** The schema of a tenant with its workspaces and their inboxes. */
export const tenantSummary = lazy(() => z.strictObject(tenantFields()));

/** A tenant with its workspaces and their inboxes. */
export interface TenantSummary extends OutputOf<ReturnType<typeof tenantFields>> {}

const headerField = () => z.strictObject({ name: z.string(), value: z.string(), isTrace: z.boolean() });

const shownLink = () => z.strictObject({ url: z.string(), text: z.string() });

const detailFields = () => ({
  /** The address of its inbox. */
  inbox: z.string(),
  /** The header fields of the raw form, in order. */
  headers: (z.array(headerField()) as z.ZodType<readonly HeaderField[]>).describe(
    'Each field of the raw form, in order; `isTrace` if the emulator added it.',
  ),
  /** The files, without their bytes. */
  files: z.array(z.strictObject(fileFields()) as z.ZodType<MailFile>),
  /** The web addresses that it links to, each once. */
  links: z.array(z.string()).describe('The web addresses that it links to, each once.'),
  /** The links in the HTML whose text shows another host than the host of their URL. */
  misleadingLinks: (z.array(shownLink()) as z.ZodType<readonly ShownLink[]>).describe(
    'The links whose text shows another host than the host of their URL.',
  ),
  /** All messages of its thread, oldest first, including this message and deleted messages. */
  thread: (z.array(mailSummary()) as z.ZodType<readonly MailSummary[]>).describe(
    'Oldest first, including this message and deleted messages.',
  ),
  /** The id of the request that sent it, if the journal has it; null otherwise. */
  request: z.string().nullable().describe('The id of the request that sent it, if the journal has it.'),
  /** The ids of its deliveries in the log, oldest first. */
  deliveries: z.array(z.string()).describe('The ids of its deliveries, oldest first.'),
  /** What the service replies to a request for this message. */
  api: z.record(z.string(), z.unknown()).describe('What the service replies to a request for this message.'),
});

/** The schema of a mail with everything that is known about it. */
export const detailsReply = lazy(() => {
  const { inbox, ...others } = detailFields();
  return mailSummary().extend({ inbox, ...viewFields('details'), ...others });
});

/** A mail with everything that is known about it. */
export type MailDetails = MailSummary &
  OutputOf<ReturnType<typeof viewFields<'details'>> & ReturnType<typeof detailFields>>;

/**
 * The control methods that show all mail, including the mail of the fixture. They change nothing: no mail is marked as
 * read.
 */
export interface MailInspection {
  /** Returns the tenants, oldest first, with their workspaces, inboxes and numbers of messages; sandboxes come last. */
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
   * Returns the drafts of all inboxes, newest first: the draft that was changed last comes first.
   *
   * @throws {ApiError} VALIDATION_ERROR for an invalid filter, NOT_FOUND for an unknown tenant.
   */
  drafts(filter?: DraftFilter): DraftPage;
  /** Returns a mail with everything that is known about it. @throws {ApiError} NOT_FOUND for an unknown id. */
  mail(id: string): MailDetails;
  /** Returns the raw mail (RFC 5322), as the service returns it at `…/raw`. @throws {ApiError} NOT_FOUND */
  mailSource(id: string): Uint8Array<ArrayBuffer>;
  /** Returns a file of a mail with its bytes in base64. @throws {ApiError} NOT_FOUND for an unknown id. */
  mailFile(id: string, fileId: string): ShownRow<AttachmentRow>;
}

/** Creates the methods that show all mail. */
export function createMailInspection(scope: ControlScope): MailInspection {
  const { worlds, readBehaviour, service, dispatcher } = scope;
  const find = (id: string) => {
    const found = findStoredRow(worlds, 'messages', id);
    if (!found) throw notFound('message');
    return { world: found.world, message: found.row };
  };
  return {
    tenants: () => showTenants(worlds),
    searchMail: (search = {}) => searchMail(scope, parseOrRefuse('The search', mailSearch(), search)),
    drafts: (filter = {}) => listDrafts(worlds, parseOrRefuse('The filter', draftFilter(), filter)),
    mail(id) {
      const { world, message } = find(id);
      const trace = writeTraceFields(message, readBehaviour);
      const headers = listHeaders(trace, composeMail(message, world.attachments.by('messageId', id)));
      const api = showMessage(world, message, readBehaviour);
      const deliveries = dispatcher.list([world]).filter(({ payload }) => payload.messageId === id);
      const lookUp = createLookUp(scope);
      const thread = world.messageIndex.thread(message.inboxId, message.threadId)?.messages() ?? [];
      return {
        ...detailMail(
          new StoredMail(world, message, lookUp),
          thread.map((each) => new StoredMail(world, each, lookUp)),
        ),
        headers,
        files: world.attachments.by('messageId', id).map((file) => pick(file, FILE_COLUMNS)),
        links: linksOf(message),
        misleadingLinks: misleadingLinksOf(message),
        request: findRequestOf(service.journals, worlds, id),
        deliveries: deliveries.map((delivery) => delivery.id),
        api,
      };
    },
    mailSource(id) {
      const { world, message } = find(id);
      return composeMail(message, world.attachments.by('messageId', id), writeTraceFields(message, readBehaviour));
    },
    mailFile(id, fileId) {
      const file = find(id).world.attachments.get(fileId);
      if (file?.messageId !== id) throw new ApiError('NOT_FOUND', 'The message has no file with this id.');
      return showRow(file);
    },
  };
}

/** Returns the tenants and sandboxes with their inboxes. */
function showTenants(worlds: ReachableWorlds): TenantSummary[] {
  return worlds.all().map((world) => showTenant(world, worlds.sandboxOf(world) !== undefined));
}

/** Returns a tenant or a sandbox with its inboxes. */
export function showTenant(world: World, isSandbox: boolean): TenantSummary {
  const inboxes = world.inboxes.all().filter(({ deletedAt }) => deletedAt === null);
  const workspaces = world.workspaces.all().map(({ id, name }) => {
    const inWorkspace = inboxes.filter(({ workspaceId }) => workspaceId === id);
    return { id, name, inboxes: inWorkspace.map((inbox) => showInbox(world, inbox)) };
  });
  return { id: world.id, name: world.tenants.get(world.id)?.name ?? '', isSandbox, workspaces };
}

function showInbox(world: World, inbox: InboxRow): InboxSummary {
  const { id, displayName, isPaused } = inbox;
  const count = (list: 'visible' | 'unreadInbox') => world.messageIndex.list([id], list).length;
  const address = primaryAddress(world, inbox);
  return { id, address, displayName, isPaused, messages: count('visible'), unread: count('unreadInbox') };
}
