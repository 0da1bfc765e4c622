import { z } from 'zod';
import type { Choose } from '../behaviours.ts';
import { bareEmail } from '../email-address.ts';
import { defineOperation } from '../operation.ts';
import { queryFlag, queryId } from '../query.ts';
import {
  deletedReply,
  domainName,
  emptyReply,
  flag,
  line,
  metadata,
  pathId,
  pathName,
  timestamp,
  updatedReply,
  username,
  uuid,
} from '../schemas.ts';
import type { Tier } from '../tiers.ts';

const READ_TIERS = {
  'tenant-workspace-and-inbox': ['tenant', 'workspace', 'inbox'],
  'tenant-and-workspace': ['tenant', 'workspace'],
} as const satisfies Record<string, readonly Tier[]>;

const readTiers = (choose: Choose) => READ_TIERS[choose('inboxes.read.tiers')];
const changeTiers = (choose: Choose) => READ_TIERS[choose('inboxes.change.tiers')];

const login = { host: z.string(), port: z.int(), username: z.string(), password: z.string() };

const withoutCredentials = z.strictObject({
  id: uuid,
  email: z.string().describe('The primary address at present.'),
  canonicalEmail: z.string().describe('The first address, which never changes; the IMAP and SMTP login.'),
  username: z.string(),
  domain: z.string(),
  displayName: z.string().nullable(),
  workspaceId: uuid,
  addresses: z.array(z.strictObject({ address: z.string(), isPrimary: z.boolean() })),
  createdAt: timestamp,
});

const credentials = {
  imapPassword: z.string(),
  imap: z.strictObject({ ...login, tls: z.boolean() }),
  smtp: z.strictObject({ ...login, starttls: z.boolean() }),
};

const EXTRA = { 'with-metadata': { metadata: metadata.nullable() }, reference: {} };

/** An inbox without its passwords. */
const plainInbox = (choose: Choose) => withoutCredentials.extend(EXTRA[choose('inboxes.shape')]);

/** An inbox with everything (reference: "Inbox"). */
const fullInbox = (choose: Choose) => plainInbox(choose).extend(credentials);

const LISTED = { omitted: plainInbox, included: fullInbox };

const USERNAMES = { reference: username.nullish() };

const DELETE_REPLIES = { 'deleted-and-id': deletedReply, empty: emptyReply };

const DELETE_ADDRESS_REPLIES = {
  'deleted-and-address': z.strictObject({ deleted: z.literal(true), address: z.string() }),
  empty: emptyReply,
};

const ADD_ADDRESS_REPLIES = {
  reference: z.strictObject({ ok: z.literal(true), address: z.string(), isPrimary: z.boolean() }),
};

const UPDATE_REPLIES = { 'updated-and-id': updatedReply };

const displayName = line(200).trim().nullish();

export const inboxOperations = {
  createInbox: defineOperation({
    method: 'POST',
    path: '/v1/inboxes',
    summary: 'Create an inbox, or get the one that has the address',
    origin: 'reference',
    section: '4.4',
    tiers: () => ['tenant', 'workspace'],
    query: () => z.object({ strict: queryFlag.optional() }),
    body: (choose) =>
      z.object({
        username: USERNAMES[choose('inboxes.create.username')],
        displayName,
        domain: domainName.nullish(),
        workspaceId: pathId.nullish(),
      }),
    status: 201,
    reply: (choose) => fullInbox(choose).extend({ apiKey: z.string().describe('Its ak_ key; only shown here.') }),
    otherReply: {
      status: 200,
      reply: (choose) => plainInbox(choose).extend({ existed: z.literal(true) }),
    },
    errors: ['USERNAME_TAKEN', 'NOT_FOUND'],
  }),
  listInboxes: defineOperation({
    method: 'GET',
    path: '/v1/inboxes',
    summary: 'List inboxes',
    origin: 'reference',
    tiers: readTiers,
    query: () => z.object({ workspace: queryId.optional() }),
    status: 200,
    reply: (choose) => z.strictObject({ inboxes: z.array(LISTED[choose('inboxes.list.credentials')](choose)) }),
    errors: ['NOT_FOUND'],
  }),
  getInbox: defineOperation({
    method: 'GET',
    path: '/v1/inboxes/{id}',
    summary: 'Read an inbox, with its credentials',
    origin: 'reference',
    tiers: readTiers,
    params: z.object({ id: pathId }),
    status: 200,
    reply: fullInbox,
  }),
  updateInbox: defineOperation({
    method: 'PATCH',
    path: '/v1/inboxes/{id}',
    summary: 'Change the display name or the metadata of an inbox',
    origin: 'reference',
    tiers: changeTiers,
    params: z.object({ id: pathId }),
    body: () => z.object({ displayName, metadata: metadata.nullish() }),
    status: 200,
    reply: (choose) => UPDATE_REPLIES[choose('inboxes.update.reply')],
  }),
  deleteInbox: defineOperation({
    method: 'DELETE',
    path: '/v1/inboxes/{id}',
    summary: 'Delete an inbox',
    origin: 'reference',
    tiers: changeTiers,
    params: z.object({ id: pathId }),
    status: 200,
    reply: (choose) => DELETE_REPLIES[choose('inboxes.delete.body')],
  }),
  addInboxAddress: defineOperation({
    method: 'POST',
    path: '/v1/inboxes/{id}/addresses',
    summary: 'Give an inbox a further address',
    origin: 'reference',
    tiers: changeTiers,
    params: z.object({ id: pathId }),
    body: () => z.object({ email: bareEmail, primary: flag.default(true) }),
    status: 201,
    reply: (choose) => ADD_ADDRESS_REPLIES[choose('inboxes.addresses.create.reply')],
    errors: ['ALREADY_EXISTS'],
  }),
  deleteInboxAddress: defineOperation({
    method: 'DELETE',
    path: '/v1/inboxes/{id}/addresses/{address}',
    summary: 'Take an address from an inbox',
    origin: 'reference',
    tiers: changeTiers,
    params: z.object({ id: pathId, address: pathName }),
    status: 200,
    reply: (choose) => DELETE_ADDRESS_REPLIES[choose('inboxes.addresses.delete.body')],
    errors: ['CONFLICT'],
  }),
};
