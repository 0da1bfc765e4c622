import { ApiError } from '../../contract/errors.ts';
import type { ParamsOf } from '../../contract/operations.ts';
import { newId, timestampNow } from '../../world/environment.ts';
import { removeList } from '../../world/store/removal.ts';
import type { ListEntryRow, ListRow } from '../../world/store/rows.ts';
import type { World } from '../../world/store/world.ts';
import type { LookupContext } from '../access/find-in-scope.ts';
import { findInInbox, findInScope, outOfScope, scopeOfInbox, withId } from '../access/find-in-scope.ts';
import type { Run } from './context.ts';
import { DELETE_BODY } from './replies.ts';

export const createList: Run<'createList'> = (context, { params, body }) => {
  const { world } = context;
  const inbox = findInScope(context, 'inboxes', params.id);
  const [id, createdAt] = [newId(world.environment), timestampNow(world.environment)];
  const { name, description = null } = body;
  const row = world.lists.insert({ id, inboxId: inbox.id, name, description, createdAt });
  return { body: showList(world, row) };
};

export const listLists: Run<'listLists'> = (context, { params }) => {
  const { world, readBehaviour } = context;
  const inbox = findInScope(context, 'inboxes', params.id);
  const toItem = TO_ITEM[readBehaviour('lists.list.entries')];
  const lists = world.lists.by('inboxId', inbox.id).map((row) => toItem(showList(world, row)));
  return { body: { lists } };
};

type ShownList = ReturnType<typeof showList>;

const TO_ITEM = { included: (list: ShownList) => list, omitted: ({ entries: _, ...list }: ShownList) => list };

export const getList: Run<'getList'> = (context, { params }) => {
  const { row } = findInInbox(context, 'lists', params.id, params.listId);
  return { body: showList(context.world, row) };
};

export const deleteList: Run<'deleteList'> = (context, { params }) => {
  const { row } = findInInbox(context, 'lists', params.id, params.listId);
  removeList(context.world, row.id);
  return { body: DELETE_BODY[context.readBehaviour('lists.delete.body')](row.id) };
};

export const createListEntry: Run<'createListEntry'> = (context, { params, body }) => {
  const { world } = context;
  const { listEntries } = world;
  const { row: list } = findInInbox(context, 'lists', params.id, params.listId);
  if (listEntries.by('listId', list.id).some(({ email }) => email === body.email)) {
    throw new ApiError('ALREADY_EXISTS', `${body.email} is already in this list.`);
  }
  const [id, createdAt] = [newId(world.environment), timestampNow(world.environment)];
  const { email, displayName = null, metadata = null } = body;
  const row = listEntries.insert({ id, listId: list.id, email, displayName, metadata, createdAt });
  return { body: showEntry(row) };
};

export const listListEntries: Run<'listListEntries'> = (context, { params }) => {
  const { row: list } = findInInbox(context, 'lists', params.id, params.listId);
  const entries = context.world.listEntries.by('listId', list.id);
  return { body: { entries: entries.map(showEntry) } };
};

export const getListEntry: Run<'getListEntry'> = (context, { params }) => ({
  body: showEntry(findEntry(context, params)),
});

export const deleteListEntry: Run<'deleteListEntry'> = (context, { params }) => {
  const { id } = findEntry(context, params);
  context.world.listEntries.remove(id);
  return { body: DELETE_BODY[context.readBehaviour('lists.entries.delete.body')](id) };
};

function findEntry(context: LookupContext, { id, listId, entryId }: ParamsOf<'getListEntry'>): ListEntryRow {
  const { row: list } = findInInbox(context, 'lists', id, listId);
  const entry = context.world.listEntries.get(entryId);
  if (entry?.listId === list.id) return entry;
  throw outOfScope(context, withId('entry'), (world) => {
    const foundList = world.lists.get(world.listEntries.get(entryId)?.listId ?? '');
    return scopeOfInbox(world, foundList?.inboxId);
  });
}

function showList(world: World, { id, name, description, createdAt }: ListRow) {
  const entries = world.listEntries.by('listId', id).map(showEntry);
  return { id, name, description, entryCount: entries.length, entries, createdAt };
}

function showEntry({ id, email, displayName, metadata, createdAt }: ListEntryRow) {
  return { id, email, displayName, metadata, createdAt };
}
