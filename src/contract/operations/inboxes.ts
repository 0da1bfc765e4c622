import { z } from 'zod';
import type { ReadBehaviour } from '../behaviours.ts';
import { bareEmail } from '../email-address-schema.ts';
import { defineOperation } from '../operation.ts';
import { queryFlag } from '../query.ts';
import { DELETE_REPLIES, emptyReply, updatedReply } from '../replies.ts';
import {
  domainName,
  flag,
  idInRequest,
  idParams,
  line,
  metadata,
  nameInRequest,
  timestamp,
  username,
  uuid,
} from '../schemas.ts';
import { TIER_SETS } from '../tiers.ts';

const readTiers = (readBehaviour: ReadBehaviour) => TIER_SETS[readBehaviour('inboxes.read.tiers')];
const changeTiers = (readBehaviour: ReadBehaviour) => TIER_SETS[readBehaviour('inboxes.change.tiers')];

const login = { host: z.string(), port: z.int(), username: z.string(), password: z.string() };

const referenceInbox = z.strictObject({
  id: uuid,
  email: z.string().describe('The current primary address.'),
  canonicalEmail: z.string().describe('The first address, which never changes; it is the IMAP and SMTP login.'),
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

const FIELDS_BY_SHAPE = { 'with-metadata': { metadata: metadata.nullable() }, reference: {} };

/** An inbox without its credentials. */
const inboxWithoutCredentials = (readBehaviour: ReadBehaviour) =>
  referenceInbox.extend(FIELDS_BY_SHAPE[readBehaviour('inboxes.shape')]);

/** An inbox with its credentials (reference, "Inbox"). */
const inboxWithCredentials = (readBehaviour: ReadBehaviour) =>
  inboxWithoutCredentials(readBehaviour).extend(credentials);

const LISTED = { omitted: inboxWithoutCredentials, included: inboxWithCredentials };

const DELETE_ADDRESS_REPLIES = {
  'deleted-and-address': z.strictObject({ deleted: z.literal(true), address: z.string() }),
  empty: emptyReply,
};

const displayName = line(200).trim().nullish();

export const inboxOperations = {
  createInbox: defineOperation({
    method: 'POST',
    path: '/v1/inboxes',
    summary: 'Create an inbox, or return the existing one with this address',
    origin: 'reference',
    section: '4.4',
    tiers: () => ['tenant', 'workspace'],
    query: () => z.object({ strict: queryFlag.optional() }),
    assumes: ['inboxes.create.username'],
    body: () =>
      z.object({
        username: username.nullish(),
        displayName,
        domain: domainName.nullish(),
        workspaceId: idInRequest.nullish(),
      }),
    status: 201,
    reply: (readBehaviour) =>
      inboxWithCredentials(readBehaviour).extend({
        apiKey: z.string().describe('Its ak_ key; no other reply shows it.'),
      }),
    otherReply: {
      status: 200,
      reply: (readBehaviour) => inboxWithoutCredentials(readBehaviour).extend({ existed: z.literal(true) }),
    },
    errors: ['FORBIDDEN', 'CONFLICT', 'USERNAME_TAKEN', 'NOT_FOUND'],
  }),
  listInboxes: defineOperation({
    method: 'GET',
    path: '/v1/inboxes',
    summary: 'List inboxes',
    origin: 'reference',
    tiers: readTiers,
    query: () => z.object({ workspace: idInRequest.optional() }),
    status: 200,
    assumes: ['inboxes.list.order'],
    reply: (readBehaviour) =>
      z.strictObject({ inboxes: z.array(LISTED[readBehaviour('inboxes.list.credentials')](readBehaviour)) }),
    errors: ['FORBIDDEN', 'NOT_FOUND'],
  }),
  getInbox: defineOperation({
    method: 'GET',
    path: '/v1/inboxes/{id}',
    summary: 'Read an inbox, with its credentials',
    origin: 'reference',
    tiers: readTiers,
    params: idParams,
    status: 200,
    reply: inboxWithCredentials,
  }),
  updateInbox: defineOperation({
    method: 'PATCH',
    path: '/v1/inboxes/{id}',
    summary: 'Update the display name or the metadata of an inbox',
    origin: 'reference',
    tiers: changeTiers,
    params: idParams,
    body: () => z.object({ displayName, metadata: metadata.nullish() }),
    status: 200,
    assumes: ['inboxes.update.reply'],
    reply: () => updatedReply,
  }),
  deleteInbox: defineOperation({
    method: 'DELETE',
    path: '/v1/inboxes/{id}',
    summary: 'Delete an inbox',
    origin: 'reference',
    tiers: changeTiers,
    params: idParams,
    status: 200,
    assumes: ['inboxes.delete.kept'],
    reply: (readBehaviour) => DELETE_REPLIES[readBehaviour('inboxes.delete.body')],
  }),
  addInboxAddress: defineOperation({
    method: 'POST',
    path: '/v1/inboxes/{id}/addresses',
    summary: 'Add an address to an inbox',
    origin: 'reference',
    tiers: changeTiers,
    params: idParams,
    assumes: ['sending.addresses'],
    body: () => z.object({ email: bareEmail, primary: flag.default(true) }),
    status: 201,
    reply: () => z.strictObject({ ok: z.literal(true), address: z.string(), isPrimary: z.boolean() }),
    errors: ['FORBIDDEN', 'ALREADY_EXISTS'],
  }),
  deleteInboxAddress: defineOperation({
    method: 'DELETE',
    path: '/v1/inboxes/{id}/addresses/{address}',
    summary: 'Remove an address from an inbox',
    origin: 'reference',
    tiers: changeTiers,
    params: z.object({ id: idInRequest, address: nameInRequest }),
    status: 200,
    reply: (readBehaviour) => DELETE_ADDRESS_REPLIES[readBehaviour('inboxes.addresses.delete.body')],
    errors: ['CONFLICT'],
  }),
};
