import { z } from 'zod';
import { bareEmail } from '../addresses/email-address-schema.ts';
import type { ReadBehaviour } from '../behaviours.ts';
import { chooseBy, defineOperation, defineOperations } from '../operation.ts';
import { queryFlag } from '../query.ts';
import {
  deleteReplies,
  displayName,
  domainName,
  emptyReply,
  fieldsOf,
  flag,
  idInRequest,
  metadata,
  nullableText,
  timestamp,
  updatedReply,
  username,
  uuid,
} from '../schemas.ts';

const mailLogin = () => ({ host: z.string(), port: z.int(), username: z.string(), password: z.string() });

/** The fields of an inbox that the reference lists. */
const referenceInbox = () =>
  z.strictObject({
    id: uuid(),
    email: z.string().describe('The current primary address.'),
    canonicalEmail: z.string().describe('The first address, which never changes; it is the IMAP and SMTP login.'),
    ...fieldsOf(() => z.string(), 'username', 'domain'),
    displayName: nullableText(),
    workspaceId: uuid(),
    addresses: z.array(z.strictObject({ address: z.string(), isPrimary: z.boolean() })),
    createdAt: timestamp(),
  });

const credentials = () => ({
  imapPassword: z.string(),
  imap: z.strictObject({ ...mailLogin(), tls: z.boolean() }),
  smtp: z.strictObject({ ...mailLogin(), starttls: z.boolean() }),
});

const addedFieldsByShape = () => ({ 'with-metadata': { metadata: metadata().nullable() }, reference: {} });

const displayNameReplies = () => ({
  null: { displayName: z.string().nullable() },
  absent: { displayName: z.string().optional() },
});

/** An inbox without its credentials. */
const inboxWithoutCredentials = (readBehaviour: ReadBehaviour) =>
  referenceInbox()
    .extend(displayNameReplies()[readBehaviour('inboxes.display-name.unset')])
    .extend(addedFieldsByShape()[readBehaviour('inboxes.shape')])
    .meta({ id: 'InboxSummary' });

/** An inbox with its credentials (reference, "Inbox"). */
const inboxWithCredentials = (readBehaviour: ReadBehaviour) =>
  inboxWithoutCredentials(readBehaviour).extend(credentials()).meta({ id: 'Inbox' });

const INBOX_IN_LIST = { omitted: inboxWithoutCredentials, included: inboxWithCredentials };

/** Creates the row of an operation that reads inboxes. */
const readCall = defineOperations({ origin: 'reference', tiers: 'inboxes.read.tiers' });
/** Creates the row of an operation that changes an inbox. */
const changeCall = defineOperations({ origin: 'reference', tiers: 'inboxes.change.tiers' });

export const inboxOperations = {
  createInbox: defineOperation('POST /v1/inboxes', 'Create an inbox, or return the existing inbox with this address', {
    origin: 'reference',
    section: '4.4',
    tiers: ['tenant', 'workspace'],
    query: () => z.object({ strict: queryFlag().optional() }),
    body: () =>
      z.object({
        username: username().nullish(),
        displayName: displayName(),
        domain: domainName().nullish(),
        workspaceId: idInRequest().nullish(),
      }),
    reply: (readBehaviour) =>
      inboxWithCredentials(readBehaviour)
        .extend({ apiKey: z.string().describe('The ak_ key of the inbox; no other reply shows it.') })
        .meta({ id: 'CreatedInbox' }),
    status: 201,
    otherReply: (readBehaviour) =>
      inboxWithoutCredentials(readBehaviour)
        .extend({ existed: z.literal(true) })
        .meta({ id: 'ExistingInbox' }),
    otherStatus: 200,
    errors: ['FORBIDDEN', 'CONFLICT', 'USERNAME_TAKEN', 'NOT_FOUND'],
  }),
  listInboxes: readCall('GET /v1/inboxes', 'List inboxes', {
    query: () => z.object({ workspace: idInRequest().optional() }),
    reply: (readBehaviour) =>
      z.strictObject({ inboxes: z.array(INBOX_IN_LIST[readBehaviour('inboxes.list.credentials')](readBehaviour)) }),
    errors: ['FORBIDDEN', 'NOT_FOUND'],
  }),
  getInbox: readCall('GET /v1/inboxes/{id}', 'Read an inbox, with its credentials', { reply: inboxWithCredentials }),
  updateInbox: changeCall('PATCH /v1/inboxes/{id}', 'Update the display name or the metadata of an inbox', {
    body: () => z.object({ displayName: displayName(), metadata: metadata().nullish() }),
    reply: updatedReply,
  }),
  deleteInbox: changeCall('DELETE /v1/inboxes/{id}', 'Delete an inbox', {
    reply: chooseBy('inboxes.delete.body', deleteReplies),
  }),
  addInboxAddress: changeCall('POST /v1/inboxes/{id}/addresses', 'Add an address to an inbox', {
    body: () => z.object({ email: bareEmail(), primary: flag().default(true) }),
    reply: () => z.strictObject({ ok: z.literal(true), address: z.string(), isPrimary: z.boolean() }),
    status: 201,
    errors: ['FORBIDDEN', 'ALREADY_EXISTS'],
  }),
  deleteInboxAddress: changeCall('DELETE /v1/inboxes/{id}/addresses/{address}', 'Remove an address from an inbox', {
    reply: chooseBy('inboxes.addresses.delete.body', () => ({
      'deleted-and-address': z.strictObject({ deleted: z.literal(true), address: z.string() }),
      empty: emptyReply(),
    })),
    errors: ['CONFLICT'],
  }),
};
