import { isObject } from '../../../basics/objects.ts';
import { plural } from '../../../basics/text.ts';

/** The words for one item of a kind. A kind that is missing here is shown by its own name. */
const NOUNS: Readonly<Record<string, string>> = {
  tenants: 'tenant',
  workspaces: 'workspace',
  inboxes: 'inbox',
  addresses: 'address',
  apiKeys: 'key',
  messages: 'mail',
  attachments: 'file',
  drafts: 'draft',
  webhooks: 'webhook',
  domains: 'domain',
  listEntries: 'entry of a list',
  lists: 'list',
  faults: 'fault',
  correspondents: 'correspondent',
};

/** The words for several items of a kind, if its name is not one. */
const SEVERAL: Readonly<Record<string, string>> = {
  apiKeys: 'keys',
  messages: 'mails',
  attachments: 'files',
  listEntries: 'entries of lists',
};

/** Says how many items of a kind there are, such as `2 mails`. */
export function countItems(kind: string, count: number): string {
  return plural(count, NOUNS[kind] ?? kind, SEVERAL[kind] ?? kind);
}

/** The fields that name an item, the first that an item has. */
const NAMES = ['subject', 'address', 'email', 'domain', 'url', 'name', 'filename', 'username', 'on'] as const;

const MAX_VALUE_LENGTH = 80;

/** Writes a value of a field as a person reads it. */
export function showValue(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'nothing';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const short = text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH)}…` : text;
  return typeof value === 'string' && !/^\d{4}-\d\d-\d\dT/.test(value) ? `“${short}”` : short;
}

/** Names an item of a state, such as `mail “Order 1042”`. `known` is a name of the item from elsewhere. */
export function nameItem(kind: string, id: string, item: unknown, known?: string): string {
  const fields: Readonly<Record<string, unknown>> = isObject(item) ? item : {};
  const field = NAMES.map((name) => fields[name]).find((value) => typeof value === 'string' && value !== '');
  return `${NOUNS[kind] ?? kind} ${field === undefined ? (known ?? id) : showValue(field)}`;
}

/** Says which fields of an item have another value, each in a sentence such as `displayName: “A” → “B”`. */
export function describeChanges(fields: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(fields).map(([name, change]) => {
    const { from, to } = change as { readonly from: unknown; readonly to: unknown };
    return `${name}: ${showValue(from)} → ${showValue(to)}`;
  });
}
