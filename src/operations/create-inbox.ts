import { checkDomain } from '../access/check-domain.ts';
import { findInReach } from '../access/find-in-reach.ts';
import { isAddressTaken } from '../access/is-address-taken.ts';
import { mintKey } from '../access/mint-key.ts';
import { mayReach } from '../access/policy.ts';
import { selectWorkspace } from '../access/select-scope.ts';
import { isBareAddress } from '../contract/email-address.ts';
import { DEFAULT_DOMAIN } from '../contract/emulator-domains.ts';
import { ApiError } from '../contract/errors.ts';
import { newHex, newId, newPassword, timestampNow } from '../environment.ts';
import type { InboxRow, WorkspaceRow } from '../store/rows.ts';
import { defaultWorkspace } from '../store/world.ts';
import type { Context, Input, Run } from './context.ts';
import { showInbox, showPlainInbox } from './replies/show-inbox.ts';

type CreateContext = Context<'createInbox'>;

/**
 * Creates an inbox with an address, a key and a password; a second call for the same address answers the inbox that
 * has it, without credentials. A name that somebody else has gets a number (reference).
 */
export const createInbox: Run<'createInbox'> = (context, { query, body }) => {
  const workspace = workspaceFor(context, body.workspaceId);
  const domain = body.domain ?? DEFAULT_DOMAIN;
  const username = body.username ?? generateUsername(context);
  const address = `${username}@${domain}`;
  if (!isBareAddress(address)) throw tooLong(context, address);
  const existing = findOwn(context, address);
  if (existing) return answerExisting(context, existing, address);
  checkDomain(context, workspace.id, domain, 'inboxes.create.domain');
  const { name, inbox } = pickName(context, username, domain, query.strict === true);
  if (inbox) return answerExisting(context, inbox, `${name}@${domain}`);
  return add(context, workspace, { username: name, domain, displayName: body.displayName || null });
};

function tooLong({ assume }: CreateContext, address: string): ApiError {
  assume('sending.addresses');
  return new ApiError('VALIDATION_ERROR', `${address} is too long for an address.`);
}

function workspaceFor(context: CreateContext, workspaceId: Input<'createInbox'>['body']['workspaceId']): WorkspaceRow {
  const { principal, assume } = context;
  const selected = selectWorkspace(context, workspaceId);
  if (selected) return selected;
  if (principal.tier === 'workspace') return findInReach(context, 'workspaces', principal.workspaceId);
  assume('inboxes.create.workspace');
  const standard = defaultWorkspace(principal.world);
  if (standard) return standard;
  throw new ApiError('CONFLICT', 'This tenant has no workspace; create one before you create an inbox.');
}

function generateUsername({ environment, assume }: CreateContext): string {
  assume('inboxes.create.generated-name');
  return `agent-${newHex(environment, 4)}`;
}

/** The inbox within reach that has an address. */
function findOwn({ principal, worlds }: CreateContext, address: string): InboxRow | undefined {
  const holder = worlds.findAddress(address);
  const inbox = holder?.world === principal.world ? principal.world.inboxes.get(holder.inboxId) : undefined;
  return inbox && mayReach(principal, { workspaceId: inbox.workspaceId, inboxId: inbox.id }) ? inbox : undefined;
}

function answerExisting(context: CreateContext, inbox: InboxRow, address: string): ReturnType<Run<'createInbox'>> {
  if (context.choose('inboxes.create.existing') === 'conflict') throw taken(address);
  return { status: 200, body: { ...showPlainInbox(context.principal.world, inbox, context), existed: true } };
}

/** A name for a new inbox, or the inbox that has it already. */
interface PickedName {
  readonly name: string;
  readonly inbox?: InboxRow | undefined;
}

/** Picks the name that was asked for, or, where somebody else has it, that name with a number. */
function pickName(context: CreateContext, username: string, domain: string, strict: boolean): PickedName {
  const { principal, choose, assume } = context;
  const isFree = (name: string) => !isAddressTaken(context, `${name}@${domain}`);
  if (isFree(username)) return { name: username };
  assume('inboxes.create.taken');
  // Whoever has it: what is named must not tell a workspace key whether another workspace of its tenant does.
  if (principal.tier === 'workspace') assume('inboxes.create.out-of-reach');
  if (strict) throw taken(`${username}@${domain}`);
  const numbered = Array.from({ length: 99 }, (_, index) => `${username}${index + 1}`);
  const own = numbered
    .map((name) => ({ name, inbox: findOwn(context, `${name}@${domain}`) }))
    .find(({ inbox }) => inbox !== undefined);
  if (own && choose('inboxes.create.again') === 'existing') return own;
  const free = numbered.find((name) => isFree(name) && isBareAddress(`${name}@${domain}`));
  if (free !== undefined) return { name: free };
  throw taken(`${username}@${domain}`);
}

function taken(address: string): ApiError {
  return new ApiError('USERNAME_TAKEN', `The address ${address} is taken.`);
}

function add(
  context: CreateContext,
  workspace: WorkspaceRow,
  { username, domain, displayName }: Pick<InboxRow, 'username' | 'domain' | 'displayName'>,
): ReturnType<Run<'createInbox'>> {
  const { principal, environment } = context;
  const { world } = principal;
  const createdAt = timestampNow(environment);
  const id = newId(environment);
  const key = mintKey(environment, { tier: 'inbox', ownerId: id });
  const address = { id: newId(environment), inboxId: id, address: `${username}@${domain}`, isPrimary: true, createdAt };
  const inbox = world.inboxes.insert({
    id,
    workspaceId: workspace.id,
    username,
    domain,
    displayName,
    metadata: null,
    imapPassword: newPassword(environment),
    isPaused: false,
    deletedAt: null,
    createdAt,
  });
  world.addAddress(address);
  world.addKey(key);
  return { body: { ...showInbox(world, inbox, context), apiKey: key.key } };
}
