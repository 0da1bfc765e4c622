import { type Folder, IN_FOLDER } from '../../../contract/mail-folders.ts';
import type { ViewedMail } from '../../../service/mail/mail-views.ts';
import type { JournalEntry } from '../journal-entry.ts';
import type { DetailedMail } from './mail-list.ts';

/** How a mail was at the end. */
export type MailAtEnd = Pick<
  ViewedMail<'summary' | 'details'>,
  'id' | 'isRead' | 'isStarred' | 'isArchived' | 'deletedAt' | 'bouncedAt' | 'references'
>;

/** A tenant or a sandbox, as far as its mail needs it. */
export interface TenantOfMail {
  readonly id: string;
  readonly name: string;
  readonly isSandbox: boolean;
  /** The domain of a sandbox. */
  readonly domain: string | null;
  /** The further addresses of inboxes that have some, by the id of the inbox. */
  readonly addresses: Readonly<Record<string, readonly string[]>>;
  readonly workspaces: readonly { readonly id: string; readonly inboxes: readonly { readonly id: string }[] }[];
}

/** A mail of the journal. */
export interface EntryMail extends DetailedMail {
  readonly mail: DetailedMail['mail'] & JournalEntry<'mail-sent'>['data']['mail'];
  /** The id of the workspace of its inbox; undefined if the inbox is gone. */
  readonly workspaceId: string | undefined;
}

/** Returns whether an entry is a mail that arrived or was sent. */
export function isMailEntry(entry: JournalEntry): entry is JournalEntry<'mail-received' | 'mail-sent'> {
  return entry.kind === 'mail-received' || entry.kind === 'mail-sent';
}

/**
 * Returns the mails of these entries, oldest first in each tenant. A mail that was gone at the end is shown too, because
 * entries say what happened; it counts as read, and nothing else is marked.
 */
export function mailsOf(
  entries: readonly JournalEntry[],
  atEnd: ReadonlyMap<string, MailAtEnd>,
  tenants: readonly TenantOfMail[],
): EntryMail[] {
  const sampleIds = new Set(entries.flatMap((entry) => (entry.kind === 'sample' ? entry.data.messageIds : [])));
  const tenantById = new Map(tenants.map((tenant) => [tenant.id, tenant]));
  const workspaceByInbox = new Map(
    tenants.flatMap(({ workspaces }) => workspaces.flatMap(({ id, inboxes }) => inboxes.map((each) => [each.id, id]))),
  );
  const mailEntries = entries.filter(isMailEntry);
  const threadSizes = new Map<string, number>();
  for (const { data } of mailEntries)
    threadSizes.set(threadOf(data.mail), (threadSizes.get(threadOf(data.mail)) ?? 0) + 1);
  const mailsByTenant = new Map(tenants.map(({ id }): [string, EntryMail[]] => [id, []]));
  for (const [position, { data }] of mailEntries.entries()) {
    const { mail, inbox } = data;
    const { id, tenantId, inboxId, attachments } = mail;
    const tenant = tenantById.get(tenantId);
    mailsByTenant.get(tenantId)?.push({
      tenantId,
      arrival: position + 1,
      mail: { ...mail, ...(atEnd.get(id) ?? GONE) },
      inbox,
      workspaceId: workspaceByInbox.get(inboxId),
      inboxNames: [inbox, ...(tenant?.addresses[inboxId] ?? []), inboxId],
      sandbox: tenant?.isSandbox ? { id: tenantId, name: tenant.name, domain: tenant.domain ?? '' } : undefined,
      fileCount: attachments.length,
      isSample: sampleIds.has(id),
      messagesInThread: threadSizes.get(threadOf(mail)) ?? 1,
    });
  }
  return [...mailsByTenant.values()].flat();
}

/** How a mail is shown that was gone at the end. */
export const GONE: Omit<MailAtEnd, 'id'> = {
  isRead: true,
  isStarred: false,
  isArchived: false,
  deletedAt: null,
  bouncedAt: null,
  references: [],
};

/** What chooses mail beside the words of a search, as `searchMail` takes it. */
export interface MailChoice {
  readonly tenant?: string | undefined;
  readonly workspace?: string | undefined;
  readonly inbox?: string | undefined;
  readonly folder?: Folder | 'all' | undefined;
  readonly threads?: boolean | undefined;
  /** The ids of mails, with commas between them: only these, in any folder. */
  readonly ids?: string | undefined;
}

/** Returns the mails that are chosen by their inboxes and their folder; for each thread only the latest, if so wanted. */
export function chooseMails(mails: readonly EntryMail[], choice: MailChoice): EntryMail[] {
  const { tenant, workspace, inbox, folder = 'all', threads, ids } = choice;
  const isInFolder = IN_FOLDER[folder === 'all' ? 'visible' : folder];
  const chosen = mails.filter(
    ({ tenantId, workspaceId, mail }) =>
      (tenant === undefined || tenantId === tenant) &&
      (workspace === undefined || workspaceId === workspace) &&
      (inbox === undefined || mail.inboxId === inbox) &&
      (ids === undefined ? isInFolder(mail) : ids.includes(mail.id)),
  );
  if (!threads || ids !== undefined) return chosen;
  const latest = new Map(chosen.map((each) => [threadOf(each.mail), each]));
  return chosen.filter((each) => latest.get(threadOf(each.mail)) === each);
}

/** What tells threads apart: two inboxes may have parts of the same one. */
export function threadOf({ inboxId, threadId }: { readonly inboxId: string; readonly threadId: string }): string {
  return `${inboxId} ${threadId}`;
}
