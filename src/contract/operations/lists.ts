import { z } from 'zod';
import { bareEmail } from '../email-address-schema.ts';
import { defineOperation } from '../operation.ts';
import { DELETE_REPLIES } from '../replies.ts';
import { idInRequest, idParams, line, metadata, name, text, timestamp, uuid } from '../schemas.ts';
import { withinInbox } from './within-inbox.ts';

const listParams = z.object({ id: idInRequest, listId: idInRequest });
const entryParams = listParams.extend({ entryId: idInRequest });

const entry = z.strictObject({
  id: uuid,
  email: z.string(),
  displayName: z.string().nullable(),
  metadata: metadata.nullable(),
  createdAt: timestamp,
});

const list = z.strictObject({
  id: uuid,
  name: z.string(),
  description: z.string().nullable(),
  entryCount: z.int(),
  entries: z.array(entry),
  createdAt: timestamp,
});

const LISTED = { included: list, omitted: list.omit({ entries: true }) };

export const listOperations = {
  createList: defineOperation({
    ...withinInbox,
    method: 'POST',
    path: '/v1/inboxes/{id}/lists',
    summary: 'Create a list of contacts',
    origin: 'reference',
    params: idParams,
    body: () => z.object({ name: name(200), description: text(2000).nullish() }),
    status: 201,
    assumes: ['lists.shape'],
    reply: () => list,
  }),
  listLists: defineOperation({
    ...withinInbox,
    method: 'GET',
    path: '/v1/inboxes/{id}/lists',
    summary: 'List the lists of an inbox',
    origin: 'assumed',
    params: idParams,
    status: 200,
    assumes: ['lists.shape', 'lists.list.reply'],
    reply: (readBehaviour) => z.strictObject({ lists: z.array(LISTED[readBehaviour('lists.list.entries')]) }),
  }),
  getList: defineOperation({
    ...withinInbox,
    method: 'GET',
    path: '/v1/inboxes/{id}/lists/{listId}',
    summary: 'Read a list with its entries',
    origin: 'assumed',
    params: listParams,
    status: 200,
    assumes: ['lists.shape'],
    reply: () => list,
  }),
  deleteList: defineOperation({
    ...withinInbox,
    method: 'DELETE',
    path: '/v1/inboxes/{id}/lists/{listId}',
    summary: 'Delete a list and its entries',
    origin: 'assumed',
    params: listParams,
    status: 200,
    reply: (readBehaviour) => DELETE_REPLIES[readBehaviour('lists.delete.body')],
  }),
  createListEntry: defineOperation({
    ...withinInbox,
    method: 'POST',
    path: '/v1/inboxes/{id}/lists/{listId}/entries',
    summary: 'Add an entry to a list',
    origin: 'reference',
    params: listParams,
    assumes: ['sending.addresses', 'lists.shape'],
    body: () => z.object({ email: bareEmail, displayName: line(200).nullish(), metadata: metadata.nullish() }),
    status: 201,
    reply: () => entry,
    errors: ['ALREADY_EXISTS'],
  }),
  listListEntries: defineOperation({
    ...withinInbox,
    method: 'GET',
    path: '/v1/inboxes/{id}/lists/{listId}/entries',
    summary: 'List the entries of a list',
    origin: 'assumed',
    params: listParams,
    status: 200,
    assumes: ['lists.shape', 'lists.list.reply'],
    reply: () => z.strictObject({ entries: z.array(entry) }),
  }),
  getListEntry: defineOperation({
    ...withinInbox,
    method: 'GET',
    path: '/v1/inboxes/{id}/lists/{listId}/entries/{entryId}',
    summary: 'Read an entry of a list',
    origin: 'assumed',
    params: entryParams,
    status: 200,
    assumes: ['lists.shape'],
    reply: () => entry,
  }),
  deleteListEntry: defineOperation({
    ...withinInbox,
    method: 'DELETE',
    path: '/v1/inboxes/{id}/lists/{listId}/entries/{entryId}',
    summary: 'Delete an entry of a list',
    origin: 'assumed',
    params: entryParams,
    status: 200,
    reply: (readBehaviour) => DELETE_REPLIES[readBehaviour('lists.entries.delete.body')],
  }),
};
