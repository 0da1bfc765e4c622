import { z } from 'zod';
import { lazy } from '../../basics/lazy-schema.ts';
import { direction, timestamp } from '../../contract/schemas.ts';
import { COLUMNS, type ColumnType, type RowOf, splitType } from '../../fixture/columns.ts';

/** A tenant. The world of a tenant has exactly one row of this kind. */
export interface TenantRow extends RowOf<typeof COLUMNS.tenants> {}

/** A workspace of the tenant. */
export interface WorkspaceRow extends RowOf<typeof COLUMNS.workspaces> {}

/** An inbox. When it is deleted, only its row and its messages stay, and `deletedAt` is set. */
export interface InboxRow extends RowOf<typeof COLUMNS.inboxes> {}

/** An address of an inbox in lower case: the canonical address or a further address. */
export interface AddressRow extends RowOf<typeof COLUMNS.addresses> {}

/** A key of the tenant, workspace or inbox tier; `ownerId` is the id of its tenant, workspace or inbox. */
export interface ApiKeyRow extends RowOf<typeof COLUMNS.apiKeys> {}

/** A domain. If every workspace of the tenant may use it, `workspaceId` is null. */
export interface DomainRow extends RowOf<typeof COLUMNS.domains> {}

/** A webhook. If it gets the events of the whole tenant, `workspaceId` is null. */
export interface WebhookRow extends RowOf<typeof COLUMNS.webhooks> {}

/** A message of an inbox. When it is deleted, lists omit it, but its thread keeps it, and `deletedAt` is set. */
export interface MessageRow extends RowOf<typeof COLUMNS.messages> {}

/** An attachment of a message. */
export interface AttachmentRow extends RowOf<typeof COLUMNS.attachments> {}

/** A draft of an inbox. */
export interface DraftRow extends RowOf<typeof COLUMNS.drafts> {}

/** A contact list of an inbox. */
export interface ListRow extends RowOf<typeof COLUMNS.lists> {}

/** A contact of a list. */
export interface ListEntryRow extends RowOf<typeof COLUMNS.listEntries> {}

/** The collections of a tenant's world, by name. */
export interface Rows {
  /** The tenant itself. */
  tenants: TenantRow;
  /** The workspaces of the tenant. */
  workspaces: WorkspaceRow;
  /** The inboxes of the tenant, including deleted inboxes. */
  inboxes: InboxRow;
  /** The addresses of the inboxes. */
  addresses: AddressRow;
  /** The keys of the tenant, of its workspaces and of its inboxes. */
  apiKeys: ApiKeyRow;
  /** The domains of the tenant. */
  domains: DomainRow;
  /** The webhooks of the tenant. */
  webhooks: WebhookRow;
  /** The messages of the inboxes, including deleted messages. */
  messages: MessageRow;
  /** The files of the messages. */
  attachments: AttachmentRow;
  /** The drafts of the inboxes. */
  drafts: DraftRow;
  /** The contact lists of the inboxes. */
  lists: ListRow;
  /** The contacts of the lists. */
  listEntries: ListEntryRow;
}

/** The name of a collection. */
export type RowKind = keyof Rows;

/** Returns some columns of a row. */
export function pick<Row, Name extends keyof Row>(row: Row, names: readonly Name[]): Pick<Row, Name> {
  return Object.fromEntries(names.map((name) => [name, row[name]])) as Pick<Row, Name>;
}

/** The schemas of the types of columns that are not texts, for rows that are shown to tests. */
const shownColumns = lazy((): { readonly [Type in ColumnType]?: z.ZodType } => ({
  texts: z.array(z.string()),
  addresses: z.array(z.string()),
  flag: z.boolean(),
  count: z.int().min(0),
  time: timestamp(),
  direction: direction(),
}));

/** The schemas of some columns, by the name of the column. */
export type ShownFields<Row, Name extends keyof Row> = Pick<
  { readonly [Column in keyof Row]: z.ZodType<Row[Column]> },
  Name
>;

/** Returns the schemas of some columns, for rows that are shown to tests. */
export function shownFields<Kind extends RowKind, Name extends keyof Rows[Kind]>(kind: Kind, names: readonly Name[]) {
  const columns = COLUMNS[kind] as unknown as Readonly<Record<Name, string>>;
  const fields = names.map((column) => {
    const { name, isNullable } = splitType(columns[column]);
    const schema = shownColumns()[name] ?? z.string();
    return [column, isNullable ? schema.nullable() : schema];
  });
  return Object.fromEntries(fields) as ShownFields<Rows[Kind], Name>;
}
