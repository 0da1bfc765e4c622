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

export interface InboxRow {
  readonly id: string;
  readonly workspaceId: string;
  readonly username: string;
  readonly domain: string;
  readonly displayName: string | null;
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

/** A webhook; `workspaceId` is null for one that hears the whole tenant. */
export interface WebhookRow {
  readonly id: string;
  readonly workspaceId: string | null;
  readonly url: string;
  readonly events: readonly EventKind[];
  readonly secret: string;
  readonly isActive: boolean;
  readonly createdAt: string;
}

export interface MessageRow {
  readonly id: string;
  readonly inboxId: string;
  readonly threadId: string;
  readonly direction: 'inbound' | 'outbound';
  readonly from: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly plainBody: string;
  readonly htmlBody: string | null;
  readonly isRead: boolean;
  readonly messageIdHeader: string;
  readonly inReplyTo: string | null;
  readonly receivedAt: string;
}

/** The collections of a tenant's world, by name. */
export interface Rows {
  tenants: TenantRow;
  workspaces: WorkspaceRow;
  inboxes: InboxRow;
  apiKeys: ApiKeyRow;
  webhooks: WebhookRow;
  messages: MessageRow;
}

/** The name of a collection. */
export type RowKind = keyof Rows;
