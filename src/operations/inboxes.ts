import { checkDomain } from '../access/check-domain.ts';
import { findInScope } from '../access/find-in-scope.ts';
import { isAddressTaken } from '../access/is-address-taken.ts';
import { selectInboxes } from '../access/select-scope.ts';
import { domainOf } from '../contract/emulator-domains.ts';
import { ApiError, REFUSALS } from '../contract/errors.ts';
import { newId, timestampNow } from '../environment.ts';
import { canonicalAddress } from '../store/inbox-address.ts';
import { removeInbox } from '../store/removal.ts';
import type { AddressRow } from '../store/rows.ts';
import type { World } from '../store/world.ts';
import type { Run } from './context.ts';
import { DELETED, updated } from './replies/confirmations.ts';
import { showInbox, showInboxWithoutCredentials } from './replies/show-inbox.ts';

export const listInboxes: Run<'listInboxes'> = (context, { query }) => {
  const { principal, readBehaviour } = context;
  const rows = selectInboxes(context, { workspace: query.workspace });
  const show = SHOW_INBOX[readBehaviour('inboxes.list.credentials')];
  return { body: { inboxes: rows.map((row) => show(principal.world, row, context)) } };
};

const SHOW_INBOX = { omitted: showInboxWithoutCredentials, included: showInbox };

export const getInbox: Run<'getInbox'> = (context, { params }) => {
  return { body: showInbox(context.principal.world, findInScope(context, 'inboxes', params.id), context) };
};

export const updateInbox: Run<'updateInbox'> = (context, { params, body }) => {
  const { id } = findInScope(context, 'inboxes', params.id);
  const { displayName, metadata } = body;
  context.principal.world.inboxes.update(id, {
    ...(displayName !== undefined && { displayName: displayName || null }),
    ...(metadata !== undefined && { metadata }),
  });
  return { body: updated(id) };
};

/** Soft-deletes an inbox: its mail is kept but hidden, and its keys are refused from now on. */
export const deleteInbox: Run<'deleteInbox'> = (context, { params }) => {
  const { principal, environment, readBehaviour } = context;
  const inbox = findInScope(context, 'inboxes', params.id);
  removeInbox(principal.world, inbox, timestampNow(environment));
  return { body: DELETED[readBehaviour('inboxes.delete.body')](inbox.id) };
};

export const addInboxAddress: Run<'addInboxAddress'> = (context, { params, body }) => {
  const { principal, environment, assume } = context;
  const { world } = principal;
  const inbox = findInScope(context, 'inboxes', params.id);
  checkDomain(context, inbox.workspaceId, domainOf(body.email), 'inboxes.addresses.create.domain');
  assume('inboxes.addresses.create.reply');
  if (isAddressTaken(context, body.email, inbox.id))
    throw new ApiError('ALREADY_EXISTS', `The address ${body.email} is taken.`);
  const row = world.addAddress({
    id: newId(environment),
    inboxId: inbox.id,
    address: body.email,
    isPrimary: false,
    createdAt: timestampNow(environment),
  });
  if (body.primary) makePrimary(world, row);
  return { body: { ok: true, address: row.address, isPrimary: body.primary } };
};

function makePrimary(world: World, { id, inboxId }: AddressRow): void {
  for (const address of world.addresses.by('inboxId', inboxId)) {
    world.addresses.update(address.id, { isPrimary: address.id === id });
  }
}

export const deleteInboxAddress: Run<'deleteInboxAddress'> = (context, { params }) => {
  const { principal, readBehaviour, assume } = context;
  const { world } = principal;
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
  if (row.isPrimary && canonical) {
    assume('inboxes.addresses.delete.primary');
    makePrimary(world, canonical);
  }
  return { body: ADDRESS_DELETE_BODIES[readBehaviour('inboxes.addresses.delete.body')](row.address) };
};

const ADDRESS_DELETE_BODIES = {
  'deleted-and-address': (address: string) => ({ deleted: true as const, address }),
  empty: () => ({}),
};
