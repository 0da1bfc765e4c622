import { fromBase64 } from '../../../basics/base64.ts';
import { showSize } from '../../../basics/size.ts';
import { compareTexts } from '../../../basics/text.ts';
import { normalizeAddress, toAddressKey } from '../../../contract/addresses/email-address.ts';
import { MailLimitError } from '../../../contract/mail-limits.ts';
import { deriveAddressId } from '../../../fixture/defaults.ts';
import type { Fixture, FixtureTenant } from '../../../fixture/parse-fixture.ts';
import type { Collections } from '../database.ts';
import type { RowKind, Rows } from '../rows.ts';
import { canonicalAddress, type MailboxSnapshot, type World } from '../world.ts';
import type { Worlds } from '../worlds.ts';

/** The rows of each frozen fixture that was seeded before. Mailboxes can share these rows, because they are frozen. */
const SEEDED = new WeakMap<Fixture, MailboxSnapshot>();

/** Fills empty worlds like `seed`. @throws {MailLimitError} if the mail of the fixture is larger than the limit. */
export function seedWithinLimit(worlds: Worlds, fixture: Fixture): void {
  seed(worlds, fixture);
  const [used, limit] = [worlds.countMailBytes(), worlds.maxMailBytes];
  if (used <= limit) return;
  throw new MailLimitError(
    `The fixture has ${showSize(used)} of mail, and ${showSize(limit)} may be stored; ${worlds.limitAdvice}.`,
  );
}

/** Fills empty worlds with a validated fixture. Uses the rows of an earlier call with this fixture, if any. */
export function seed(worlds: Worlds, fixture: Fixture): void {
  const seeded = SEEDED.get(fixture);
  if (seeded) {
    worlds.restore(seeded);
    return;
  }
  worlds.addOperatorKey(fixture.operator.key);
  for (const tenant of Object.values(fixture.tenants)) {
    if (tenant.rows) seedRows(worlds, tenant, tenant.rows);
    else seedTenant(worlds, tenant);
  }
  if (Object.isFrozen(fixture)) SEEDED.set(fixture, worlds.snapshot());
}

type Workspace = FixtureTenant['workspaces'][string];
type Inbox = Workspace['inboxes'][string];
type Message = Inbox['messages'][number];

/** Inserts the rows of an exported tenant as they are. */
function seedRows(worlds: Worlds, { id, name, createdAt }: FixtureTenant, rows: NonNullable<FixtureTenant['rows']>) {
  const { addresses, apiKeys, ...others } = rows;
  const world = worlds.add({ id, name, createdAt });
  for (const row of apiKeys) world.addKey(row);
  for (const row of addresses) world.addAddress(row);
  for (const kind of Object.keys(others) as (keyof typeof others)[]) insertAll(world, kind, others[kind]);
}

function insertAll<Kind extends RowKind>(collections: Collections, kind: Kind, rows: readonly Rows[Kind][]): void {
  for (const row of rows) collections[kind].insert(row);
}

function seedTenant(worlds: Worlds, { id, name, createdAt, key, workspaces, domains, webhooks }: FixtureTenant): void {
  const world = worlds.add({ id, name, createdAt });
  const workspaceIdOf = (handle: string | null) => (handle === null ? null : (workspaces[handle]?.id ?? null));
  world.addKey({ ...key, tier: 'tenant', ownerId: id });
  for (const { key, inboxes, ...workspace } of Object.values(workspaces)) {
    world.workspaces.insert(workspace);
    world.addKey({ ...key, tier: 'workspace', ownerId: workspace.id });
    for (const inbox of Object.values(inboxes)) seedInbox(world, workspace.id, inbox);
  }
  const messages = Object.values(workspaces)
    .flatMap(({ inboxes }) => Object.values(inboxes))
    .flatMap(({ id, messages }) => messages.map((message) => ({ inboxId: id, message })));
  messages.sort((one, other) => compareTexts(one.message.receivedAt, other.message.receivedAt));
  for (const { inboxId, message } of messages) seedMessage(world, inboxId, message);
  for (const [domain, { workspace, ...rest }] of Object.entries(domains)) {
    world.domains.insert({ ...rest, domain, workspaceId: workspaceIdOf(workspace) });
  }
  for (const { workspace, ...webhook } of Object.values(webhooks)) {
    world.webhooks.insert({ ...webhook, workspaceId: workspaceIdOf(workspace) });
  }
}

function seedInbox(world: World, workspaceId: string, inbox: Inbox): void {
  const { key, addresses, messages: _, drafts, lists, ...row } = inbox;
  world.inboxes.insert({ ...row, workspaceId, deletedAt: null });
  world.addKey({ ...key, tier: 'inbox', ownerId: row.id });
  world.addAddress({
    id: deriveAddressId(row.id),
    inboxId: row.id,
    address: canonicalAddress(inbox),
    isPrimary: !addresses.some(({ isPrimary }) => isPrimary),
    createdAt: row.createdAt,
  });
  for (const address of addresses) world.addAddress({ ...address, inboxId: row.id });
  for (const draft of drafts) world.drafts.insert({ ...draft, inboxId: row.id, raw: null });
  for (const { entries, ...list } of Object.values(lists)) {
    world.lists.insert({ ...list, inboxId: row.id });
    for (const entry of entries) world.listEntries.insert({ ...entry, listId: list.id });
  }
}

function seedMessage(world: World, inboxId: string, message: Message): void {
  const raw = message.raw === null ? null : fromBase64(message.raw);
  const fromAddress = toAddressKey(message.from);
  world.messages.insert({
    ...message,
    from: normalizeAddress(message.from),
    to: message.to.map(normalizeAddress),
    cc: message.cc.map(normalizeAddress),
    replyTo: message.replyTo === null ? null : normalizeAddress(message.replyTo),
    raw,
    inboxId,
    fromAddress,
    headers: null,
  });
  for (const { id, filename, contentType, content } of message.attachments) {
    const bytes = fromBase64(content);
    const sizeBytes = bytes.byteLength;
    world.attachments.insert({ id, messageId: message.id, filename, contentType, sizeBytes, content: bytes });
  }
}
