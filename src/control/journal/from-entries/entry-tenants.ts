import { IN_FOLDER } from '../../../contract/mail-folders.ts';
import { GONE, type MailAtEnd, type TenantOfMail } from './entry-mails.ts';

/** A tenant or a sandbox at the end. */
export interface TenantAtEnd extends TenantOfMail {
  readonly workspaces: readonly {
    readonly id: string;
    readonly name: string;
    readonly inboxes: readonly InboxAtEnd[];
  }[];
}

interface InboxAtEnd {
  readonly id: string;
  readonly address: string;
  readonly displayName: string | null;
  readonly isPaused: boolean;
}

/** What tells of the mail of inboxes: a mail that arrived or was sent. */
export interface MailOfInbox {
  /** The address of the inbox. */
  readonly inbox: string;
  readonly mail: {
    readonly id: string;
    readonly tenantId: string;
    readonly inboxId: string;
    readonly direction: 'inbound' | 'outbound';
  };
}

/**
 * Returns the tenants with the numbers of these mails. A tenant that was gone at the end is known by its mail alone. It is
 * named by `goneNames`, which has the name of each sandbox by its id, or else by the domain of an inbox.
 */
export function tenantsOf(
  atEnd: readonly TenantAtEnd[],
  mails: readonly MailOfInbox[],
  mailsAtEnd: ReadonlyMap<string, MailAtEnd>,
  goneNames: ReadonlyMap<string | null, string | null>,
) {
  const counts = new Map<string, { messages: number; unread: number }>();
  for (const { mail } of mails) {
    const count = counts.get(mail.inboxId) ?? { messages: 0, unread: 0 };
    const state = { direction: mail.direction, ...(mailsAtEnd.get(mail.id) ?? GONE) };
    if (IN_FOLDER.visible(state)) count.messages += 1;
    if (IN_FOLDER.inbox(state) && !state.isRead) count.unread += 1;
    counts.set(mail.inboxId, count);
  }
  const known = new Set(atEnd.map(({ id }) => id));
  const gone = new Map<string, Map<string, string>>();
  for (const { inbox, mail } of mails) {
    if (known.has(mail.tenantId)) continue;
    const addresses = gone.get(mail.tenantId) ?? new Map<string, string>();
    gone.set(mail.tenantId, addresses.set(mail.inboxId, inbox));
  }
  const goneTenants = [...gone].map(([id, addresses]): TenantAtEnd => {
    const inboxes = [...addresses].map(([inboxId, address]) => {
      return { id: inboxId, address, displayName: null, isPaused: false };
    });
    const [, domain = id] = inboxes[0]?.address.split('@') ?? [];
    const name = goneNames.get(id) ?? domain;
    const workspaces = [{ id, name: 'Inboxes', inboxes }];
    return { id, name, isSandbox: goneNames.has(id), domain, addresses: {}, workspaces };
  });
  return [...atEnd, ...goneTenants].map((tenant) => ({
    ...tenant,
    workspaces: tenant.workspaces.map((workspace) => ({
      ...workspace,
      inboxes: workspace.inboxes.map((inbox) => ({
        ...inbox,
        ...(counts.get(inbox.id) ?? { messages: 0, unread: 0 }),
      })),
    })),
  }));
}
