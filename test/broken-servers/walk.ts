import { OPERATION_ROWS, type OperationRow } from '../../src/contract/operations.ts';
import { Choice } from '../support/choice.ts';

/** Sends a request to a mailbox. */
export type Send = (request: Request) => Promise<Response>;

/** How many requests one walk sends. */
const STEPS = 220;

// biome-ignore lint/suspicious/noExplicitAny: a body of any operation.
type Body = any;

/** What a walk has found in replies, by the field in which it was. */
interface Found {
  readonly keys: string[];
  readonly values: Map<string, string[]>;
  readonly addresses: string[];
}

/**
 * A client that knows only the table of operations: it calls operations by chance, with ids and keys that it has found in
 * replies, and returns what it has seen. The same seed gives the same requests, as long as the replies are the same. It
 * has nothing of `verify`, so that what it sees says which broken servers a client can see at all.
 */
export async function walk(send: Send, keys: readonly string[], seed: number): Promise<string[]> {
  const choice = new Choice(seed);
  const below = (count: number) => choice.number(Math.max(1, count));
  const pick = <T>(items: readonly T[]): T | undefined => items[below(items.length)];
  const found: Found = { keys: [...keys], values: new Map(), addresses: ['dana@customer.example'] };
  const names = new Map<string, string>();
  const seen: string[] = [];
  for (let step = 0; step < STEPS; step += 1) {
    // What creates something comes more often, so that there is something to read.
    const row = pick(OPERATION_ROWS.filter(({ method }) => method !== 'DELETE' || below(3) === 0));
    if (!row) continue;
    const key = (below(4) === 0 ? pick(found.keys) : keys[0]) ?? '';
    const path = fill(row, found, pick);
    const body = row.method === 'POST' || row.method === 'PATCH' ? bodyOf(row, step, found, pick, below) : undefined;
    const request = new Request(`http://mailbox.test${path}`, {
      method: row.method,
      headers: { 'X-API-Key': key, ...(body !== undefined && { 'Content-Type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const reply = await send(request).catch((error: Error) => new Response(error.name, { status: 599 }));
    const text = await reply.text();
    learn(text, found);
    const type = reply.headers.get('content-type');
    seen.push(`${row.id} ${reply.status} ${type} ${withoutOwnValues(text, names)}`);
  }
  return seen;
}

function fill(row: OperationRow, { values }: Found, pick: <T>(items: readonly T[]) => T | undefined): string {
  const collection = row.path.split('/')[2] ?? '';
  const path = row.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const known = values.get(name === 'id' ? collection : name) ?? [];
    return encodeURIComponent(pick(known) ?? '00000000-0000-4000-8000-000000000000');
  });
  if (row.method !== 'GET') return path;
  const queries = ['', '', '', '?limit=1', '?limit=2&offset=1', '?limit=0', '?folder=starred', '?direction=inbound'];
  return path + (pick(queries) ?? '');
}

function bodyOf(
  { id, path }: OperationRow,
  step: number,
  { addresses, values }: Found,
  pick: <T>(items: readonly T[]) => T | undefined,
  below: (count: number) => number,
): Body {
  const name = `walk-${step}`;
  const flag = () => below(2) === 0;
  const maybe = (fields: Body) => Object.fromEntries(Object.entries(fields).filter(() => below(3) > 0));
  const to = pick(addresses);
  const mail = { to, cc: pick(addresses), subject: name, plainBody: `text ${name}`, htmlBody: `<p>${name}</p>` };
  const workspaceId = pick(values.get('workspaces') ?? []);
  if (/Webhook$/.test(id)) {
    const url = pick(['https://hooks.example/a', 'https://hooks.example/b', 'no url']);
    return maybe({ url, events: [pick(['message.received', 'message.sent', 'other'])], isActive: flag(), workspaceId });
  }
  if (id === 'createInbox') return maybe({ username: name, displayName: name, workspaceId });
  if (id === 'updateInbox') return maybe({ displayName: pick([name, null, '']), metadata: { step } });
  if (id === 'addInboxAddress') return maybe({ email: `${name}@mailbox.test`, primary: flag() });
  if (id === 'updateMessage') return maybe({ isRead: flag(), isStarred: flag(), isArchived: flag() });
  if (id === 'createListEntry') return maybe({ email: `${name}@x.example`, displayName: name, metadata: { step } });
  if (id === 'createDomain') return maybe({ domain: `${name}.example`, workspaceId });
  if (id === 'verifyEmail') return { email: pick([...addresses, 'none']) };
  if (/send|reply|forward|drafts/.test(path)) return { ...maybe(mail), to, subject: name, verified: flag() };
  return maybe({ name, description: name, slug: name });
}

/** Remembers the ids, keys and addresses of a reply. */
function learn(text: string, { keys, values, addresses }: Found): void {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return;
  }
  const add = (name: string, value: string) => values.set(name, [...new Set([...(values.get(name) ?? []), value])]);
  const visit = (value: unknown, collection: string): void => {
    if (Array.isArray(value)) for (const each of value) visit(each, collection);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
    for (const [name, each] of Object.entries(value)) {
      if (typeof each === 'string' && /^(?:tk|wk|ak)_/.test(each) && name !== 'prefix') keys.push(each);
      if (typeof each === 'string' && name === 'email' && each.endsWith('@mailbox.test')) addresses.push(each);
      if (typeof each === 'string' && /^(?:threadId|domain|address)$/.test(name)) add(name, each);
      if (name === 'id' && typeof each === 'string') {
        const fields = value as Body;
        if ('plainBody' in fields && 'bcc' in fields && 'updatedAt' in fields) add('draftId', each);
        else if ('isRead' in fields) add('messageId', each);
        else if ('entryCount' in fields) add('listId', each);
        else if ('slug' in fields) add('workspaces', each);
        else if ('username' in fields) add('inboxes', each);
        else if ('events' in fields) add('webhooks', each);
        else if ('prefix' in fields) add('key_id', each);
        else if ('email' in fields) add('entryId', each);
      }
      visit(each, name);
    }
  };
  visit(body, '');
}

/**
 * Replaces what each service chooses for itself by the number of its first appearance. The words of an error and the
 * values of DNS records are a service's own too: no document has them.
 */
function withoutOwnValues(text: string, names: Map<string, string>): string {
  const own =
    /"error":"(?:[^"\\]|\\.)*"|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|(?:tk|wk|ak)_[\w-]{10,}|whsec_[\w+/=]+|\d{4}-\d\d-\d\dT[\d:.]+Z|<[^<>@\s]+@[^<>\s]+>|"(?:imapPassword|password|prefix|value)":"[^"]*"|-[0-9a-f]{8}\b/gi;
  return text.replaceAll(own, (value) => {
    if (/^\d{4}-/.test(value)) return 'a time';
    if (value.startsWith('"error"')) return 'words';
    const known = names.get(value) ?? `#${names.size}`;
    names.set(value, known);
    return known;
  });
}
