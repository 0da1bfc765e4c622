import { z } from 'zod';
import type { Choose } from '../behaviours.ts';
import { bareEmail } from '../email-address.ts';
import { defineOperation } from '../operation.ts';
import { deletedReply, emptyReply, line, metadata, name, pathId, text, timestamp, uuid } from '../schemas.ts';
import { INBOX_TIERS } from './messages.ts';

const listParams = z.object({ id: pathId, listId: pathId });
const entryParams = listParams.extend({ entryId: pathId });

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

const listReply = (choose: Choose) => ({ reference: list })[choose('lists.shape')];
const entryReply = (choose: Choose) => ({ reference: entry })[choose('lists.shape')];

const LISTED = { included: list, omitted: list.omit({ entries: true }) };

const DELETE_REPLIES = { 'deleted-and-id': deletedReply, empty: emptyReply };

export const listOperations = {
  createList: defineOperation({
    method: 'POST',
    path: '/v1/inboxes/{id}/lists',
    summary: 'Create a list of contacts',
    origin: 'reference',
    section: '5',
    tiers: () => INBOX_TIERS,
    params: z.object({ id: pathId }),
    body: () => z.object({ name: name(200), description: text(2000).nullish() }),
    status: 201,
    reply: listReply,
  }),
  listLists: defineOperation({
    method: 'GET',
    path: '/v1/inboxes/{id}/lists',
    summary: 'List the lists of an inbox',
    origin: 'assumed',
    section: '5',
    tiers: () => INBOX_TIERS,
    params: z.object({ id: pathId }),
    status: 200,
    reply: (choose) =>
      ({ wrapped: z.strictObject({ lists: z.array(LISTED[choose('lists.list.entries')]) }) })[
        choose('lists.list.reply')
      ],
  }),
  getList: defineOperation({
    method: 'GET',
    path: '/v1/inboxes/{id}/lists/{listId}',
    summary: 'Read a list with its entries',
    origin: 'assumed',
    section: '5',
    tiers: () => INBOX_TIERS,
    params: listParams,
    status: 200,
    reply: listReply,
  }),
  deleteList: defineOperation({
    method: 'DELETE',
    path: '/v1/inboxes/{id}/lists/{listId}',
    summary: 'Delete a list with its entries',
    origin: 'assumed',
    section: '5',
    tiers: () => INBOX_TIERS,
    params: listParams,
    status: 200,
    reply: (choose) => DELETE_REPLIES[choose('lists.delete.body')],
  }),
  createListEntry: defineOperation({
    method: 'POST',
    path: '/v1/inboxes/{id}/lists/{listId}/entries',
    summary: 'Add an entry to a list',
    origin: 'reference',
    section: '5',
    tiers: () => INBOX_TIERS,
    params: listParams,
    body: () => z.object({ email: bareEmail, displayName: line(200).nullish(), metadata: metadata.nullish() }),
    status: 201,
    reply: entryReply,
    errors: ['ALREADY_EXISTS'],
  }),
  listListEntries: defineOperation({
    method: 'GET',
    path: '/v1/inboxes/{id}/lists/{listId}/entries',
    summary: 'List the entries of a list',
    origin: 'assumed',
    section: '5',
    tiers: () => INBOX_TIERS,
    params: listParams,
    status: 200,
    reply: (choose) =>
      ({ wrapped: z.strictObject({ entries: z.array(entryReply(choose)) }) })[choose('lists.list.reply')],
  }),
  getListEntry: defineOperation({
    method: 'GET',
    path: '/v1/inboxes/{id}/lists/{listId}/entries/{entryId}',
    summary: 'Read an entry of a list',
    origin: 'assumed',
    section: '5',
    tiers: () => INBOX_TIERS,
    params: entryParams,
    status: 200,
    reply: entryReply,
  }),
  deleteListEntry: defineOperation({
    method: 'DELETE',
    path: '/v1/inboxes/{id}/lists/{listId}/entries/{entryId}',
    summary: 'Delete an entry of a list',
    origin: 'assumed',
    section: '5',
    tiers: () => INBOX_TIERS,
    params: entryParams,
    status: 200,
    reply: (choose) => DELETE_REPLIES[choose('lists.entries.delete.body')],
  }),
};
