import { z } from 'zod';
import { bareEmail } from '../email-address-schema.ts';
import { defineOperation } from '../operation.ts';
import { idInRequest, idParams, line, metadata, name, text } from '../schemas.ts';
import { withinInbox } from './within-inbox.ts';

const listParams = z.object({ id: idInRequest, listId: idInRequest });
const entryParams = listParams.extend({ entryId: idInRequest });

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
  }),
  deleteList: defineOperation({
    ...withinInbox,
    method: 'DELETE',
    path: '/v1/inboxes/{id}/lists/{listId}',
    summary: 'Delete a list and its entries',
    origin: 'assumed',
    params: listParams,
    status: 200,
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
  }),
  deleteListEntry: defineOperation({
    ...withinInbox,
    method: 'DELETE',
    path: '/v1/inboxes/{id}/lists/{listId}/entries/{entryId}',
    summary: 'Delete an entry of a list',
    origin: 'assumed',
    params: entryParams,
    status: 200,
  }),
};
