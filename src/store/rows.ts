import type { EventKind } from '../contract/events.ts';
import type { Tier } from '../contract/tiers.ts';

/** A tenant. Each world has exactly one. */
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

/** A JSON object that a client stores with an inbox or a list entry. */
type Metadata = Readonly<Record<string, unknown>>;

/** An inbox. It is soft-deleted: only the row and its messages stay, and `deletedAt` is set. */
export interface InboxRow {
  readonly id: string;
  readonly workspaceId: string;
  /** The local part of the canonical address, which never changes; `domain` is the other part. */
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

/** An address of an inbox in lower case: the canonical one or a further one. */
export interface AddressRow {
  readonly id: string;
  readonly inboxId: string;
  readonly address: string;
  readonly isPrimary: boolean;
  readonly createdAt: string;
}

/** A key of the tenant, workspace or inbox tier; `ownerId` is the id of its tenant, workspace or inbox. */
export interface ApiKeyRow {
  readonly id: string;
  readonly key: string;
  readonly tier: Exclude<Tier, 'operator'>;
  readonly ownerId: string;
  readonly name: string | null;
  readonly createdAt: string;
}

/** A webhook; `workspaceId` is null for one that gets the events of the whole tenant. */
export interface WebhookRow {
  readonly id: string;
  readonly workspaceId: string | null;
  readonly url: string;
  readonly events: readonly EventKind[];
  readonly secret: string;
  readonly isActive: boolean;
  readonly createdAt: string;
}

/** A message of an inbox. It is soft-deleted: lists omit it, its thread keeps it, and `deletedAt` is set. */
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
  /** When a bounce was detected; null if the message did not bounce. */
  readonly bouncedAt: string | null;
  readonly messageIdHeader: string;
  readonly inReplyTo: string | null;
  readonly references: readonly string[];
  /** Further header fields of an inbound message. */
  readonly headers: Readonly<Record<string, string>> | null;
  /** The bytes of a mail that came from outside, in base64; null if the mail is composed from the other fields. */
  readonly raw: string | null;
  /** When it arrived or was sent. */
  readonly receivedAt: string;
}

/** An attachment of a message. */
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

/** A contact list of an inbox. */
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
  /** When it was first verified; null if it never was. */
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
