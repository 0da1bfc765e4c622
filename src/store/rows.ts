import type { EventKind } from '../contract/events.ts';
import type { Tier } from '../contract/tiers.ts';

/** A tenant. Its world holds exactly one. */
export interface TenantRow {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
}

export interface WorkspaceRow {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly isDefault: boolean;
  readonly createdAt: string;
}

/** What a client keeps beside an inbox or a list entry: a JSON object of its own. */
export type Metadata = Readonly<Record<string, unknown>>;

/** An inbox. Deleting one is soft: the row and its messages stay, with `deletedAt`, and nothing else of it. */
export interface InboxRow {
  readonly id: string;
  readonly workspaceId: string;
  /** With `domain`, the canonical address, which never changes. */
  readonly username: string;
  readonly domain: string;
  readonly displayName: string | null;
  readonly metadata: Metadata | null;
  readonly imapPassword: string;
  /** A paused inbox refuses to send. */
  readonly isPaused: boolean;
  readonly deletedAt: string | null;
  readonly createdAt: string;
}

/** An address at which an inbox receives: its canonical one or a further one, in lower case. */
export interface AddressRow {
  readonly id: string;
  readonly inboxId: string;
  readonly address: string;
  readonly isPrimary: boolean;
  readonly createdAt: string;
}

/** A key of the tenant, workspace or inbox tier; `ownerId` is the tenant, workspace or inbox that it is bound to. */
export interface ApiKeyRow {
  readonly id: string;
  readonly key: string;
  readonly tier: Exclude<Tier, 'operator'>;
  readonly ownerId: string;
  readonly name: string | null;
  readonly createdAt: string;
}

/** A webhook; `workspaceId` is null if it gets the events of the whole tenant. */
export interface WebhookRow {
  readonly id: string;
  readonly workspaceId: string | null;
  readonly url: string;
  readonly events: readonly EventKind[];
  readonly secret: string;
  readonly isActive: boolean;
  readonly createdAt: string;
}

/** A message of an inbox. Deleting one is soft: it leaves the lists and stays in its thread, with `deletedAt`. */
export interface MessageRow {
  readonly id: string;
  readonly inboxId: string;
  readonly threadId: string;
  readonly direction: 'inbound' | 'outbound';
  /** The display form, such as `Dana Reyes <dana@customer.test>`. */
  readonly from: string;
  /** The bare address of `from`, in lower case. */
  readonly fromAddress: string;
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly bcc: readonly string[];
  readonly replyTo: string | null;
  readonly subject: string;
  readonly plainBody: string;
  readonly htmlBody: string | null;
  readonly isRead: boolean;
  readonly isStarred: boolean;
  readonly isArchived: boolean;
  readonly deletedAt: string | null;
  /** When a bounce was detected for it; null for one that did not bounce. */
  readonly bouncedAt: string | null;
  readonly messageIdHeader: string;
  readonly inReplyTo: string | null;
  readonly references: readonly string[];
  /** Further header fields that it came with. */
  readonly headers: Readonly<Record<string, string>> | null;
  /** The whole mail as it came in from outside, in base64; null for one that is composed of the rest. */
  readonly raw: string | null;
  /** When it arrived, or when it was sent. */
  readonly receivedAt: string;
}

/** A file that came with a message. */
export interface AttachmentRow {
  readonly id: string;
  readonly messageId: string;
  readonly filename: string;
  readonly contentType: string;
  readonly sizeBytes: number;
  /** The bytes, in base64. */
  readonly content: string;
}

export interface DraftRow {
  readonly id: string;
  readonly inboxId: string;
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly bcc: readonly string[];
  readonly subject: string | null;
  readonly plainBody: string | null;
  readonly htmlBody: string | null;
  readonly replyToMessageId: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** A list: a contact group of an inbox. */
export interface ListRow {
  readonly id: string;
  readonly inboxId: string;
  readonly name: string;
  readonly description: string | null;
  readonly createdAt: string;
}

export interface ListEntryRow {
  readonly id: string;
  readonly listId: string;
  readonly email: string;
  readonly displayName: string | null;
  readonly metadata: Metadata | null;
  readonly createdAt: string;
}

/** A domain; `workspaceId` is null for one that every workspace of the tenant may use. */
export interface DomainRow {
  readonly id: string;
  readonly domain: string;
  readonly workspaceId: string | null;
  readonly status: 'pending' | 'verifying' | 'verified' | 'failed' | 'unknown';
  /** When it was verified first; null for one that never was. */
  readonly verifiedAt: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** The collections of a tenant's world, by name. */
export interface Rows {
  tenants: TenantRow;
  workspaces: WorkspaceRow;
  inboxes: InboxRow;
  addresses: AddressRow;
  apiKeys: ApiKeyRow;
  domains: DomainRow;
  webhooks: WebhookRow;
  messages: MessageRow;
  attachments: AttachmentRow;
  drafts: DraftRow;
  lists: ListRow;
  listEntries: ListEntryRow;
}

/** The name of a collection. */
export type RowKind = keyof Rows;
