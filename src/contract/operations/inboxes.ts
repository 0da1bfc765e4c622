import { z } from 'zod';
import type { ReadBehaviour } from '../behaviours.ts';
import { bareEmail } from '../email-address-schema.ts';
import { defineOperation, defineReplies } from '../operation.ts';
import { queryFlag } from '../query.ts';
import {
  deleteReplies,
  domainName,
  emptyReply,
  flag,
  idInRequest,
  idParams,
  line,
  metadata,
  nameInRequest,
  timestamp,
  updatedReply,
  username,
  uuid,
} from '../schemas.ts';
import { TIER_SETS } from '../tiers.ts';

const readTiers = (readBehaviour: ReadBehaviour) => TIER_SETS[readBehaviour('inboxes.read.tiers')];
const changing = {
  origin: 'reference',
  tiers: (readBehaviour: ReadBehaviour) => TIER_SETS[readBehaviour('inboxes.change.tiers')],
} as const;

const displayName = () => line(200).trim().nullish();

export const inboxOperations = {
  createInbox: defineOperation('POST /v1/inboxes', 'Create an inbox, or return the existing one with this address', {
    origin: 'reference',
    section: '4.4',
    tiers: () => ['tenant', 'workspace'],
    query: () => z.object({ strict: queryFlag().optional() }),
    assumes: ['inboxes.create.username'],
    body: () =>
      z.object({
        username: username().nullish(),
        displayName: displayName(),
        domain: domainName().nullish(),
        workspaceId: idInRequest().nullish(),
      }),
    status: 201,
    otherStatus: 200,
    errors: ['FORBIDDEN', 'CONFLICT', 'USERNAME_TAKEN', 'NOT_FOUND'],
  }),
  listInboxes: defineOperation('GET /v1/inboxes', 'List inboxes', {
    origin: 'reference',
    tiers: readTiers,
    query: () => z.object({ workspace: idInRequest().optional() }),
    assumes: ['inboxes.list.order'],
    errors: ['FORBIDDEN', 'NOT_FOUND'],
  }),
  getInbox: defineOperation('GET /v1/inboxes/{id}', 'Read an inbox, with its credentials', {
    origin: 'reference',
    tiers: readTiers,
    params: idParams,
  }),
  updateInbox: defineOperation('PATCH /v1/inboxes/{id}', 'Update the display name or the metadata of an inbox', {
    ...changing,
    params: idParams,
    body: () => z.object({ displayName: displayName(), metadata: metadata().nullish() }),
    assumes: ['inboxes.update.reply'],
  }),
  deleteInbox: defineOperation('DELETE /v1/inboxes/{id}', 'Delete an inbox', {
    ...changing,
    params: idParams,
    assumes: ['inboxes.delete.kept'],
  }),
  addInboxAddress: defineOperation('POST /v1/inboxes/{id}/addresses', 'Add an address to an inbox', {
    ...changing,
    params: idParams,
    assumes: ['sending.addresses'],
    body: () => z.object({ email: bareEmail(), primary: flag().default(true) }),
    status: 201,
    errors: ['FORBIDDEN', 'ALREADY_EXISTS'],
  }),
  deleteInboxAddress: defineOperation(
    'DELETE /v1/inboxes/{id}/addresses/{address}',
    'Remove an address from an inbox',
    { ...changing, params: () => z.object({ id: idInRequest(), address: nameInRequest() }), errors: ['CONFLICT'] },
  ),
};

const login = () => ({ host: z.string(), port: z.int(), username: z.string(), password: z.string() });

const referenceInbox = () =>
  z.strictObject({
    id: uuid(),
    email: z.string().describe('The current primary address.'),
    canonicalEmail: z.string().describe('The first address, which never changes; it is the IMAP and SMTP login.'),
    username: z.string(),
    domain: z.string(),
    displayName: z.string().nullable(),
    workspaceId: uuid(),
    addresses: z.array(z.strictObject({ address: z.string(), isPrimary: z.boolean() })),
    createdAt: timestamp(),
  });

const credentials = () => ({
  imapPassword: z.string(),
  imap: z.strictObject({ ...login(), tls: z.boolean() }),
  smtp: z.strictObject({ ...login(), starttls: z.boolean() }),
});

const fieldsByShape = () => ({ 'with-metadata': { metadata: metadata().nullable() }, reference: {} });

/** The displayName under each value of `inboxes.display-name.unset`. */
const displayNameReplies = () => ({
  null: { displayName: z.string().nullable() },
  absent: { displayName: z.string().optional() },
});

/** An inbox without its credentials. */
const inboxWithoutCredentials = (readBehaviour: ReadBehaviour) =>
  referenceInbox()
    .extend(displayNameReplies()[readBehaviour('inboxes.display-name.unset')])
    .extend(fieldsByShape()[readBehaviour('inboxes.shape')])
    .meta({ id: 'InboxSummary' });

/** An inbox with its credentials (reference, "Inbox"). */
const inboxWithCredentials = (readBehaviour: ReadBehaviour) =>
  inboxWithoutCredentials(readBehaviour).extend(credentials()).meta({ id: 'Inbox' });

const LISTED = { omitted: inboxWithoutCredentials, included: inboxWithCredentials };

const deleteAddressReplies = () => ({
  'deleted-and-address': z.strictObject({ deleted: z.literal(true), address: z.string() }),
  empty: emptyReply(),
});

/** The bodies of the successful replies of these operations. */
export const inboxReplies = defineReplies({
  createInbox: (readBehaviour) =>
    inboxWithCredentials(readBehaviour)
      .extend({ apiKey: z.string().describe('Its ak_ key; no other reply shows it.') })
      .meta({ id: 'CreatedInbox' }),
  listInboxes: (readBehaviour) =>
    z.strictObject({ inboxes: z.array(LISTED[readBehaviour('inboxes.list.credentials')](readBehaviour)) }),
  getInbox: inboxWithCredentials,
  updateInbox: updatedReply,
  deleteInbox: (readBehaviour) => deleteReplies()[readBehaviour('inboxes.delete.body')],
  addInboxAddress: () => z.strictObject({ ok: z.literal(true), address: z.string(), isPrimary: z.boolean() }),
  deleteInboxAddress: (readBehaviour) => deleteAddressReplies()[readBehaviour('inboxes.addresses.delete.body')],
});

/** The bodies of the second kind of success. */
export const otherInboxReplies = defineReplies({
  createInbox: (readBehaviour) =>
    inboxWithoutCredentials(readBehaviour)
      .extend({ existed: z.literal(true) })
      .meta({ id: 'ExistingInbox' }),
});
