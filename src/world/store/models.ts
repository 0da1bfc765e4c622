import { nullable } from '@mswjs/data/lib/nullable.js';
import { primaryKey } from '@mswjs/data/lib/primaryKey.js';
import { COLUMNS, type ColumnType, splitType } from '../../fixture/columns.ts';
import type { RowKind, Rows } from './rows.ts';

/** The types of columns that are no text, in the format of @mswjs/data. */
const TYPES: { readonly [Type in ColumnType]?: unknown } = {
  flag: Boolean,
  count: Number,
  texts: Array,
  addresses: Array,
  events: Array,
  object: Object,
  headers: Object,
  bytes: Object,
};

/** The shape of each kind of row, in the format of @mswjs/data. */
export const MODELS = Object.fromEntries(
  Object.entries(COLUMNS).map(([kind, columns]) => [kind, toModel(columns)]),
) as unknown as { readonly [Kind in RowKind]: Record<keyof Rows[Kind], never> };

function toModel(columns: Readonly<Record<string, string>>) {
  const properties = Object.entries(columns).map(([column, type]) => {
    const { name, isNullable } = splitType(type);
    const value = TYPES[name] ?? String;
    return [column, column === 'id' ? primaryKey(String) : isNullable ? nullable(value as never) : value];
  });
  return Object.fromEntries(properties);
}

/** The indexed properties, by which rows are found without a scan. */
export const INDEXED = {
  tenants: [],
  workspaces: ['slug'],
  inboxes: ['workspaceId'],
  addresses: ['inboxId'],
  apiKeys: ['ownerId'],
  domains: ['domain', 'workspaceId'],
  webhooks: ['workspaceId'],
  messages: ['inboxId', 'messageIdHeader', 'fromAddress'],
  attachments: ['messageId'],
  drafts: ['inboxId'],
  lists: ['inboxId'],
  listEntries: ['listId'],
} as const satisfies { [Kind in RowKind]: readonly (keyof Rows[Kind])[] };
