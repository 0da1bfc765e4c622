import type { EventKind } from '../contract/events.ts';
import type { Tier } from '../contract/tiers.ts';

/** What every row has. Each time in a row is ISO 8601 UTC with milliseconds. */
interface Row {
  /** A UUID in lower case. */
  readonly id: string;
}

/** A row with the time of its creation. */
interface CreatedRow extends Row {
  /** When it was created. */
  readonly createdAt: string;
}

/** A tenant. Its world holds exactly one. */
export interface TenantRow extends CreatedRow {
  /** The name that clients see. */
  readonly name: string;
}

/** A workspace of the tenant. */
export interface WorkspaceRow extends CreatedRow {
  /** The name that clients see. */
  readonly name: string;
  /** A short name, unique in the tenant. */
  readonly slug: string;
  /** Whether it is the tenant's default workspace, which cannot be deleted. */
  readonly isDefault: boolean;
}

/** A JSON object that a client stores with an inbox or a list entry. */
type Metadata = Readonly<Record<string, unknown>>;

/** An inbox. It is soft-deleted: only the row and its messages stay, and `deletedAt` is set. */
export interface InboxRow extends CreatedRow {
  /** The id of its workspace. */
  readonly workspaceId: string;
  /** The local part of the canonical address, which never changes; `domain` is the other part. */
  readonly username: string;
  /** The part of the canonical address behind `@`, in lower case. */
  readonly domain: string;
  /** The name in the `From` header of its mail; null if it has none. */
  readonly displayName: string | null;
  /** The JSON object that its client keeps with it; null if there is none. */
  readonly metadata: Metadata | null;
  /** The password that the service shows for IMAP and SMTP; it is never checked. */
  readonly imapPassword: string;
  /** A paused inbox refuses to send. */
  readonly isPaused: boolean;
  /** When it was deleted; null if it was not. */
  readonly deletedAt: string | null;
}

/** An address of an inbox in lower case: the canonical one or a further one. */
export interface AddressRow extends CreatedRow {
  /** The id of the inbox. */
  readonly inboxId: string;
  /** The address without a name, in lower case. */
  readonly address: string;
  /** Whether it is the primary address of its inbox; exactly one is. */
  readonly isPrimary: boolean;
}

/** A key of the tenant, workspace or inbox tier; `ownerId` is the id of its tenant, workspace or inbox. */
export interface ApiKeyRow extends CreatedRow {
  /** The whole key. */
  readonly key: string;
  /** The tier, which decides what the key may do. */
  readonly tier: Exclude<Tier, 'operator'>;
  /** The id of the tenant, workspace or inbox that the key is bound to. */
  readonly ownerId: string;
  /** A note about what the key is for; null if there is none. */
  readonly name: string | null;
}

/** A webhook; `workspaceId` is null for one that gets the events of the whole tenant. */
export interface WebhookRow extends CreatedRow {
  /** The id of the workspace whose events it receives; null for the whole tenant. */
  readonly workspaceId: string | null;
  /** The URL to which events are delivered. */
  readonly url: string;
  /** The kinds of event that are delivered. */
  readonly events: readonly EventKind[];
  /** The signing secret: `whsec_` and base64. */
  readonly secret: string;
  /** Whether events are delivered. */
  readonly isActive: boolean;
}

/** A message of an inbox. It is soft-deleted: lists omit it, its thread keeps it, and `deletedAt` is set. */
export interface MessageRow extends Row {
  /** The id of the inbox that received or sent it. */
  readonly inboxId: string;
  /** The id of its thread. */
  readonly threadId: string;
  /** Whether the inbox received it or sent it. */
  readonly direction: 'inbound' | 'outbound';
  /** The display form, such as `Dana Reyes <dana@customer.test>`. */
  readonly from: string;
  /** The bare address of `from`, in lower case. */
  readonly fromAddress: string;
  /** The recipients, in the display form. */
  readonly to: readonly string[];
  /** The Cc recipients, in the display form. */
  readonly cc: readonly string[];
  /** The Bcc recipients, in the display form. */
  readonly bcc: readonly string[];
  /** The `Reply-To` address, in the display form; null if there is none. */
  readonly replyTo: string | null;
  /** The subject; empty if there is none. */
  readonly subject: string;
  /** The body as text; empty if there is none. */
  readonly plainBody: string;
  /** The body as HTML; null if there is none. */
  readonly htmlBody: string | null;
  /** Whether it has been read. */
  readonly isRead: boolean;
  /** Whether it has a star. */
  readonly isStarred: boolean;
  /** Whether it is in the archive. */
  readonly isArchived: boolean;
  /** When it was deleted; null if it was not. */
  readonly deletedAt: string | null;
  /** When a bounce was detected; null if the message did not bounce. */
  readonly bouncedAt: string | null;
  /** The `Message-ID` header, with its angle brackets. */
  readonly messageIdHeader: string;
  /** The `In-Reply-To` header, with its angle brackets; null if there is none. */
  readonly inReplyTo: string | null;
  /** The message ids of the `References` header, oldest first. */
  readonly references: readonly string[];
  /** Further header fields of an inbound message. */
  readonly headers: Readonly<Record<string, string>> | null;
  /** The bytes of a mail that came from outside; null if the mail is composed from the other fields. */
  readonly raw: Uint8Array<ArrayBuffer> | null;
  /** When it arrived or was sent. */
  readonly receivedAt: string;
}

/** An attachment of a message. */
export interface AttachmentRow extends Row {
  /** The id of the message. */
  readonly messageId: string;
  /** The file name. */
  readonly filename: string;
  /** The media type, such as `text/plain`. */
  readonly contentType: string;
  /** The size of the file, before base64. */
  readonly sizeBytes: number;
  /** The bytes. */
  readonly content: Uint8Array<ArrayBuffer>;
}

/** A draft of an inbox. */
export interface DraftRow extends CreatedRow {
  /** The id of the inbox. */
  readonly inboxId: string;
  /** The recipients as typed: they need not be valid addresses yet. */
  readonly to: readonly string[];
  /** The Cc recipients as typed. */
  readonly cc: readonly string[];
  /** The Bcc recipients as typed. */
  readonly bcc: readonly string[];
  /** The subject; null if there is none yet. */
  readonly subject: string | null;
  /** The body as text; null if there is none yet. */
  readonly plainBody: string | null;
  /** The body as HTML; null if there is none. */
  readonly htmlBody: string | null;
  /** The id of the message that the draft answers; null if it starts a thread. */
  readonly replyToMessageId: string | null;
  /** When it was last changed. */
  readonly updatedAt: string;
}

/** A contact list of an inbox. */
export interface ListRow extends CreatedRow {
  /** The id of the inbox. */
  readonly inboxId: string;
  /** The name that clients see. */
  readonly name: string;
  /** A note about the list; null if there is none. */
  readonly description: string | null;
}

/** A contact of a list. */
export interface ListEntryRow extends CreatedRow {
  /** The id of the list. */
  readonly listId: string;
  /** The address of the contact, without a name. */
  readonly email: string;
  /** The name of the contact; null if there is none. */
  readonly displayName: string | null;
  /** The JSON object that its client keeps with it; null if there is none. */
  readonly metadata: Metadata | null;
}

/** A domain; `workspaceId` is null for one that every workspace of the tenant may use. */
export interface DomainRow extends CreatedRow {
  /** The name of the domain, in lower case. */
  readonly domain: string;
  /** The id of the workspace that may use it; null for the whole tenant. */
  readonly workspaceId: string | null;
  /** The status of its verification. */
  readonly status: 'pending' | 'verifying' | 'verified' | 'failed' | 'unknown';
  /** When it was first verified; null if it never was. */
  readonly verifiedAt: string | null;
  /** When it was last changed. */
  readonly updatedAt: string;
}

/** The collections of a tenant's world, by name. */
export interface Rows {
  /** The tenant itself. */
  tenants: TenantRow;
  /** Its workspaces. */
  workspaces: WorkspaceRow;
  /** Its inboxes, deleted ones too. */
  inboxes: InboxRow;
  /** The addresses of its inboxes. */
  addresses: AddressRow;
  /** Its keys, those of its workspaces and those of its inboxes. */
  apiKeys: ApiKeyRow;
  /** Its domains. */
  domains: DomainRow;
  /** Its webhooks. */
  webhooks: WebhookRow;
  /** The messages of its inboxes, deleted ones too. */
  messages: MessageRow;
  /** The files of its messages. */
  attachments: AttachmentRow;
  /** The drafts of its inboxes. */
  drafts: DraftRow;
  /** The contact lists of its inboxes. */
  lists: ListRow;
  /** The contacts of its lists. */
  listEntries: ListEntryRow;
}

/** The name of a collection. */
export type RowKind = keyof Rows;
