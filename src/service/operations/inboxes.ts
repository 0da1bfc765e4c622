import { DEFAULT_DOMAIN, domainOf } from '../../contract/addresses/email-address.ts';
import type { BehaviourReader } from '../../contract/behaviours.ts';
import { ApiError, REFUSALS } from '../../contract/errors.ts';
import { newId, timestampNow } from '../../world/environment.ts';
import { removeInbox } from '../../world/store/removal.ts';
import type { AddressRow, InboxRow } from '../../world/store/rows.ts';
import { canonicalAddress, primaryAddress, type World } from '../../world/store/world.ts';
import { findInScope, type LookupContext, selectInboxes } from '../access/find-in-scope.ts';
import type { Context, Run } from './context.ts';
import {
  type CreateContext,
  checkDomain,
  findInboxByAddress,
  insertInbox,
  isAddressTaken,
  pickName,
  usernameTaken,
  wantedInbox,
} from './insert-inbox.ts';
import { DELETE_BODY, updatedBody } from './replies.ts';

export const listInboxes: Run<'listInboxes'> = (context, { query }) => {
  const rows = selectInboxes(context, { workspace: query.workspace });
  const isWithoutCredentials = context.readBehaviour('inboxes.list.credentials') === 'omitted';
  const show = isWithoutCredentials ? showInboxWithoutCredentials : showInbox;
  return { body: { inboxes: rows.map((row) => show(context, row)) } };
};

export const getInbox: Run<'getInbox'> = (context, { params }) => {
  return { body: showInbox(context, findInScope(context, 'inboxes', params.id)) };
};

export const updateInbox: Run<'updateInbox'> = (context, { params, body }) => {
  const inbox = findInScope(context, 'inboxes', params.id);
  const { displayName = inbox.displayName, metadata = inbox.metadata } = body;
  context.world.inboxes.update(inbox.id, { displayName, metadata: changeMetadata(context, inbox.metadata, metadata) });
  return { body: updatedBody(inbox.id) };
};

/** Returns the metadata of an inbox after an update. `inboxes.update.metadata` decides what becomes of other fields. */
function changeMetadata(
  { readBehaviour }: Context<'updateInbox'>,
  before: InboxRow['metadata'],
  sent: InboxRow['metadata'],
): InboxRow['metadata'] {
  if (before === null || sent === null) return sent;
  const losesFields = Object.keys(before).some((name) => !Object.hasOwn(sent, name));
  return losesFields && readBehaviour('inboxes.update.metadata') === 'merged' ? { ...before, ...sent } : sent;
}

/** Soft-deletes an inbox: its mail is kept but hidden, and its keys are refused from now on. */
export const deleteInbox: Run<'deleteInbox'> = (context, { params }) => {
  const { world, readBehaviour } = context;
  const inbox = findInScope(context, 'inboxes', params.id);
  removeInbox(world, inbox, timestampNow(world.environment));
  return { body: DELETE_BODY[readBehaviour('inboxes.delete.body')](inbox.id) };
};

export const addInboxAddress: Run<'addInboxAddress'> = (context, { params, body }) => {
  const { world } = context;
  const { id: inboxId, workspaceId } = findInScope(context, 'inboxes', params.id);
  checkDomain(context, workspaceId, domainOf(body.email), 'inboxes.addresses.create.domain');
  if (isAddressTaken(context, body.email, inboxId))
    throw new ApiError('ALREADY_EXISTS', `The address ${body.email} is taken.`);
  const [id, createdAt] = [newId(world.environment), timestampNow(world.environment)];
  const row = world.addAddress({ id, inboxId, address: body.email, isPrimary: false, createdAt });
  if (body.primary) makePrimary(world, row);
  return { body: { ok: true, address: row.address, isPrimary: body.primary } };
};

function makePrimary(world: World, { id, inboxId }: AddressRow): void {
  for (const address of world.addresses.by('inboxId', inboxId)) {
    world.addresses.update(address.id, { isPrimary: address.id === id });
  }
}

export const deleteInboxAddress: Run<'deleteInboxAddress'> = (context, { params }) => {
  const { world, readBehaviour } = context;
  const inbox = findInScope(context, 'inboxes', params.id);
  const addresses = world.addresses.by('inboxId', inbox.id);
  const row = addresses.find(({ address }) => address === params.address);
  if (!row) throw new ApiError('NOT_FOUND', 'This inbox has no such address.');
  const canonical = addresses.find(({ address }) => address === canonicalAddress(inbox));
  if (row === canonical) {
    const code = REFUSALS[readBehaviour('inboxes.addresses.delete.canonical')];
    throw new ApiError(code, 'The canonical address of an inbox cannot be removed.');
  }
  world.removeAddress(row.id);
  if (row.isPrimary && canonical) makePrimary(world, canonical);
  const isEmpty = readBehaviour('inboxes.addresses.delete.body') === 'empty';
  return { body: isEmpty ? {} : { deleted: true, address: row.address } };
};

/**
 * Creates an inbox with an address, a key and a password. If an inbox in the caller's scope already has the address,
 * this inbox is returned without credentials. If an inbox out of scope has it, a number is appended to the user name
 * (reference; see src/contract/README.md, "The sources").
 */
export const createInbox: Run<'createInbox'> = (context, { query, body }) => {
  const { workspace, domain, username, address } = wantedInbox(context, body);
  const existing = findInboxByAddress(context, address);
  if (existing) return returnExisting(context, existing, address);
  checkDomain(context, workspace.id, domain, 'inboxes.create.domain');
  const { name, inbox } = pickName(context, username, domain, query.strict === true);
  if (inbox) return returnExisting(context, inbox, `${name}@${domain}`);
  const created = insertInbox(context, workspace, { username: name, domain, displayName: body.displayName ?? null });
  return { body: { ...showInbox(context, created.inbox), apiKey: created.key } };
};

function returnExisting(context: CreateContext, inbox: InboxRow, address: string): ReturnType<Run<'createInbox'>> {
  if (context.readBehaviour('inboxes.create.existing') === 'conflict') throw usernameTaken(address);
  return { status: 200, body: { ...showInboxWithoutCredentials(context, inbox), existed: true } };
}

/** Returns an inbox as clients see it, without passwords. */
function showInboxWithoutCredentials({ world, readBehaviour }: LookupContext, inbox: InboxRow) {
  const { id, username, domain, displayName, workspaceId, metadata, createdAt } = inbox;
  const addresses = world.addresses.by('inboxId', id).map(({ address, isPrimary }) => ({ address, isPrimary }));
  const showsDisplayName = displayName !== null || readBehaviour('inboxes.display-name.unset') === 'null';
  return {
    id,
    email: primaryAddress(world, inbox),
    canonicalEmail: canonicalAddress(inbox),
    username,
    domain,
    ...(showsDisplayName && { displayName }),
    workspaceId,
    addresses,
    ...(readBehaviour('inboxes.shape') === 'with-metadata' && { metadata }),
    createdAt,
  };
}

/** Returns an inbox as clients see it, with its IMAP and SMTP credentials. */
function showInbox(context: LookupContext & BehaviourReader, inbox: InboxRow) {
  const { mailServers } = context.worlds.mailbox;
  // If no mail server listens, both values of the behaviour give the same reply.
  const isListening = mailServers.imap !== undefined || mailServers.smtp !== undefined;
  const { imap, smtp } =
    isListening && context.readBehaviour('inboxes.mail-servers') === 'listening' ? mailServers : {};
  const { imapPassword } = inbox;
  const login = { username: canonicalAddress(inbox), password: imapPassword };
  const [imapHost, smtpHost] = [imap?.host ?? `imap.${DEFAULT_DOMAIN}`, smtp?.host ?? `smtp.${DEFAULT_DOMAIN}`];
  return {
    ...showInboxWithoutCredentials(context, inbox),
    imapPassword,
    imap: { host: imapHost, port: imap?.port ?? 993, tls: imap?.hasTls ?? true, ...login },
    smtp: { host: smtpHost, port: smtp?.port ?? 587, starttls: smtp?.hasTls ?? true, ...login },
  };
}
