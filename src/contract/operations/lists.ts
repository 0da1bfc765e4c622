import { z } from 'zod';
import { bareEmail } from '../addresses/email-address-schema.ts';
import { chooseBy, inInbox, inInboxFromReference } from '../operation.ts';
import { deleteReplies, displayName, metadata, name, nullableText, object, text, timestamp, uuid } from '../schemas.ts';

const entry = () =>
  object('ListEntry', {
    id: uuid(),
    email: z.string(),
    displayName: nullableText(),
    metadata: metadata().nullable(),
    createdAt: timestamp(),
  });

const list = () =>
  object('List', {
    id: uuid(),
    name: z.string(),
    description: z.string().nullable(),
    entryCount: z.int(),
    entries: z.array(entry()),
    createdAt: timestamp(),
  });

const inListOfLists = chooseBy('lists.list.entries', () => ({
  included: list(),
  omitted: list().omit({ entries: true }).meta({ id: 'ListSummary' }),
}));

export const listOperations = {
  createList: inInboxFromReference('POST /v1/inboxes/{id}/lists', 'Create a list of contacts', {
    body: () => z.object({ name: name(200), description: text(2000).nullish() }),
    reply: list,
    status: 201,
  }),
  listLists: inInbox('GET /v1/inboxes/{id}/lists', 'List the lists of an inbox', {
    reply: (readBehaviour) => z.strictObject({ lists: z.array(inListOfLists(readBehaviour)) }),
  }),
  getList: inInbox('GET /v1/inboxes/{id}/lists/{listId}', 'Read a list with its entries', {
    reply: list,
  }),
  deleteList: inInbox('DELETE /v1/inboxes/{id}/lists/{listId}', 'Delete a list and its entries', {
    reply: chooseBy('lists.delete.body', deleteReplies),
  }),
  createListEntry: inInboxFromReference('POST /v1/inboxes/{id}/lists/{listId}/entries', 'Add an entry to a list', {
    body: () => z.object({ email: bareEmail(), displayName: displayName(), metadata: metadata().nullish() }),
    reply: entry,
    status: 201,
    errors: ['ALREADY_EXISTS'],
  }),
  listListEntries: inInbox('GET /v1/inboxes/{id}/lists/{listId}/entries', 'List the entries of a list', {
    reply: () => z.strictObject({ entries: z.array(entry()) }),
  }),
  getListEntry: inInbox('GET /v1/inboxes/{id}/lists/{listId}/entries/{entryId}', 'Read an entry of a list', {
    reply: entry,
  }),
  deleteListEntry: inInbox('DELETE /v1/inboxes/{id}/lists/{listId}/entries/{entryId}', 'Delete an entry of a list', {
    reply: chooseBy('lists.entries.delete.body', deleteReplies),
  }),
};
