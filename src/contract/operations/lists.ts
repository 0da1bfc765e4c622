import { z } from 'zod';
import { bareEmail } from '../email-address-schema.ts';
import { chosenBy, withinInbox } from '../operation.ts';
import { deleteReplies, line, metadata, name, named, text, timestamp, uuid } from '../schemas.ts';

const entry = () =>
  named('ListEntry', {
    id: uuid(),
    email: z.string(),
    displayName: z.string().nullable(),
    metadata: metadata().nullable(),
    createdAt: timestamp(),
  });

const list = () =>
  named('List', {
    id: uuid(),
    name: z.string(),
    description: z.string().nullable(),
    entryCount: z.int(),
    entries: z.array(entry()),
    createdAt: timestamp(),
  });

const listed = chosenBy('lists.list.entries', () => ({
  included: list(),
  omitted: list().omit({ entries: true }).meta({ id: 'ListSummary' }),
}));

export const listOperations = {
  createList: withinInbox('POST /v1/inboxes/{id}/lists', 'Create a list of contacts', {
    origin: 'reference',
    body: () => z.object({ name: name(200), description: text(2000).nullish() }),
    reply: list,
    status: 201,
    assumes: ['lists.shape'],
  }),
  listLists: withinInbox('GET /v1/inboxes/{id}/lists', 'List the lists of an inbox', {
    reply: (readBehaviour) => z.strictObject({ lists: z.array(listed(readBehaviour)) }),
    assumes: ['lists.shape', 'lists.list.reply'],
  }),
  getList: withinInbox('GET /v1/inboxes/{id}/lists/{listId}', 'Read a list with its entries', {
    reply: list,
    assumes: ['lists.shape'],
  }),
  deleteList: withinInbox('DELETE /v1/inboxes/{id}/lists/{listId}', 'Delete a list and its entries', {
    reply: chosenBy('lists.delete.body', deleteReplies),
  }),
  createListEntry: withinInbox('POST /v1/inboxes/{id}/lists/{listId}/entries', 'Add an entry to a list', {
    origin: 'reference',
    assumes: ['sending.addresses', 'lists.shape'],
    body: () => z.object({ email: bareEmail(), displayName: line(200).nullish(), metadata: metadata().nullish() }),
    reply: entry,
    status: 201,
    errors: ['ALREADY_EXISTS'],
  }),
  listListEntries: withinInbox('GET /v1/inboxes/{id}/lists/{listId}/entries', 'List the entries of a list', {
    reply: () => z.strictObject({ entries: z.array(entry()) }),
    assumes: ['lists.shape', 'lists.list.reply'],
  }),
  getListEntry: withinInbox('GET /v1/inboxes/{id}/lists/{listId}/entries/{entryId}', 'Read an entry of a list', {
    reply: entry,
    assumes: ['lists.shape'],
  }),
  deleteListEntry: withinInbox(
    'DELETE /v1/inboxes/{id}/lists/{listId}/entries/{entryId}',
    'Delete an entry of a list',
    { reply: chosenBy('lists.entries.delete.body', deleteReplies) },
  ),
};
