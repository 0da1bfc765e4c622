import { z } from 'zod';
import { bareEmail } from '../email-address-schema.ts';
import { defineOperation, defineReplies, withinInbox, withinInboxByReference } from '../operation.ts';
import { deleteReplies, idInRequest, idParams, line, metadata, name, text, timestamp, uuid } from '../schemas.ts';

const listParams = () => z.object({ id: idInRequest(), listId: idInRequest() });
const entryParams = () => listParams().extend({ entryId: idInRequest() });

export const listOperations = {
  createList: defineOperation('POST /v1/inboxes/{id}/lists', 'Create a list of contacts', {
    ...withinInboxByReference,
    params: idParams,
    body: () => z.object({ name: name(200), description: text(2000).nullish() }),
    status: 201,
    assumes: ['lists.shape'],
  }),
  listLists: defineOperation('GET /v1/inboxes/{id}/lists', 'List the lists of an inbox', {
    ...withinInbox,
    params: idParams,
    assumes: ['lists.shape', 'lists.list.reply'],
  }),
  getList: defineOperation('GET /v1/inboxes/{id}/lists/{listId}', 'Read a list with its entries', {
    ...withinInbox,
    params: listParams,
    assumes: ['lists.shape'],
  }),
  deleteList: defineOperation('DELETE /v1/inboxes/{id}/lists/{listId}', 'Delete a list and its entries', {
    ...withinInbox,
    params: listParams,
  }),
  createListEntry: defineOperation('POST /v1/inboxes/{id}/lists/{listId}/entries', 'Add an entry to a list', {
    ...withinInboxByReference,
    params: listParams,
    assumes: ['sending.addresses', 'lists.shape'],
    body: () => z.object({ email: bareEmail(), displayName: line(200).nullish(), metadata: metadata().nullish() }),
    status: 201,
    errors: ['ALREADY_EXISTS'],
  }),
  listListEntries: defineOperation('GET /v1/inboxes/{id}/lists/{listId}/entries', 'List the entries of a list', {
    ...withinInbox,
    params: listParams,
    assumes: ['lists.shape', 'lists.list.reply'],
  }),
  getListEntry: defineOperation('GET /v1/inboxes/{id}/lists/{listId}/entries/{entryId}', 'Read an entry of a list', {
    ...withinInbox,
    params: entryParams,
    assumes: ['lists.shape'],
  }),
  deleteListEntry: defineOperation(
    'DELETE /v1/inboxes/{id}/lists/{listId}/entries/{entryId}',
    'Delete an entry of a list',
    { ...withinInbox, params: entryParams },
  ),
};

const entry = () =>
  z
    .strictObject({
      id: uuid(),
      email: z.string(),
      displayName: z.string().nullable(),
      metadata: metadata().nullable(),
      createdAt: timestamp(),
    })
    .meta({ id: 'ListEntry' });

const list = () =>
  z
    .strictObject({
      id: uuid(),
      name: z.string(),
      description: z.string().nullable(),
      entryCount: z.int(),
      entries: z.array(entry()),
      createdAt: timestamp(),
    })
    .meta({ id: 'List' });

const listed = () => ({ included: list(), omitted: list().omit({ entries: true }).meta({ id: 'ListSummary' }) });

/** The bodies of the successful replies of these operations. */
export const listReplies = defineReplies({
  createList: list,
  listLists: (readBehaviour) => z.strictObject({ lists: z.array(listed()[readBehaviour('lists.list.entries')]) }),
  getList: list,
  deleteList: (readBehaviour) => deleteReplies()[readBehaviour('lists.delete.body')],
  createListEntry: entry,
  listListEntries: () => z.strictObject({ entries: z.array(entry()) }),
  getListEntry: entry,
  deleteListEntry: (readBehaviour) => deleteReplies()[readBehaviour('lists.entries.delete.body')],
});
